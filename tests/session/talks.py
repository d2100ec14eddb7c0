"""Conversations for the tests of the summary."""

from __future__ import annotations

import random
from collections.abc import Sequence

from vaultmind.session.summary import Rolling, fold
from vaultmind.types import Message, Role

DECISIONS = (
    "We decided to build the shed from larch.",
    "The budget is 4,200 euros, not a cent more.",
    "Agreed: Marta paints the door on 14 March.",
)
_FILLER = (
    "The {a} near the {b} was quiet again this morning.",
    "I keep thinking about the {a} and how it smells of {b}.",
    "Somebody left a {a} beside the {b}, and nobody asked why.",
    "Thanks, that sounds good.",
    "A {a} is never as simple as a {b}.",
)
_NOUNS = "kettle orchard lantern violin staircase river parrot cupboard market blanket".split()  # noqa: SIM905


def message(number: int, text: str, role: Role | None = None, speaker: str = "") -> Message:
    """Return the message of a number: the user's and the assistant's in turn."""
    spoken: Role = role or ("user" if number % 2 else "assistant")
    time = (
        f"2026-03-{1 + number // 1440 % 28:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00+01:00"
    )
    return Message(spoken, text, time, id=f"t:{number}", speaker=speaker, block=f"m{number}")


def talk(length: int) -> list[Message]:
    """Return a conversation whose messages 2, 5 and 8 decide something."""
    rng = random.Random(1)
    planted = dict(zip((2, 5, 8), DECISIONS, strict=True))
    return [message(number, planted.get(number) or _filler(rng)) for number in range(1, length + 1)]


def folded(messages: Sequence[Message], every: int = 6) -> Rolling:
    """Return the summary of a conversation, folded so many messages at a time."""
    rolling = Rolling("s", "main", "en")
    for start in range(0, len(messages), every):
        rolling = fold(rolling, messages[start : start + every])
    return rolling


def _filler(rng: random.Random) -> str:
    pick = [rng.choice(_FILLER) for _ in range(rng.choice((1, 2)))]
    return " ".join(one.format(a=rng.choice(_NOUNS), b=rng.choice(_NOUNS)) for one in pick)
