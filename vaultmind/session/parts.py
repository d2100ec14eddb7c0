"""A built context as data: what it is for, its ordered parts, what was left out and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

PartName = Literal[
    "identity", "brain", "active context", "summary", "earlier", "memory", "associations",
    "history", "window", "tools",
]  # fmt: skip
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
"""In the order in which they are shown. `history` is a sub-agent's, in the place of all that is
recalled from a conversation; `window` ends in the pending messages."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Another conversation, as the start of one tells of it."""

    session: str
    line: str
    """When it was, with which client, in which project, and its title."""
    title: str
    running: bool


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What a context is built for."""

    agent: str
    session: str = ""
    """Empty: the agent's latest; one that has ended is so for a person alone."""
    pending: tuple[str, ...] = ()
    """The user's messages that wait for an answer. None: what the user said last, unanswered."""
    budget: int | None = None
    """Tokens of all parts together; None: `context.max_tokens`, with the caps of each part."""
    task: str = ""
    """The name of a scheduled sub-agent's task: its runs take the place of the conversation."""
    tools: str = ""
    """What the caller says of its tools and skills."""
    frame_tokens: int = 0
    """What a surface puts around each part: counted in the total."""
    without: frozenset[PartName] = frozenset()
    """Parts that are not wanted."""
    known: frozenset[str] = frozenset()
    """Keys (ids, or block ids) of messages that the host shows anyway: not recalled again."""
    shown: tuple[str, ...] = ()
    """Texts that the host was given in this conversation already: not recalled again."""
    fresh: bool = False
    """Nothing of the conversation is written down yet: none is looked at, not the latest either."""
    others: tuple[Recent, ...] = ()
    """Other conversations of the last days, the newest first, which are told of in a line each."""
    untitled: bool = False
    """Whether the surface names the parts itself."""


@dataclass(frozen=True, slots=True)
class Part:
    """One share of a context."""

    name: PartName
    text: str
    tokens: int
    sources: tuple[str, ...] = ()
    """Where it comes from: vault-relative paths, with an anchor where there is one."""
    messages: tuple[str, ...] = ()
    """Ids (block ids where a message has none) of the messages whose full text stands in it."""
    why: str = ""
    """Why it is there, in words, where that is not obvious: what was recalled and how well."""


NO_ROOM = "no room"
"""Why most of what is dropped is."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """What is not in a context, and why, in words."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """What an agent is given before it answers; never more than its budget."""

    agent: str
    session: str
    """Empty where there is no conversation."""
    segment: int
    budget: int
    tokens: int
    """Of all parts together, as they are counted when they are shown one after the other."""
    parts: tuple[Part, ...]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know: the index is loading, a file cannot be read, ..."""

    def part(self, name: PartName) -> Part | None:
        """Return a part by its name."""
        return next((one for one in self.parts if one.name == name), None)


BETWEEN, BETWEEN_TOKENS = "\n\n", 3
"""What stands between two parts, and what that costs, with what rounded estimates miss."""


def joined(texts: Iterable[str]) -> str:
    """Return texts as they are shown one after the other."""
    return BETWEEN.join(texts)


def more_than(room: int, key: str) -> str:
    """Return why something is left out, and what to raise."""
    return f"more than {room:,} tokens (raise the budget or {key})"
