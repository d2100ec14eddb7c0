"""Surgical edits of a note's text. Pure: text in, text out, every other character kept."""

from __future__ import annotations

import json
import re

from vaultmind.errors import BadArgument
from vaultmind.vault.files import Newline
from vaultmind.vault.files import newline_of as newline_of  # noqa: PLC0414  # others take it from here
from vaultmind.vault.nesting import yaml_string
from vaultmind.vault.properties import front_matter

PropertyValue = str | int | float | bool | None | list[str] | tuple[str, ...]

_KEY = re.compile(r"[^\s:#\[\]{},&*!|>'\"%@`-](?:[^:#\r\n]*[^\s:#])?")
_PLAIN = re.compile(
    r"(?!(?i:true|false|yes|no|on|off|y|n|null)\Z)"
    r"(?!.* {2})[^\W\d_](?:[\w ()./+@-]*[\w).])?"
)
"""What is text in YAML without quotes."""
_FOLLOWING = r"(?:(?:[ \t]*\r?\n)*(?:[ \t]+\S|-(?=\s|\Z))[^\n]*(?:\n|\Z))*"
"""Lines that belong to a property: indented ones and items of a list, blank ones between them."""


def line_span(text: str, start: int, end: int | None = None) -> tuple[int, int]:
    """Return the span of the whole lines that hold `start` to `end`, last newline included."""
    last = start if end is None or end <= start else end - 1
    first, stop = text.rfind("\n", 0, start) + 1, text.find("\n", last)
    return first, len(text) if stop < 0 else stop + 1


def end_line(text: str) -> str:
    """Return the text with its last line ended, if it has one that is not."""
    return text if not text or text.endswith("\n") else text + newline_of(text)


def with_newlines(text: str, newline: Newline) -> str:
    """Return the text with every line break as `newline`."""
    return re.sub(r"\r\n?|\n", newline, text)


def set_property(text: str, key: str, value: PropertyValue) -> str:
    """Return the text with one top-level property set; only its lines change.

    Front matter is made where there is none. Raises BadArgument for front matter that is
    broken: nothing is guessed about it.
    """
    if not _KEY.fullmatch(key):
        raise BadArgument("property", key, "a plain name on one line, without ':' or '#'")
    newline = newline_of(text)
    line = f"{key}: {_rendered(value)}{newline}"
    found = front_matter(text)
    if found is None:
        return f"---{newline}{line}---{newline}{text}"
    if found.fault:
        raise BadArgument("front matter", found.fault, "a mapping of properties")
    start, end = _property_span(text, key, found.start, found.end) or (found.end, found.end)
    return text[:start] + line + text[end:]


def remove_property(text: str, key: str) -> str:
    """Return the text without one top-level property; the same text when it has none."""
    found = front_matter(text)
    if found is None or found.fault:
        return text
    span = _property_span(text, key, found.start, found.end)
    return text if span is None else text[: span[0]] + text[span[1] :]


def _property_span(text: str, key: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of a property's lines: its own and the indented ones that follow."""
    name = re.escape(key)
    own = rf"(?m)^(?:{name}|\"{name}\"|'{name}')[ \t]*:[^\n]*(?:\n|\Z){_FOLLOWING}"
    match = re.compile(own).search(text, start, end)
    return match.span() if match else None


def _rendered(value: PropertyValue) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_rendered, value))}]"
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else yaml_string(value)
    return json.dumps(value)
