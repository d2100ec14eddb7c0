"""What a language model says of a conversation, taken into its sliding summary line by line.

The summary is there already, made of what was said word for word. A model's line takes the place
of those that it says; where it has none that holds, they stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from vaultmind.session.summary.rolling import Kind


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A sentence by a model, and the messages that say it."""

    text: str
    sources: tuple[str, ...]
    """The block ids of the messages, at least one, in their order."""
    kind: Kind = "other"


@dataclass(frozen=True, slots=True)
class Told:
    """What a model made of some messages. Each of its lines was held against them."""

    lines: tuple[ToldLine, ...]
    by: str
    """The model's id."""
    doubted: tuple[str, ...] = ()
    """The block ids of messages of which it said what they do not say."""
