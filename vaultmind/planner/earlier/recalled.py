"""Recalled: the words in which a plan tells of earlier work, within a share of its budget. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vaultmind import tokens
from vaultmind.planner.packing.assembling import Assembled
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


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of earlier work, and what that takes."""

    works: tuple[EarlierWork, ...] = ()
    text: str = ""
    tokens: int = 0

    def put_before(self, done: Assembled, token_budget: int) -> Assembled:
        """Return what was assembled with this before it, and counted in its budget."""
        report = replace(done.report, token_budget=token_budget)
        if not self.text:
            return replace(done, report=report)
        text = f"{self.text}{JOIN}{done.context.text}" if done.context.text else self.text
        return replace(
            done,
            context=replace(done.context, text=text),
            report=replace(report, estimated_used=tokens.count(text)),
        )


def told_within(works: Sequence[EarlierWork], token_budget: int) -> Told:
    """Return of some works what fits: each in full where there is room, else shorter or not."""
    room = int(token_budget * SHARE)
    told: list[EarlierWork] = []
    for work in works:
        before = [one.text for one in told]
        form = next((one for one in _forms(work) if _cost([*before, one]) <= room), "")
        if form:
            told.append(replace(work, text=form))
    lines = [one.text for one in told]
    return Told(tuple(told), rendered(lines), _cost(lines)) if told else Told()


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
