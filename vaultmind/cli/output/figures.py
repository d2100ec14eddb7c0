"""The figures of a gain in words: shares, tokens, days."""

from __future__ import annotations

from datetime import date
from typing import Any

NONE = "–"
"""A share of nothing."""


def facts(total: dict[str, Any]) -> list[str]:
    """Return in words what besides tokens is known of a time."""
    outcomes = total["outcomes"]
    ended = ", ".join(f"{number:,} {name}" for name, number in outcomes.items() if number)
    ended += f"{', ' if ended else ''}{total['running']:,} under way" if total["running"] else ""
    lines = [f"outcomes: {ended}"] if ended else []
    for name, words in (
        ("causal_trace_completeness", "of episodes tell task, reads, edits and outcome"),
        ("hit_share", "of the files that plans offered were read or changed afterwards"),
        ("first_pass_success_rate", "of successful episodes had all they changed in one plan"),
        ("affinity_hit_rate", "of plans that went by earlier work offered a file that was used"),
    ):
        if total[name] is not None:
            lines.append(f"{percent(total[name]):>5} {words}")
    if total["plan_context_p50_ms"] is not None:
        times = (
            f"{total['plan_context_p50_ms']:,.0f} ms, p95 {total['plan_context_p95_ms']:,.0f} ms"
        )
        lines.append(f"a plan took {times}; all at hand for {percent(total['cache_hit_share'])}")
    if total["rerank_invocation_rate"]:
        in_vain = f", in vain for {total['fallbacks']:,}" if total["fallbacks"] else ""
        asked = percent(total["rerank_invocation_rate"])
        lines.append(f"a model was asked for {asked} of the plans{in_vain}")
    return lines


def percent(value: float | None) -> str:
    """Return a share as whole percents."""
    return NONE if value is None else f"{value:.0%}"


def short(number: int) -> str:
    """Return a number of tokens in few letters."""
    for least, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 100 * least:
            return f"{number / least:,.0f}{letter}"
        if number >= least:
            return f"{number / least:.1f}".removesuffix(".0") + letter
    return f"{number:,}"


def day(moment: date) -> str:
    """Return a day as it is said."""
    return f"{moment.day} {moment:%B %Y}"
