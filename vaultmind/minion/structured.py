"""Asking a model for JSON: the answer is checked, and the model may mend it once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vaultmind.errors import MinionFailed
from vaultmind.minion import prompts, schema
from vaultmind.ports import Generator
from vaultmind.types import Generated, Prompt, Turn

Check = Callable[[Any], Sequence[str]]
"""Returns what is wrong with a value besides its shape, each as a clause; empty if sound."""

MAX_SHOWN = 4000
"""Characters of a bad answer that the model is shown again."""
CHARACTERS_A_TOKEN = 16
"""Of an answer; more than so many for each token that was asked for is no answer to it."""
ECHOED = 120
"""Characters of a question, from its beginning, by which an answer that repeats it is known."""


@dataclass(frozen=True, slots=True)
class Structured:
    """A sound answer, and what all tries together cost."""

    value: Any
    tokens: int
    prompt_tokens: int
    took_ms: float
    repaired: bool = False
    """Whether the first answer was of no use."""


def _sound(value: Any) -> Sequence[str]:  # noqa: ANN401
    return ()


def ask_json(
    generator: Generator, prompt: Prompt, check: Check = _sound, *, language: str = "en"
) -> Structured:
    """Return a model's answer as a value that follows the prompt's schema.

    The model is told once what is wrong with its answer, within the same time. Raises
    MinionFailed("nonsense") when it is still wrong, ValueError for a prompt without a schema.
    """
    if prompt.schema is None:
        raise ValueError("a prompt that asks for JSON needs a schema")
    until = time.monotonic() + prompt.seconds
    first = generator.generate(prompt)
    value, wrong = _read(first, prompt, check)
    if not wrong:
        return Structured(value, first.tokens, first.prompt_tokens, first.took_ms)
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise _nonsense(generator, wrong)
    try:
        second = generator.generate(_again(prompt, first, wrong, language, seconds))
    except MinionFailed as failure:
        if failure.why == "too_long":  # no room to mend it: the answer was nonsense
            raise _nonsense(generator, wrong) from failure
        raise
    value, wrong = _read(second, prompt, check)
    if wrong:
        raise _nonsense(generator, wrong)
    return Structured(
        value,
        first.tokens + second.tokens,
        first.prompt_tokens + second.prompt_tokens,
        first.took_ms + second.took_ms,
        repaired=True,
    )


def _read(answer: Generated, prompt: Prompt, check: Check) -> tuple[Any, Sequence[str]]:
    """Return the value of an answer and what is wrong with it."""
    if len(answer.text) > max(MAX_SHOWN, CHARACTERS_A_TOKEN * prompt.max_tokens):
        return None, ("it is much longer than was asked for",)
    if _echoes(answer.text, prompt):
        return None, ("it repeats the question",)
    try:
        value = schema.parse_json(answer.text)
    except ValueError as error:
        return None, (str(error),)
    return value, schema.faults(value, prompt.schema or {}) or check(value)


def _echoes(text: str, prompt: Prompt) -> bool:
    """Tell whether an answer repeats what was asked: the example in it would pass for one."""
    asked = [" ".join(turn.text.split()) for turn in prompt.turns if turn.role == "user"]
    given = " ".join(text.split())
    return any(len(one) > ECHOED and one[:ECHOED] in given for one in asked)


def _again(
    prompt: Prompt, first: Generated, wrong: Sequence[str], language: str, seconds: float
) -> Prompt:
    """Return the prompt that shows a model its answer and what is wrong with it."""
    words = prompts.load("repair", language).filled(faults="; ".join(wrong))
    turns = (*prompt.turns, Turn("assistant", first.text[:MAX_SHOWN]), Turn("user", words))
    return replace(prompt, turns=turns, seconds=seconds)


def _nonsense(generator: Generator, wrong: Sequence[str]) -> MinionFailed:
    return MinionFailed(
        "nonsense", f"The model {generator.id} gave no answer that can be used: {'; '.join(wrong)}."
    )
