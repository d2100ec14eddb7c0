"""Checks an answer against the part of JSON Schema that prompts use, and finds JSON in words.

A grammar makes a local model write valid JSON; a remote one may write what it likes, and either
may be cut in the middle. So every answer is checked before anybody believes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

MAX_FAULTS = 5
"""More are not told: a model that is told everything mends nothing."""
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
MAX_CHARACTERS = 65_536
"""Of an answer that is read. A longer one goes on for ever, or is made to cost time."""
_NAME = re.compile(r"[A-Za-z_]{1,20}")


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
    """Return what is wrong with a value, each as a clause that names the place; empty if sound."""
    found = []
    for fault in _faults(value, schema, "answer"):
        found.append(fault)
        if len(found) == MAX_FAULTS:
            break
    return tuple(found)


def _faults(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:  # noqa: ANN401
    shapes = schema.get("anyOf", schema.get("oneOf", ()))
    if shapes and all(any(_faults(value, one, place)) for one in shapes):
        yield f"{place} is none of the shapes allowed"
    wanted = schema.get("type")
    if wanted is not None and not _is(value, wanted):
        yield f"{place} should be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else [value])
    if value not in allowed:
        yield f"{place} should be one of {', '.join(map(str, allowed))}"
    if isinstance(value, str | list):
        yield from _sized(value, schema, place)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounded(value, schema, place)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _faults(item, schema.get("items", {}), f"{place}[{number}]")
    if isinstance(value, dict):
        yield from _object(value, schema, place)


def _is(value: Any, wanted: str | list[str]) -> bool:  # noqa: ANN401
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _sized(value: str | list[Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    kind, unit = ("Length", "characters") if isinstance(value, str) else ("Items", "items")
    low, high = schema.get(f"min{kind}"), schema.get(f"max{kind}")
    if low is not None and len(value) < low:
        yield f"{place} should have at least {low} {unit}"
    if high is not None and len(value) > high:
        yield f"{place} should have at most {high} {unit}"
    pattern = schema.get("pattern")
    if pattern is not None and isinstance(value, str) and not re.search(pattern, value):
        yield f"{place} should look like {pattern}"


def _bounded(value: float, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and value < low:
        yield f"{place} should be at least {low}"
    if high is not None and value > high:
        yield f"{place} should be at most {high}"


def _object(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}.{name} is missing"
    if schema.get("additionalProperties") is False:
        for name in value:
            if name not in known:
                shown = f".{name}" if _NAME.fullmatch(str(name)) else ""
                yield f"{place}{shown} should not be there" if shown else f"{place} has too much"
    for name, inner in known.items():
        if name in value:
            yield from _faults(value[name], inner, f"{place}.{name}")
