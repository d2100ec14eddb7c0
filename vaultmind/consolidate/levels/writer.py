"""Who writes summaries: what a writer is given, and what it gives back.

Two keep to it: the built-in one, which chooses whole sentences, and a model's. Neither sees what
was forgotten: the caller leaves it out of what is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vaultmind.consolidate.types import Level
from vaultmind.types import Message, Role


@dataclass(frozen=True, slots=True)
class Piece:
    """What a summary of a level is made from: a message of a session, a paragraph of an L1."""

    block: str
    """The Obsidian block id in the source's file; empty where it has none."""
    text: str
    speaker: str = ""
    """Who said it, as the file calls them; empty for a paragraph."""
    role: Role = "user"


@dataclass(frozen=True, slots=True)
class Source:
    """A session or an L1, as far as it may be recalled."""

    id: str
    """`2026-02-20_001` or `L1_001`."""
    started: str
    """ISO date or time that it speaks from."""
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a summary: whole sentences on one line, and what they come from."""

    text: str
    sources: tuple[str, ...]
    """For a session keys of messages; for a level `<id of the source>#<block>` (see `mark`), or
    the id alone where it is the whole source."""


@dataclass(frozen=True, slots=True)
class Told:
    """A summary, not yet a file."""

    paragraphs: tuple[Paragraph, ...]
    """None where nothing was said that is worth it."""
    by: str = "extractive"
    """The engine: `extractive`, or a model's id."""
    again: bool = False
    """Whether a model should have written it, and may do so another time."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""
    untried: bool = False
    """With `again`: whether no model was asked at all, since the day's seconds were used up or it
    rests after a crash."""

    @property
    def text(self) -> str:
        """Return its paragraphs, with an empty line between two."""
        return "\n\n".join(one.text for one in self.paragraphs)


class SummaryWriter(Protocol):
    """Writes summaries. It always gives one: where a model cannot, the built-in writer does."""

    def session(self, messages: Sequence[Message], language: str) -> Told:
        """Return a conversation in three to five sentences; sources are keys of messages."""
        ...

    def level(
        self, level: Level, sources: Sequence[Source], language: str, max_tokens: int
    ) -> Told:
        """Return 3-5 paragraphs (L1) or 2-3 (L2) of at most `max_tokens` in all, links apart."""
        ...


def mark(source: Source, piece: Piece) -> str:
    """Return what a paragraph calls a piece of a source."""
    return f"{source.id}#{piece.block}" if piece.block else source.id


def unmark(marked: str) -> tuple[str, str]:
    """Return the id of the source and the block that a paragraph's source names."""
    source, _, block = marked.partition("#")
    return source, block
