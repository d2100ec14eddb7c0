"""The sliding summary as data: lines that were said, each with where it was said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["decision", "fact", "question", "other"]
KINDS: tuple[Kind, ...] = ("decision", "fact", "question", "other")
"""In the order in which they are shown. A question is one left open."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a message, whole or a marked piece; what a model says of a few messages; or a
    line that a person typed.
    """

    text: str
    kind: Kind
    block: str = ""
    """Its block id in the summary: by it the line is hidden. The same for as long as it lives."""
    source: str = ""
    """The block id of the message it stands in."""
    at: int = 0
    """The number of that message in the conversation, from 1."""
    weight: float = 0.0
    """Its importance when it was said; what is left of it depends on its age."""
    speaker: str = ""
    """Who said it: a name, or else a role."""
    own: bool = False
    """Typed or changed by a person: never shortened, never dropped."""
    by: str = ""
    """The id of the model whose words these are; empty for words of the message."""
    also: tuple[str, ...] = ()
    """The block ids of further messages that a model's words were made of."""
    heard: int = 0
    """A check of the words of all these messages, as the model had them."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the block ids of all messages that it comes from."""
        return (self.source, *self.also) if self.source else self.also


@dataclass(frozen=True, slots=True)
class TopicMark:
    """A topic the conversation came to, in its most telling words."""

    label: str
    source: str = ""
    """The block id of the message that it began with."""
    at: int = 0

    @property
    def block(self) -> str:
        """Return its block id in the summary."""
        return f"t-{self.source or f'n{self.at}'}"


@dataclass(frozen=True, slots=True)
class Rolling:
    """The sliding summary of a conversation up to a message."""

    session: str = ""
    agent: str = ""
    language: str = "en"
    updated: str = ""
    """ISO time of the newest message in it."""
    upto: str = ""
    """The id of the last message that was folded in, or its block id where it has none."""
    messages: int = 0
    """How many messages were folded in."""
    lines: tuple[Line, ...] = ()
    topics: tuple[TopicMark, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person wrote into the file besides bullets, line by line."""
    told: str = ""
    """The block id of the last message that a model was asked about; empty without one."""
    tools: tuple[Line, ...] = ()
    """What tools did, in a model's words: found by a search, no part of what is shown."""
    tools_upto: str = ""
    """The block id of the last message up to which they were asked for."""


def visible(rolling: Rolling, hides: Callable[[str], bool]) -> Rolling:
    """Return the summary without what comes from hidden messages, by their block ids.

    For showing. To be written the whole summary is folded on, since what is hidden today may
    be shown again.
    """
    lines = tuple(one for one in rolling.lines if not any(map(hides, one.sources)))
    tools = tuple(one for one in rolling.tools if not any(map(hides, one.sources)))
    topics = tuple(one for one in rolling.topics if not (one.source and hides(one.source)))
    return replace(rolling, lines=lines, tools=tools, topics=topics)


def ordered(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines in the order in which the file has them."""
    return tuple(line for group in in_order(lines).values() for line in group)


def in_order(lines: Sequence[Line]) -> dict[Kind, list[Line]]:
    """Return the lines by kind, each kind in the order in which it was said."""
    return {
        kind: sorted((one for one in lines if one.kind == kind), key=lambda one: one.at)
        for kind in KINDS
    }
