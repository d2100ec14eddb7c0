"""`log` and `undo`: what was changed in anybody's memory, and the way back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output import bold, cells, columns, dim, paragraph, print_json, say

YOU = "you"


@click.command(cls=VaultCommand)
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="How many changes at most, the newest. [default: 20]")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--since", metavar="WHEN",
              help="From then on: 2026-02-20, today, yesterday, 3d, 12h.")  # fmt: skip
@click.option("--op", "ops", multiple=True, metavar="OP",
              help="Only these: remember, replace, forget, save, …; repeatable.")  # fmt: skip
@pass_settings
def log(settings: Settings, *, everything: bool, **options: object) -> int:
    """Show every change of memory, newest last: who asked, whose memory, what.

    Each begins with the id by which `vaultmind undo ID` takes it back. Example:
    vaultmind log --since yesterday --op forget
    """
    args = given(options) | ({"limit": 0} if everything else {})
    answer = settings.backend().call("log", args | settings.target)
    if settings.json:
        print_json(answer)
    else:
        show_log(answer)
    return 0


def show_log(answer: dict[str, Any]) -> None:
    """Show lines of the log: by day on a terminal, a line each with its date in a pipe."""
    lines = answer["lines"]
    if answer["message"]:
        say(paragraph(answer["message"]))
    who = max((cells(_who(line)) for line in lines), default=0)
    whose = max((cells(line["agent"]) for line in lines), default=0)
    on_terminal, day = bool(columns()), ""
    for line in lines:
        date, clock = _local(line["time"])
        if on_terminal and date != day:
            say(f"{'' if not day else chr(10)}{bold(date)}")
            day = date
        when = clock if on_terminal else f"{date} {clock}"
        lead = f"{_padded(_who(line), who)}  {_padded(line['agent'], whose)}"
        indent = " " * (len(line["id"]) + len(when) + cells(lead) + 6)
        words = paragraph(line["words"], indent).lstrip()
        stands = line["outcome"] == "written" and not line["undone_by"]
        rest = f"{lead}  {words}"
        say(f"{dim(line['id'])}  {dim(when)}  {rest if stands else dim(rest)}")
    if answer["more"]:
        say(dim("\nThere are older changes: vaultmind log --all"))


def _who(line: dict[str, Any]) -> str:
    return YOU if line["caller"] == "person" else str(line["caller"])


def _local(time: str) -> tuple[str, str]:
    """Return a time as day and clock where the reader is; as it stands where it is none."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time[:10], time[11:16]
    return f"{moment:%Y-%m-%d}", f"{moment:%H:%M}"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))
