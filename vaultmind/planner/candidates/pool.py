"""Candidates: files that may belong to a task's context, and all that speaks for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file that speaks for it: offsets as a chunk has them."""

    start: int
    end: int
    part: str
    """The anchor of a note's section or the name of a definition; empty at the top."""
    score: float
    """From 0 to 1, among the spots of one plan."""
    text: str = ""
    """What may be shown of it, where that is not what the file says there: of an agent's memory."""


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
    parts: tuple[str, ...] = ()
    """Definitions or headings that such work told to have changed."""


class Pool:
    """Collects what speaks for files, each file once."""

    def __init__(self) -> None:
        self._signals: dict[str, dict[str, float]] = {}
        self._spots: dict[str, tuple[Spot, ...]] = {}
        self._because: dict[str, dict[str, None]] = {}
        self._causal: dict[str, float] = {}
        self._parts: dict[str, tuple[str, ...]] = {}

    def add(self, path: str, signal: str, value: float, because: str = "") -> None:
        """Add a signal of a file; of two with one name the stronger counts."""
        known = self._signals.setdefault(path, {})
        known[signal] = max(known.get(signal, value), value)
        if because:
            self._because.setdefault(path, {})[because] = None

    def take(self, one: Candidate) -> None:
        """Add a whole candidate."""
        for name, value in one.signals.items():
            self.add(one.path, name, value)
        if one.spots:
            self._spots[one.path] = tuple(
                dict.fromkeys((*self._spots.get(one.path, ()), *one.spots))
            )
        for words in one.because:
            self._because.setdefault(one.path, {})[words] = None
        self._causal[one.path] = max(self._causal.get(one.path, 0.0), one.causal)
        if one.parts:
            known = self._parts.get(one.path, ())
            self._parts[one.path] = tuple(dict.fromkeys((*known, *one.parts)))

    def signals(self) -> Mapping[str, Mapping[str, float]]:
        """Return the signals of each file."""
        return self._signals

    def has_spots(self, path: str) -> bool:
        """Tell whether a place in a file was found."""
        return path in self._spots

    def drop(self, path: str) -> None:
        """Forget a file."""
        for table in (self._signals, self._spots, self._because, self._causal, self._parts):
            table.pop(path, None)

    def candidates(self) -> dict[str, Candidate]:
        """Return the candidates by path."""
        return {
            path: Candidate(
                path,
                signals,
                self._spots.get(path, ()),
                tuple(self._because.get(path, ())),
                self._causal.get(path, 0.0),
                self._parts.get(path, ()),
            )
            for path, signals in self._signals.items()
        }
