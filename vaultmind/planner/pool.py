"""Candidates: files that may belong to a task's context, and all that speaks for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from vaultmind.planner.types import Understood
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.planner.sources import Source


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file that speaks for it: offsets as a chunk has them."""

    start: int
    end: int
    part: str
    """The anchor of a note's section or the name of a definition; empty at the top."""
    score: float
    """From 0 to 1, among the spots of one plan."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file and its signals. Paths are relative to the source."""

    path: str
    signals: Mapping[str, float] = field(default_factory=dict)
    """What was measured, by the name of the signal (`candidates.SIGNALS`); most from 0 to 1."""
    spots: tuple[Spot, ...] = ()
    because: tuple[str, ...] = ()
    """In words, what found it: `linked from src/auth.py`."""
    causal: float = 0.0
    """How sure it is that earlier work of this kind changed it, from 0 to 1."""


class Provider(Protocol):
    """Whatever else knows of files for a task: what earlier work read and changed."""

    def candidates(
        self, understood: Understood, source: Source, caller: Caller
    ) -> Iterable[Candidate]:
        """Return candidates with the signals `affinity` and `causal`, from 0 to 1.

        Only what the caller may know of; paths that it is not shown are dropped all the same.
        """
        ...


def merged(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Return one candidate a path: of each signal the strongest, of spots and reasons all."""
    pool: dict[str, Candidate] = {}
    for one in candidates:
        known = pool.get(one.path)
        pool[one.path] = one if known is None else _joined(known, one)
    return pool


def _joined(first: Candidate, second: Candidate) -> Candidate:
    signals = dict(first.signals)
    for name, value in second.signals.items():
        signals[name] = max(signals.get(name, value), value)
    return Candidate(
        first.path,
        signals,
        tuple(dict.fromkeys((*first.spots, *second.spots))),
        tuple(dict.fromkeys((*first.because, *second.because))),
        max(first.causal, second.causal),
    )
