"""A JSON file edited as text: members and items put in or taken out, all else as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT = re.compile(r"\{\s*?\n([ \t]+)\S")
_DECODER = json.JSONDecoder()
USUAL_INDENT = "  "


@dataclass(frozen=True, slots=True)
class _Member:
    """One `"key": value` of an object, or one string of an array: where it stands in the text."""

    key: str
    start: int
    value: int
    end: int


def with_member(text: str, way: tuple[str, ...], value: Any) -> str:  # noqa: ANN401
    """Return the text of an object with a value put in at the end of a way of keys.

    Objects on the way are made where they are missing. Raises ValueError for broken JSON.
    """
    body = text.lstrip("\ufeff")
    if not body.strip():
        return json.dumps(_nested(way, value), ensure_ascii=False, indent=USUAL_INDENT) + "\n"
    start = _over_space(text, len(text) - len(body))
    depth = 1
    for number, key in enumerate(way):
        members, _ = _members(text, start)
        found = next((one for one in reversed(members) if one.key == key), None)
        rest = way[number + 1 :]
        if found is None:
            return _put_in(text, start, members, key, _nested(rest, value), depth)
        if not rest:
            written = _written(text, value, depth)
            return text[: found.value] + written + text[found.end :]
        start, depth = found.value, depth + 1
    return text


def without_member(text: str, way: tuple[str, ...]) -> str:
    """Return the text of an object without the member at the end of a way of keys.

    The comma that tied it to its neighbour goes too. Raises ValueError for broken JSON.
    """
    start = _over_space(text, len(text) - len(text.lstrip("\ufeff")))
    for number, key in enumerate(way):
        members, end = _members(text, start)
        places = [n for n, one in enumerate(members) if one.key == key]
        if not places:
            return text
        place = places[-1]
        if number == len(way) - 1:
            return _taken_out(text, start, end, members, place)
        start = members[place].value
    return text


def with_items(text: str, way: tuple[str, ...], items: Sequence[str]) -> str:
    """Return the text with strings put in at the end of the array at the end of a way of keys.

    Those that are there stay where they are; the array is made where it is missing. Raises
    ValueError for broken JSON.
    """
    found = _array(text, way)
    there = [one.key for one in found[0]] if found else []
    new = [one for one in items if one not in there]
    if not new:
        return text
    if found is None or not found[0]:
        return with_member(text, way, new)
    elements, start = found[0], found[1]
    between = text[start + 1 : elements[0].start]
    joint = between if "\n" in between else " "
    more = "".join(f",{joint}{json.dumps(one, ensure_ascii=False)}" for one in new)
    return text[: elements[-1].end] + more + text[elements[-1].end :]


def without_items(text: str, way: tuple[str, ...], items: Collection[str]) -> str:
    """Return the text without strings of the array at the end of a way of keys, commas and all.

    Raises ValueError for broken JSON.
    """
    while found := _array(text, way):
        elements, start, end = found
        place = next((n for n, one in enumerate(elements) if one.key in items), None)
        if place is None:
            break
        text = _taken_out(text, start, end, elements, place)
    return text


def with_element(text: str, way: tuple[str, ...], value: Any) -> str:  # noqa: ANN401
    """Return the text with a value put in at the end of the array at the end of a way of keys.

    What is there stays as it is; the array is made where it is missing. Raises ValueError for
    broken JSON.
    """
    found = _array(text, way)
    if found is None or not found[0]:
        return with_member(text, way, [value])
    elements, start = found[0], found[1]
    between = text[start + 1 : elements[0].start]
    joint = between if "\n" in between else " "
    deep = len(between.rpartition("\n")[2]) // max(1, len(_step(text)))
    shown = _written(text, value, deep if "\n" in between else -1)
    end = elements[-1].end
    return f"{text[:end]},{joint}{shown}{text[end:]}"


def without_elements(text: str, way: tuple[str, ...], places: Collection[int]) -> str:
    """Return the text without some elements of the array at the end of a way, commas and all.

    Raises ValueError for broken JSON.
    """
    for place in sorted(places, reverse=True):
        if found := _array(text, way):
            elements, start, end = found
            text = _taken_out(text, start, end, elements, place)
    return text


def dumped(content: Any, before: str) -> str:  # noqa: ANN401
    """Return content written anew, laid out as the text before was."""
    if before.strip("\ufeff \t\r\n") and "\n" not in before.strip():
        return json.dumps(content, ensure_ascii=False) + _tail(before)
    return json.dumps(content, ensure_ascii=False, indent=_step(before)) + "\n"


def _members(text: str, start: int) -> tuple[list[_Member], int]:
    """Return the members of the object that begins at `start`, and where its brace closes."""
    if text[start : start + 1] != "{":
        raise ValueError("no object")
    members: list[_Member] = []
    position = _over_space(text, start + 1)
    while text[position : position + 1] == '"':
        key, after = _DECODER.raw_decode(text, position)
        value = _over_space(text, _over_space(text, after) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, position, value, end))
        position = _over_space(text, end)
        if text[position : position + 1] == ",":
            position = _over_space(text, position + 1)
    if text[position : position + 1] != "}":
        raise ValueError("an object does not end")
    return members, position


def _array(text: str, way: tuple[str, ...]) -> tuple[list[_Member], int, int] | None:
    """Return the elements of the array at the end of a way, where it begins and where it closes.

    An element's key is its string, empty for what is none. None where the way does not lead on.
    """
    start = _over_space(text, len(text) - len(text.lstrip("\ufeff")))
    for key in way:
        members, _ = _members(text, start) if text[start:].strip() else ([], 0)
        found = next((one for one in reversed(members) if one.key == key), None)
        if found is None:
            return None
        start = found.value
    if text[start : start + 1] != "[":
        raise ValueError("no array")
    elements: list[_Member] = []
    position = _over_space(text, start + 1)
    while text[position : position + 1] not in ("]", ""):
        value, end = _DECODER.raw_decode(text, position)
        elements.append(_Member(value if isinstance(value, str) else "", position, position, end))
        position = _over_space(text, end)
        if text[position : position + 1] == ",":
            position = _over_space(text, position + 1)
    return elements, start, position


def _put_in(
    text: str,
    start: int,
    members: list[_Member],
    key: str,
    value: Any,  # noqa: ANN401
    depth: int,
) -> str:
    """Return the text with a last member more in the object at `start`."""
    name = json.dumps(key, ensure_ascii=False)
    if members:
        last = members[-1]
        between = text[start + 1 : members[0].start]
        joint = between if "\n" in between else " "
        deep = len(between.rpartition("\n")[2]) // max(1, len(_step(text)))
        shown = _written(text, value, deep if "\n" in between else -1)
        return f"{text[: last.end]},{joint}{name}: {shown}{text[last.end :]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    end = text.index("}", start)
    laid_out = "\n" in text.strip() or depth == 1
    step = _step(text)
    shown = f"{name}: {_written(text, value, depth if laid_out else -1)}"
    if not laid_out:
        return f"{text[: start + 1]}{shown}{text[end:]}"
    inside = f"{newline}{step * depth}{shown}{newline}{step * (depth - 1)}"
    return f"{text[: start + 1]}{inside}{text[end:]}"


def _taken_out(text: str, start: int, end: int, members: list[_Member], place: int) -> str:
    if len(members) == 1:
        return text[: start + 1] + text[end:]
    if place == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[place - 1].end] + text[members[place].end :]


def _written(text: str, value: Any, depth: int) -> str:  # noqa: ANN401
    """Return a value as it is written at a depth of the text; on one line for a depth below 0."""
    if depth < 0 or ("\n" not in text.strip() and depth > 1):
        return json.dumps(value, ensure_ascii=False)
    step = _step(text)
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{newline}{step * depth}".join(lines)


def _nested(way: tuple[str, ...], value: Any) -> Any:  # noqa: ANN401
    for key in reversed(way):
        value = {key: value}
    return value


def _step(text: str) -> str:
    found = _FIRST_INDENT.search(text)
    return found.group(1) if found else USUAL_INDENT


def _tail(text: str) -> str:
    return text[len(text.rstrip()) :]


def _over_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
