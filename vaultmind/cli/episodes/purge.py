"""`vaultmind purge`: show, and with --yes shrink, what agents did longer ago than it is kept."""

from __future__ import annotations

from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import (
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
from vaultmind.plural import counted
from vaultmind.vault.oneline import one_line

SHOWN = 40
"""Episodes that a preview lists; the rest is a number."""


@click.command(cls=VaultCommand)
@click.option("--days", type=click.IntRange(0, 36_500), metavar="N",
              help="Days after their end.  [default: retention.days, 90]")  # fmt: skip
@click.option("--yes", is_flag=True, help="Do it; without, it is only shown.")
@pass_settings
def purge(settings: Settings, days: int | None, *, yes: bool) -> int:
    """Show which episodes are past their retention and what would go of them; --yes does it.

    Their outcome, changed files, commits, issues and decisions stay, and what you wrote into
    them. The rest is gone for good. The daemon does the same by itself, once a day.
    """
    op = "purge" if yes else "purge_preview"
    with progress(quiet=settings.json) as report:
        answer = settings.backend().call(op, given({"days": days}), report)
    if settings.json:
        print_json(answer)
    else:
        _show(answer, "" if days is None else f" --days {days}")
    return EXIT_OTHER if answer["done"] and answer["left"] else 0


def _show(answer: dict[str, Any], option: str) -> None:
    mark = good("✓") if answer["done"] else dim("=") if not answer["count"] else odd("!")
    say(f"{mark} {paragraph(answer['message'], '  ').lstrip()}")
    rows = answer.get("episodes", [])
    for one in rows[:SHOWN]:
        lead = f"  {bold(one['name'])}  {one['ended'][:10]}  {counted(one['events'], 'event')}  "
        task = one_line(one["task"])
        room = columns() - cells(click.unstyle(lead))
        if columns() and cells(task) > room:
            task = f"{task[: max(0, room - 1)]}…"
        say(f"{lead}{dim(task)}")
    if (more := len(rows) - SHOWN) > 0:
        say(dim(f"  … and {more:,} more: --json"))
    for one in answer["left"]:
        say(f"{odd('!')} {one['episode']}: {one['why']}")
    if rows:
        say(f"Nothing was changed yet. To do it: {bold(f'vaultmind purge{option} --yes')}")
