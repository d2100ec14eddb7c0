"""How the sources are, in numbers and in words: the vault, and the folders linked to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from vaultmind.plural import counted
from vaultmind.serve.calls.schema import to_json
from vaultmind.types import Fault

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources.sources import SourceState


MOST_FAULTS = 100
"""That are named; the rest is a number."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a source is, in numbers and in words."""

    name: str
    root: str
    kind: str
    there: bool
    phase: str
    """Of its index; `waiting` before that is opened."""
    files: int
    chunks: int
    vectors: int
    words: str
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    """Which files could not be taken whole, and why: the first of them."""
    fault_count: int = 0


def standings(app: App) -> tuple[Standing, ...]:
    """Return how each source is, the vault first."""
    return tuple(map(_standing, app.sources.states()))


def brief(sources: Iterable[Standing], *, to_agent: bool) -> list[dict[str, Any]]:
    """Return sources as a status tells of them; an agent is not told folders outside the vault."""
    kept = ("name", "kind", "there", "phase", "files", "words")
    names = kept if to_agent else tuple(field.name for field in fields(Standing))
    return [{name: to_json(getattr(one, name)) for name in names} for one in sources]


def _standing(state: SourceState) -> Standing:
    index = state.index
    notes: tuple[str, ...] = (state.note,) if state.note else ()
    if index is None:
        gone = "gone" if state.root else "the linked folders cannot be read"
        words = "waits for the vault's index" if state.there else gone
        return Standing(
            state.name, state.root, state.kind, state.there, "waiting", 0, 0, 0, words, notes
        )  # fmt: skip
    files = f"{index.indexed:,} of {counted(index.files, 'file')}"
    meaning = f"{counted(index.vectors, 'vector')}" if index.embedder else "by words only"
    words = f"{index.phase} · {files} · {counted(index.chunks, 'chunk')} · {meaning}"
    notes = (*notes, *index.notes)
    if skipped := len(index.faults):
        notes = (*notes, f"{counted(skipped, 'file')} could not be taken whole.")
    if not state.there:
        words = f"gone · {words}"
    return Standing(
        state.name, state.root, state.kind, state.there, index.phase, index.files, index.chunks,
        index.vectors, words, notes, index.faults[:MOST_FAULTS], skipped,
    )  # fmt: skip
