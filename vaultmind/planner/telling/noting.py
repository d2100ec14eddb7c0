"""Notes: in words, what a plan lacks, and how little the source had to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vaultmind.errors import install_hint
from vaultmind.planner.candidates.candidates import Asked, is_said, missing_of
from vaultmind.planner.types import CacheStatus
from vaultmind.plural import counted

if TYPE_CHECKING:
    from vaultmind.planner.candidates.pool import Candidate

LITTLE = 0.3
"""What the best file holds of the task's words, or is near it in meaning, for a plan to be one."""
SAME = 0.75
"""How near in meaning a file is for that alone to do."""
SURE = ("path", "definitions", "named", "defined", "place", "affinity")
"""Signals that need no other words of the task beside them."""
MOST_MISSING = 2
NOTHING = "No word of the task stands in this source: nothing is shown."
FEW = "Hardly a word of the task stands in this source: what is shown may not be about it."
READING = (
    "How the files hang together is still being read: names, links and history may be missing."
)


def notes_of(
    asked: Asked, status: CacheStatus, found: Sequence[Candidate], *, is_known: bool
) -> tuple[str, ...]:
    """Return what a plan lacks. `is_known` tells that names and the past are up to date."""
    state = asked.source.index.state()
    if state.phase in ("starting", "indexing"):
        return (f"Still indexing: {state.indexed} of {state.files} files are known.",)
    lacks = _structure(asked, status, is_known=is_known)
    return (*state.notes, *lacks, *(_task(asked, found) if is_known else ()))


def _structure(asked: Asked, status: CacheStatus, *, is_known: bool) -> Iterator[str]:
    structure = asked.source.structure
    if structure is None:
        yield "Nothing is known of how the files hang together."
        return
    progress = structure.progress
    if progress.done < progress.total:
        yield f"{progress.done} of {progress.total} files are read for how they hang together."
    elif not is_known or (status == "partial" and not structure.settled):
        yield READING
    if count := asked.known.names.unread:
        yield (
            f"{counted(count, 'file')} of code as text only, without definitions and imports: "
            f"{install_hint('code')}, then `vaultmind daemon stop`."
        )


def _task(asked: Asked, found: Sequence[Candidate]) -> Iterator[str]:
    """Yield what of the task is not there."""
    for path in missing_of(asked)[:MOST_MISSING]:
        yield f"No {path} is known in this source."
    if not found:
        yield NOTHING
    elif is_little(found):
        yield FEW


def is_little(found: Sequence[Candidate]) -> bool:
    """Tell whether hardly anything of a task stands in its candidates, or meaning alone found them.

    Any two texts are somewhat near each other in meaning: that is no sign by itself.
    """
    by_words = any(is_said(one.signals) for one in found)
    near = max((one.signals.get("meaning", 0.0) for one in found), default=0.0)
    best = max((told_by(one.signals) for one in found), default=0.0)
    return best < LITTLE or not (by_words or near >= SAME)


def told_by(signals: Mapping[str, float]) -> float:
    """Return how much of a task a file answers, 0 to 1, by itself and not against the others."""
    held = max(signals.get("coverage", 0.0), signals.get("meaning", 0.0))
    return max(held, *(signals.get(name, 0.0) for name in SURE))
