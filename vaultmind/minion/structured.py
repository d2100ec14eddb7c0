"""Asking a model for JSON, and checking the answer before anybody believes it.

A grammar makes a local model write valid JSON; a remote one may write what it likes, and either
may be cut in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from vaultmind.errors import MinionFailed
from vaultmind.ports import Generator
from vaultmind.types import Prompt

MAX_CHARACTERS = 65_536
"""Of an answer that is read. A longer one goes on for ever, or is made to cost time."""
ECHOED = 120
"""Characters of a question, from its beginning, by which an answer that repeats it is known."""
MAX_FAULTS = 5
"""More are not told."""


def ask_json(generator: Generator, prompt: Prompt) -> Any:  # noqa: ANN401
    """Return a model's answer as a value that follows the prompt's schema.

    Raises MinionFailed("nonsense") for any other.
    """
    value, wrong = _read(generator.generate(prompt).text, prompt)
    if wrong:
        told = f"The model {generator.id} gave no usable answer: {'; '.join(wrong)}."
        raise MinionFailed("nonsense", told)
    return value


def _read(text: str, prompt: Prompt) -> tuple[Any, Sequence[str]]:
    """Return the value of an answer and what is wrong with it."""
    if len(text) > MAX_CHARACTERS:
        return None, ("it is much longer than was asked for",)
    asked = [" ".join(turn.text.split()) for turn in prompt.turns if turn.role == "user"]
    given = " ".join(text.split())
    if any(len(one) > ECHOED and one[:ECHOED] in given for one in asked):
        return None, ("it repeats the question",)  # the example in it would pass for an answer
    try:
        value = parse_json(text)
    except ValueError as error:
        return None, (str(error),)
    return value, faults(value, prompt.schema)


def parse_json(text: str) -> Any:  # noqa: ANN401
    """Return the JSON value of an answer that may stand in a fence or between words.

    Raises ValueError, in words, where there is none.
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
    return int(float(text)) if float(text).is_integer() else float(text)


def faults(value: Any, schema: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return what is wrong with a value, each as a clause that names the place; empty if sound.

    In words of the schema's alone: what a model wrote may be anything.
    """
    from jsonschema import Draft202012Validator

    found = []
    for fault in islice(Draft202012Validator(schema).iter_errors(value), MAX_FAULTS):
        place, wanted = fault.json_path.replace("$", "answer", 1), json.dumps(fault.validator_value)
        found.append(f"{place} does not have the right {fault.validator} ({wanted})")
    return tuple(found)
