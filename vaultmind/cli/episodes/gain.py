"""`gain`: what the memory saved, and how the episodes went, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, pass_settings
from vaultmind.cli.output.output import bold, cells, columns, dim, odd, paragraph, print_json, say
from vaultmind.plural import counted
from vaultmind.vault.oneline import one_line

HEADS = ("plans", "offered", "whole", "less", "used", "in one plan", "traced")
"""Columns of the table, besides what a row is of."""
NARROW = 76
"""Columns that the whole table needs; with less the last ones are left to --json."""
NONE = "–"
"""A share of nothing."""
FACTS = (
    ("causal_trace_completeness", "of episodes tell task, reads, edits and outcome"),
    ("hit_share", "of the files that plans offered were read or changed afterwards"),
    ("first_pass_success_rate", "of successful episodes had all they changed in one plan"),
    ("affinity_hit_rate", "of plans that went by earlier work offered a file that was used"),
)


@click.command(cls=VaultCommand)
@click.option("--since", metavar="WHEN",
              help="From then on: 30d, 12w, 2026-02-20, yesterday.  [default: 30d]")  # fmt: skip
@pass_settings
def gain(settings: Settings, since: str | None) -> int:
    """Show what plans saved: tokens offered against tokens of the whole files, and what was used.

    Counted are the plans of episodes: what agents did for a task. Example:
    vaultmind gain --since 12w
    """
    answer = settings.backend().call("gain", {"since": since} if since else {})
    if settings.json:
        print_json(answer)
    else:
        show_gain(answer)
    return 0


def show_gain(answer: dict[str, Any]) -> None:
    """Show the gain: the whole of it in a few lines, then by source and week."""
    total = answer["total"]
    since, until = (_day(date.fromisoformat(answer[key][:10])) for key in ("since", "until"))
    say(bold(f"What the memory saved, {since} to {until}"))
    say(f"{counted(total['plans'], 'plan')} in {counted(total['episodes'], 'episode')}")
    if total["offered_tokens"]:
        less = f", {_percent(total['saved_share'])} less" if total["saved_share"] else ""
        whole = f"{total['whole_tokens']:,} for the whole files"
        say(f"{total['offered_tokens']:,} tokens offered, {whole}{bold(less)}")
    if total["episodes"]:
        say()
        for line in _facts(total):
            say(paragraph(line, "  "))
    if answer["parts"]:
        say()
        _table(answer)
    for note in answer["notes"]:
        say(f"{odd('!')} {paragraph(note, '  ').lstrip()}")


def _facts(total: dict[str, Any]) -> list[str]:
    """Return in words what besides tokens is known of a time."""
    outcomes = [f"{number:,} {name}" for name, number in total["outcomes"].items() if number]
    outcomes += [f"{total['running']:,} under way"] if total["running"] else []
    lines = [f"outcomes: {', '.join(outcomes)}"] if outcomes else []
    lines += [f"{_percent(total[n]):>5} {words}" for n, words in FACTS if total[n] is not None]
    if total["plan_context_p50_ms"] is not None:
        times = (
            f"{total['plan_context_p50_ms']:,.0f} ms, p95 {total['plan_context_p95_ms']:,.0f} ms"
        )
        lines.append(f"a plan took {times}; all at hand for {_percent(total['cache_hit_share'])}")
    if total["rerank_invocation_rate"]:
        in_vain = f", in vain for {total['fallbacks']:,}" if total["fallbacks"] else ""
        asked = _percent(total["rerank_invocation_rate"])
        lines.append(f"a model was asked for {asked} of the plans{in_vain}")
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


def _right(texts: Sequence[str], widths: list[int]) -> list[str]:
    return [f"{text:>{width}}" for text, width in zip(texts, widths, strict=False)]


def _numbers(figures: dict[str, Any]) -> list[str]:
    return [
        f"{figures['plans']:,}",
        short(figures["offered_tokens"]),
        short(figures["whole_tokens"]),
        _percent(figures["saved_share"]),
        _percent(figures["hit_share"]),
        _percent(figures["first_pass_success_rate"]),
        _percent(figures["causal_trace_completeness"]),
    ]


def short(number: int) -> str:
    """Return a number of tokens in few letters."""
    for least, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 100 * least:
            return f"{number / least:,.0f}{letter}"
        if number >= least:
            return f"{number / least:.1f}".removesuffix(".0") + letter
    return f"{number:,}"


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.0%}"


def _day(moment: date) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _week(monday: str) -> str:
    first = date.fromisoformat(monday)
    return f"{first.day:2} {first:%b}"
