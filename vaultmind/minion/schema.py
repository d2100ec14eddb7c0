"""Checks an answer against its JSON Schema, and finds JSON in words.

A grammar makes a local model write valid JSON; a remote one may write what it likes, and either
may be cut in the middle. So every answer is checked before anybody believes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any

MAX_FAULTS = 5
"""More are not told: a model that is told everything mends nothing."""
_WORDS = {
    "type": "should be {}",
    "enum": "should be one of {}",
    "const": "should be {}",
    "minItems": "should have at least {} items",
    "maxItems": "should have at most {} items",
    "minLength": "should have at least {} characters",
    "maxLength": "should have at most {} characters",
    "minimum": "should be at least {}",
    "maximum": "should be at most {}",
    "pattern": "should look like {}",
    "additionalProperties": "has too much",
    "anyOf": "is none of the shapes allowed",
    "oneOf": "is none of the shapes allowed",
}
MAX_CHARACTERS = 65_536
"""Of an answer that is read. A longer one goes on for ever, or is made to cost time."""


def parse_json(text: str) -> Any:  # noqa: ANN401
    """Return the JSON value of an answer that may stand in a fence or between words.

    Raises ValueError, in words that a model can act on, where there is none. Its time grows as
    the answer does: a fence of nothing but line breaks is what some servers' JSON ends up as.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the answer has more than {MAX_CHARACTERS:,} characters")
    start = text.find("{") if "{" in text else text.find("[")
    for piece in (text, *_fenced(text)):
        with suppress(ValueError, RecursionError):
            return json.loads(piece)
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, max(0, start))[0]
    if not text.strip():
        raise ValueError("the answer is empty")
    ends = text.rstrip()[-1:] in "}]"
    raise ValueError("it is not valid JSON" if ends else "it breaks off before the JSON ends")


def _fenced(text: str) -> Iterator[str]:
    """Yield what stands between two fences, if it is JSON or nobody says what it is."""
    for piece in text.split("```")[1:-1:2]:
        name, newline, inner = piece.partition("\n")
        if newline and name.strip() in ("", "json"):
            yield inner


def faults(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ANN401
    """Return what is wrong with a value, each as a clause that names the place; empty if sound.

    In words of the schema's alone: what a model calls a property may be anything.
    """
    found = _checker()(schema).iter_errors(value)
    return tuple(_clause(fault) for fault in islice(found, MAX_FAULTS))


@cache
def _checker() -> Any:  # noqa: ANN401
    """Return the validator; a number such as 1.0 is no integer, since it is used as an index."""
    from jsonschema import Draft202012Validator, validators

    def is_integer(_: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    return validators.extend(Draft202012Validator, type_checker=types)


def _clause(fault: Any) -> str:  # noqa: ANN401
    steps = fault.absolute_path
    place = "answer" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in steps)
    wanted = fault.validator_value
    if fault.validator == "required":
        missing = next(name for name in wanted if repr(name) in fault.message)
        return f"{place}.{missing} is missing"
    if isinstance(wanted, list) and fault.validator in ("enum", "type"):
        wanted = ", ".join(map(str, wanted))
    return f"{place} {_WORDS.get(fault.validator, 'has a wrong form').format(wanted)}"
