"""Asking a model for JSON: the answer is checked, and the model may mend it once.

A grammar makes a local model write valid JSON; a remote one may write what it likes, and either
may be cut in the middle. So every answer is checked before anybody believes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from vaultmind.errors import MinionFailed
from vaultmind.minion import prompts
from vaultmind.ports import Generator
from vaultmind.types import Prompt, Turn

Check = Callable[[Any], Sequence[str]]
"""Returns what is wrong with a value besides its shape, each as a clause; empty if sound."""

MAX_SHOWN = 4000
"""Characters of a bad answer that the model is shown again."""
CHARACTERS_A_TOKEN = 16
"""Of an answer; more than so many for each token that was asked for is no answer to it."""
MAX_CHARACTERS = 65_536
"""Of an answer that is read. A longer one goes on for ever, or is made to cost time."""
ECHOED = 120
"""Characters of a question, from its beginning, by which an answer that repeats it is known."""
MAX_FAULTS = 5
"""More are not told: a model that is told everything mends nothing."""


def ask_json(
    generator: Generator, prompt: Prompt, check: Check | None = None, *, language: str = "en"
) -> Any:  # noqa: ANN401
    """Return a model's answer as a value that follows the prompt's schema.

    The model is told once what is wrong with its answer, within the same time. Raises
    MinionFailed("nonsense") when it is still wrong.
    """
    until = time.monotonic() + prompt.seconds
    answer = generator.generate(prompt).text
    value, wrong = _read(answer, prompt, check)
    if wrong and (seconds := until - time.monotonic()) > 0:
        words = prompts.load("repair", language).filled(faults="; ".join(wrong))
        turns = (Turn("assistant", answer[:MAX_SHOWN]), Turn("user", words))
        again = replace(prompt, turns=(*prompt.turns, *turns), seconds=seconds)
        try:
            value, wrong = _read(generator.generate(again).text, prompt, check)
        except MinionFailed as failure:
            if failure.why != "too_long":  # no room to mend it: the answer was nonsense
                raise
    if wrong:
        told = f"The model {generator.id} gave no answer that can be used: {'; '.join(wrong)}."
        raise MinionFailed("nonsense", told)
    return value


def _read(text: str, prompt: Prompt, check: Check | None) -> tuple[Any, Sequence[str]]:
    """Return the value of an answer and what is wrong with it."""
    if len(text) > min(MAX_CHARACTERS, max(MAX_SHOWN, CHARACTERS_A_TOKEN * prompt.max_tokens)):
        return None, ("it is much longer than was asked for",)
    asked = [" ".join(turn.text.split()) for turn in prompt.turns if turn.role == "user"]
    given = " ".join(text.split())
    if any(len(one) > ECHOED and one[:ECHOED] in given for one in asked):
        return None, ("it repeats the question",)  # the example in it would pass for an answer
    try:
        value = parse_json(text)
    except ValueError as error:
        return None, (str(error),)
    return value, faults(value, prompt.schema) or (check(value) if check else ())


def parse_json(text: str) -> Any:  # noqa: ANN401
    """Return the JSON value of an answer that may stand in a fence or between words.

    Raises ValueError, in words that a model can act on, where there is none.
    """
    start = max(0, text.find("{") if "{" in text else text.find("["))
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(parse_float=_number).raw_decode(text, start)[0]
    if not text.strip():
        raise ValueError("the answer is empty")
    ends = text.rstrip()[-1:] in "}]"
    raise ValueError("it is not valid JSON" if ends else "it breaks off before the JSON ends")


def _number(text: str) -> float:
    """Return a number; 1.0 is an integer, since it is used as an index."""
    value = float(text)
    return int(value) if value.is_integer() else value


def faults(value: Any, schema: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return what is wrong with a value, each as a clause that names the place; empty if sound.

    In words of the schema's alone: what a model wrote may be anything.
    """
    from jsonschema import Draft202012Validator

    found = []
    for fault in islice(Draft202012Validator(schema).iter_errors(value), MAX_FAULTS):
        wanted = fault.validator_value
        if fault.validator == "required":
            wanted = next(name for name in wanted if repr(name) in fault.message)
        place = fault.json_path.replace("$", "answer", 1)
        found.append(f"{place} does not have the right {fault.validator} ({json.dumps(wanted)})")
    return tuple(found)
