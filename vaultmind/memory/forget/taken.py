"""What an erasure reads, and what it takes out of one text."""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.types import MessageRef

FRONT_MATTER = "front matter"


@dataclass(frozen=True, slots=True)
class Target:
    """A file as it is read, and what is known of it."""

    path: str
    """Vault-relative."""
    agent: str
    text: str
    today: str
    """ISO date."""
    language: str = "en"
    hidden: frozenset[str] = frozenset()
    """Block ids in it that were hidden from recall."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One thing that is taken out: a message, a sentence, a fact, a line."""

    place: str
    """Where in the file: `^m7`, `line 12`, `front matter`."""
    text: str
    ref: MessageRef | None = None
    """What must never be learned again: goes to the tombstones."""
    moved: tuple[str, str] | None = None
    """What links to the place it was taken from said, and what they must say now."""


@dataclass(frozen=True, slots=True)
class Without:
    """A text without what was wanted, and what that was."""

    text: str
    taken: tuple[Taken, ...] = ()


def line_name(text: str, offset: int) -> str:
    """Return how a place without an id is called: `line 12`."""
    return f"line {text.count(chr(10), 0, offset) + 1}"
