"""Recalled: the words in which a plan tells of earlier work, within a share of its budget. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vaultmind import tokens
from vaultmind.planner.types import EarlierWork
from vaultmind.vault.oneline import one_line

SHARE = 0.1
"""Of a plan's budget, that earlier work may take."""
HEAD = "Earlier work on tasks like this:"
SHOWN_FILES, SHOWN_DECISIONS = 6, 3
MAX_TASK, MAX_WORDS = 120, 200
"""Characters of a task, and of one decision or rationale."""
JOIN = "\n\n"
SLACK = 4
"""Tokens that two texts together may take more than each by itself."""


def budgeted(
    works: Sequence[EarlierWork], token_budget: int
) -> tuple[tuple[EarlierWork, ...], str, int]:
    """Return the works that fit, the text that tells of them, and the tokens that it takes.

    Each is told in full where there is room, else shorter, else not at all.
    """
    room = int(token_budget * SHARE)
    told: list[EarlierWork] = []
    for work in works:
        before = [one.text for one in told]
        for line in _forms(work):
            if _cost([*before, line]) <= room:
                told.append(replace(work, text=line))
                break
    if not told:
        return (), "", 0
    lines = [one.text for one in told]
    return tuple(told), rendered(lines), _cost(lines)


def rendered(lines: Sequence[str]) -> str:
    """Return what a context says of earlier work."""
    return "\n".join([HEAD, *lines])


def _cost(lines: Sequence[str]) -> int:
    return tokens.count(rendered(lines) + JOIN) + SLACK


def _forms(work: EarlierWork) -> Iterator[str]:
    """Yield the line that tells of a work, each shorter than the one before."""
    yield _line(work, SHOWN_FILES, SHOWN_DECISIONS)
    yield _line(work, SHOWN_FILES // 2, 1)
    yield _line(replace(work, decisions=(), rationale=""), SHOWN_FILES // 2, 0)


def _line(work: EarlierWork, files: int, decisions: int) -> str:
    who = work.episode.partition("/")[0]
    parts = [f"- {work.when}, {who}, {work.outcome}: {_clipped(work.task, MAX_TASK)}"]
    if work.changed:
        shown = [one_line(path) for path in work.changed[:files]]
        more = len(work.changed) - len(shown)
        parts.append(f"changed {', '.join(shown)}{f' and {more} more' if more else ''}")
    parts += [f"decided: {_clipped(one, MAX_WORDS)}" for one in work.decisions[:decisions]]
    if work.rationale:
        parts.append(f"because: {_clipped(work.rationale, MAX_WORDS)}")
    return "; ".join(parts)


def _clipped(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
