"""What the recogniser answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

IntentName = Literal[
    "remember", "forget_that", "forget_topic", "correct", "skip", "recall", "show_memory", "none"
]
INTENTS: tuple[IntentName, ...] = get_args(IntentName)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a sentence asks of the memory.

    `payload` is `text[start:end]`: what to remember, forget, skip or look up, and for `correct`
    the same as `new`. Empty where the sentence points at what was said before. `old` and `new`
    are spans too; `old` is empty where the sentence does not name what was wrong.
    """

    intent: IntentName = "none"
    lang: str = ""
    payload: str = ""
    start: int = 0
    end: int = 0
    old: str = ""
    new: str = ""
    target: str = ""
    """The agent whose memory is meant, where the sentence names one: "tell Dexter that …"."""
    confidence: float = 0.0


NONE = Intent()
