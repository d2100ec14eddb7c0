"""`log` and `undo`: what was changed in anybody's memory, and the way back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.output import (
    EXIT_DENIED,
    EXIT_OTHER,
    bold,
    cells,
    columns,
    dim,
    good,
    odd,
    paragraph,
    print_json,
    say,
)
from vaultmind.errors import BadArgument

YOU = "you"


@click.command(cls=VaultCommand)
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="How many changes at most, the newest. [default: 20]")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--since", metavar="WHEN",
              help="From then on: 2026-02-20, today, yesterday, 3d, 12h.")  # fmt: skip
@click.option("--op", "ops", multiple=True, metavar="OP",
              help="Only these: remember, replace, forget, save, …; repeatable.")  # fmt: skip
@click.option("--dropped", is_flag=True,
              help="Show instead what conversations said that was not kept.")  # fmt: skip
@pass_settings
def log(settings: Settings, *, everything: bool, dropped: bool, **options: object) -> int:
    """Show every change of memory, newest last: who asked, whose memory, what.

    Each begins with the id by which `vaultmind undo ID` takes it back. Example:
    vaultmind log --since yesterday --op forget
    """
    args = given(options) | ({"limit": 0} if everything else {})
    if dropped and "ops" in args:
        raise click.UsageError("--op and --dropped do not go together: nothing was changed there.")
    answer = settings.backend().call("dropped" if dropped else "log", args | settings.target)
    if settings.json:
        print_json(answer)
    elif dropped:
        show_dropped(answer)
    else:
        show_log(answer)
    return 0


@click.command(cls=VaultCommand)
@click.argument("line_id", metavar="[ID]", required=False)
@click.option("--session", default="", help="All that was read out of this session, at once.")
@click.option("--dry-run", is_flag=True, help="Only tell what it would do.")
@pass_settings
def undo(settings: Settings, line_id: str | None, session: str, dry_run: bool) -> int:
    """Take back the change with ID (see `vaultmind log`), the last one, or a whole session's.

    It happens only where the fact still says what the change wrote; a conflict is explained,
    nothing is changed, and the exit code is 1. An erasure cannot be undone.
    """
    if line_id is not None and not line_id.strip():
        raise BadArgument("ID", line_id, "an id of `vaultmind log`; without one, the last change")
    args = {"id": line_id or "", "session": session, "dry_run": dry_run}
    answer = settings.backend().call("undo", args | settings.target)
    done = answer["outcome"] == "written"
    if settings.json:
        print_json(answer)
    else:
        say(f"{good('✓') if done else odd('!')} {paragraph(answer['about'], '  ').lstrip()}")
        say(paragraph(answer["message"], "  "))
    return 0 if done else EXIT_DENIED if answer["outcome"] == "denied" else EXIT_OTHER


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


def show_dropped(answer: dict[str, Any]) -> None:
    """Show what was dropped: by session on a terminal, a line each with all of it in a pipe."""
    if answer["message"]:
        say(paragraph(answer["message"]))
    on_terminal, session = bool(columns()), ""
    for one in answer["dropped"]:
        date, clock = _local(one["time"])
        if not on_terminal:
            say(f"{date} {clock}  {one['agent']}  {one['session']}  {one['words']}")
            continue
        if f"{one['agent']} {one['session']}" != session:
            say(f"{chr(10) if session else ''}{bold(one['session'])}  {dim(one['agent'])}")
            session = f"{one['agent']} {one['session']}"
        lead = f"{date} {clock}"
        words = paragraph(one["words"], " " * (len(lead) + 2)).lstrip()
        say(f"{dim(lead)}  {words if one['text'] else dim(words)}")
    if answer["more"]:
        say(dim("\nThere are older ones: vaultmind log --dropped --all"))


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
