"""`gain`: what the memory saved, and how the episodes went, as a table or as a page."""

from __future__ import annotations

import os
import secrets
from datetime import date
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.figures import day, facts, percent, short
from vaultmind.cli.output.gauge import FREE, FULL
from vaultmind.cli.output.output import (
    bold,
    cells,
    columns,
    dim,
    good,
    odd,
    paragraph,
    place,
    print_json,
    say,
)
from vaultmind.errors import BadArgument
from vaultmind.plural import counted
from vaultmind.vault.oneline import one_line

BAR_WIDTH = 24
HEADS = ("plans", "offered", "whole", "less", "used", "in one plan", "traced")
"""Columns of the table, besides what a row is of."""
NARROW = 76
"""Columns that the whole table needs; with less the last ones are left to --json and --html."""
LOOKED_AT = 600


@click.command(cls=VaultCommand)
@click.option("--since", metavar="WHEN",
              help="From then on: 30d, 12w, 2026-02-20, yesterday.  [default: 30d]")  # fmt: skip
@click.option("--html", "page", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write a page with plots that needs nothing else; - to stdout.")  # fmt: skip
@pass_settings
def gain(settings: Settings, since: str | None, page: Path | None) -> int:
    """Show what plans saved: tokens offered against tokens of the whole files, and what was used.

    Counted are the plans of episodes: what agents did for a task. Example:
    vaultmind gain --since 12w --html ~/gain.html
    """
    answer = settings.backend().call("gain", {"since": since} if since else {})
    if page is not None:
        _write_page(settings, answer, page)
    elif settings.json:
        print_json(answer)
    else:
        show_gain(answer)
    return 0


def _write_page(settings: Settings, answer: dict[str, Any], path: Path) -> None:
    """Write the page to a file that is none yet, or is such a page, outside the vault."""
    from vaultmind.cli.output.page import MARK, page_of

    text = page_of(answer)
    if str(path) == "-":
        say(text.rstrip("\n"))
        return
    path = path.expanduser().absolute()
    if path.resolve().is_relative_to(settings.config.vault.resolve()):
        raise BadArgument("--html", str(path), "a file outside the vault, which stays as it is")
    if path.exists() and MARK not in path.read_bytes()[:LOOKED_AT]:
        raise BadArgument("--html", str(path), "a new file, or a page that `vaultmind gain` wrote")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_text(text, "utf-8")
        os.replace(beside, path)  # noqa: PTH105
    finally:
        beside.unlink(missing_ok=True)
    if settings.json:
        print_json({"written": str(path), "bytes": len(text.encode())})
    else:
        say(
            f"{good('✓')} {place(str(path.resolve()))}\n  {dim('To see it, open it in a browser.')}"
        )


def show_gain(answer: dict[str, Any]) -> None:
    """Show the gain: the whole of it in a few lines, then by source and week."""
    total = answer["total"]
    since, until = (date.fromisoformat(answer[key][:10]) for key in ("since", "until"))
    say(bold(f"What the memory saved, {day(since)} to {day(until)}"))
    say(f"{counted(total['plans'], 'plan')} in {counted(total['episodes'], 'episode')}")
    if total["offered_tokens"]:
        say()
        for line in _bars(total):
            say(line)
    if total["episodes"]:
        say()
        for line in facts(total):
            say(paragraph(line, "  "))
    if answer["parts"]:
        say()
        _table(answer)
    for note in answer["notes"]:
        say(f"{odd('!')} {paragraph(note, '  ').lstrip()}")
    if total["plans"]:
        say(dim(paragraph("\nWith plots: vaultmind gain --html ~/gain.html")))


def _bars(total: dict[str, Any]) -> list[str]:
    """Return what was offered and what whole files would have taken, one below the other."""
    most = max(total["whole_tokens"], total["offered_tokens"], 1)
    lines = []
    for words, number, colour in (
        ("offered", total["offered_tokens"], "green"),
        ("whole files", total["whole_tokens"], "blue"),
    ):
        filled = max(1, round(BAR_WIDTH * number / most)) if number else 0
        drawn = click.style(FULL * filled, fg=colour) + dim(FREE * (BAR_WIDTH - filled))
        lines.append(f"  {words:11}  {drawn}  {number:>9,} tokens")
    if total["saved_share"]:
        lines[0] += f"  {bold(percent(total['saved_share']) + ' less')}"
    return lines


def _table(answer: dict[str, Any]) -> None:
    """Show a row for each source and, below it, for each of its weeks."""
    heads = HEADS if not columns() or columns() >= NARROW else HEADS[:5]
    rows: list[tuple[str, list[str], bool]] = []
    for source in answer["sources"]:
        rows.append((one_line(source["source"]), _numbers(source["figures"]), True))
        weeks = [one for one in answer["parts"] if one["source"] == source["source"]]
        rows += [(f"  {_week(one['week'])}", _numbers(one["figures"]), False) for one in weeks]
    width = max(cells(name) for name, _, _ in [*rows, ("source, week of", [], True)])
    widths = [max(len(head), 7) for head in heads]
    say(dim("  ".join([f"{'source, week of':{width}}", *_right(heads, widths)])))
    for name, numbers, is_source in rows:
        padded = name + " " * (width - cells(name))
        line = "  ".join([bold(padded) if is_source else dim(padded), *_right(numbers, widths)])
        say(line)


def _right(texts: Any, widths: list[int]) -> list[str]:  # noqa: ANN401
    return [f"{text:>{width}}" for text, width in zip(texts, widths, strict=False)]


def _numbers(figures: dict[str, Any]) -> list[str]:
    return [
        f"{figures['plans']:,}",
        short(figures["offered_tokens"]),
        short(figures["whole_tokens"]),
        percent(figures["saved_share"]),
        percent(figures["hit_share"]),
        percent(figures["first_pass_success_rate"]),
        percent(figures["causal_trace_completeness"]),
    ]


def _week(monday: str) -> str:
    first = date.fromisoformat(monday)
    return f"{first.day:2} {first:%b}"
