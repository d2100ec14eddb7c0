"""What an erasure is asked for, what it shows before, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.types import Caller


@dataclass(frozen=True, slots=True)
class Erasure:
    """A wish to erase what some words say. Only the person may have it."""

    text: str
    """The words, or a fact's block id (`^k3f9`)."""
    caller: Caller
    agent: str = ""
    """Only this agent's memory; empty: every agent's."""
    seal: str = ""
    """Of the preview that was confirmed: what was found may not have changed since."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that would be erased."""

    kind: str
    agent: str
    path: str
    place: str
    """`^m7`, `line 12`, `front matter`."""
    excerpt: str


@dataclass(frozen=True, slots=True)
class Place:
    """A file that is not touched and still holds it, or could not be cleaned."""

    path: str
    excerpt: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an erasure would remove. Nothing is touched yet."""

    text: str
    meant: tuple[str, ...]
    """Facts that the words mean, said otherwise: what says these goes as well."""
    found: tuple[Found, ...]
    counts: dict[str, int]
    """How many of each kind."""
    yours: tuple[Place, ...]
    """Your own notes that hold it: they stay."""
    state_files: tuple[str, ...]
    """Files of the state folder that hold its bytes: they are cleaned."""
    seal: str
    message: str

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to erase anywhere."""
        return not (self.found or self.state_files)


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure came to, as the search after it found."""

    outcome: Literal["erased", "partial", "not_found"]
    counts: dict[str, int]
    paths: tuple[str, ...]
    """Files that were changed."""
    left: tuple[Place, ...]
    """Where it still stands: the erasure is partial."""
    yours: tuple[Place, ...]
    near: tuple[Place, ...]
    """Passages that mean nearly the same, in other words; `why` is the cosine."""
    searched: tuple[str, ...]
    """How the verifying search looked: by `text`, by `meaning`, by `bytes`."""
    faults: tuple[str, ...]
    message: str
