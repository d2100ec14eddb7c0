"""When messages are folded into the sliding summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.tokens import count
from vaultmind.types import Message

HEADER_TOKENS = 4
"""What a message costs besides its words: who speaks."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a conversation stays whole, and when the rest is folded."""

    messages: int = 20
    """The newest messages that stay whole."""
    max_tokens: int = 0
    """The window's budget; 0: no limit."""
    every: int = 6
    """Messages that leave the window together."""
    full_at: float = 0.7
    """Share of the budget beyond which all but the last few are folded."""
    keep: int = 4
    """The last few."""


def due(messages: Sequence[Message], upto: str, window: Window) -> tuple[Message, ...]:
    """Return the messages that should be folded now, oldest first; none when nothing is due.

    `upto` is the id (or block id) of the last message that was folded, empty at the beginning;
    one that is not among the messages counts as older than all of them.
    """
    waiting = unfolded(messages, upto)
    outside = waiting[: max(0, len(waiting) - window.messages)]
    leaving = len(outside) - len(outside) % max(1, window.every)
    if leaving == 0 and len(waiting) > window.keep and _is_full(waiting, window):
        leaving = len(waiting) - window.keep
    return tuple(waiting[:leaving])


def unfolded(messages: Sequence[Message], upto: str) -> Sequence[Message]:
    """Return the messages after the last one that was folded."""
    for number in range(len(messages) - 1, -1, -1):
        if upto and upto in (messages[number].id, messages[number].block):
            return messages[number + 1 :]
    return messages


def _is_full(waiting: Sequence[Message], window: Window) -> bool:
    if window.max_tokens <= 0:
        return False
    spent = sum(count(message.text) + HEADER_TOKENS for message in waiting[-window.messages :])
    return spent > window.full_at * window.max_tokens
