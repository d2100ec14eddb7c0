"""How much of what was said fits into a model's window beside the question and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vaultmind.errors import MinionFailed
from vaultmind.minion.structured import Check, ask_json
from vaultmind.ports import Generator
from vaultmind.types import Prompt, Turn

UNSAID_CONTEXT = 4096
"""Tokens of a window of which nobody says how large it is."""
ANSWER_SHARE = 4
"""An answer may have this part of the window: a quarter, ..."""
MOST_ANSWER = 1024
"""... and at most so many tokens."""
MARGIN = 48
"""Tokens of the marks around the turns."""
LEAST_ROOM = 120
"""With less room a model sees no conversation, only scraps of one."""
MOST_WINDOWS = 32
"""What would need more is left to the extractive engine: hours of work for one conversation."""
SECONDS = 3600.0
"""What the configuration allows a job is less."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a window leaves."""

    tokens: int
    """For what is to be read."""
    answer: int
    """For the answer."""


def room_of(generator: Generator, around: str) -> Room:
    """Return the room beside a question; raises MinionFailed where there is none.

    Where the window allows it, a bad answer and what is wrong with it fit in as well.
    """
    window = generator.context_tokens or UNSAID_CONTEXT
    answer = min(MOST_ANSWER, window // ANSWER_SHARE)
    free = window - generator.count(around) - answer - MARGIN
    room = free - answer if free - answer >= window // 2 else free
    if room < LEAST_ROOM:
        raise MinionFailed(
            "too_long", f"The window of {generator.id} ({window} tokens) has no room to read in."
        )
    return Room(room, answer)


def few_enough(windows: int, generator: Generator) -> None:
    """Raise MinionFailed where a conversation needs more windows than is reasonable."""
    if windows > MOST_WINDOWS:
        raise MinionFailed(
            "too_long",
            f"The conversation would take {generator.id} {windows} windows; {MOST_WINDOWS} are "
            "the most.",
        )


def ask(
    generator: Generator,
    text: str,
    schema: dict[str, Any],
    answer_tokens: int,
    check: Check = lambda _: (),
    *,
    language: str,
) -> Any:  # noqa: ANN401
    """Return a model's checked answer to one text; raises MinionFailed."""
    prompt = Prompt((Turn("user", text),), schema, max_tokens=answer_tokens, seconds=SECONDS)
    return ask_json(generator, prompt, check, language=language).value
