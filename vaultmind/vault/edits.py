"""Surgical edits of a note's text. Pure: text in, text out, every other character kept."""

from __future__ import annotations

import json
import re

from vaultmind.errors import BadArgument
from vaultmind.vault.files import Newline
from vaultmind.vault.files import newline_of as newline_of  # noqa: PLC0414  # others take it from here
from vaultmind.vault.properties import front_matter

PropertyValue = str | int | float | bool | None | list[str] | tuple[str, ...]

_KEY = re.compile(r"[^\s:#\[\]{},&*!|>'\"%@`-][^:#\r\n]*")
_PLAIN = re.compile(r"[\w(][\w (),./+@_-]*[\w).]|\w", re.UNICODE)
_TYPED = re.compile(
    r"(?i)true|false|yes|no|on|off|y|n|null|~|[-+.]?\d[\d_.,:eE+-]*|0[xob][\da-f_]+"
)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def line_span(text: str, start: int, end: int | None = None) -> tuple[int, int]:
    """Return the span of the whole lines that hold `start` to `end`, last newline included."""
    last = max(start, (start if end is None else end) - (0 if end in (None, start) else 1))
    first = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", last)
    return first, len(text) if stop < 0 else stop + 1


def delete_lines(text: str, start: int, end: int | None = None) -> str:
    """Return the text without the whole lines that hold `start` to `end`."""
    first, stop = line_span(text, start, end)
    return text[:first] + text[stop:]


def insert_line_after(text: str, offset: int, line: str) -> str:
    """Return the text with a line (or lines) put after the line that holds `offset`.

    The new lines end as the text's do. Where the text's last line has no newline, it gets
    one and the new last line has none, so that the file ends as it did.
    """
    newline = newline_of(text)
    new = with_newlines(line, newline)
    _, stop = line_span(text, offset)
    if stop == len(text) and not text.endswith("\n"):
        return text + (newline if text else "") + new
    return text[:stop] + new + newline + text[stop:]


def insert_line_before(text: str, offset: int, line: str) -> str:
    """Return the text with a line (or lines) put before the line that holds `offset`."""
    newline = newline_of(text)
    first, _ = line_span(text, offset)
    return text[:first] + with_newlines(line, newline) + newline + text[first:]


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
    line = f"{_checked_key(key)}: {_rendered(value)}"
    found = front_matter(text)
    newline = newline_of(text)
    if found is None:
        return f"---{newline}{line}{newline}---{newline}{text}"
    if found.fault:
        raise BadArgument("front matter", found.fault, "a mapping of properties")
    span = _property_span(text, key, found.start, found.end)
    if span is None:
        return text[: found.end] + line + newline + text[found.end :]
    return text[: span[0]] + line + newline + text[span[1] :]


def remove_property(text: str, key: str) -> str:
    """Return the text without one top-level property; the same text when it has none."""
    found = front_matter(text)
    if found is None or found.fault:
        return text
    span = _property_span(text, key, found.start, found.end)
    return text if span is None else text[: span[0]] + text[span[1] :]


def _property_span(text: str, key: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of a property's lines: its own and the indented ones that follow."""
    own = re.compile(rf"(?m)^(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')[ \t]*:")
    match = own.search(text, start, end)
    if match is None or (match.start() > start and text[match.start() - 1] != "\n"):
        return None
    stop = line_span(text, match.start())[1]
    kept = stop
    while kept < end:
        following = line_span(text, kept)
        line = text[following[0] : following[1]]
        if line.strip() and not re.match(r"[ \t]|-(?:[ \t\r\n]|$)", line):
            break
        kept = following[1]
        stop = kept if line.strip() else stop
    return match.start(), min(stop, end)


def _checked_key(key: str) -> str:
    if not _KEY.fullmatch(key) or key != key.strip():
        raise BadArgument("property", key, "a plain name on one line, without ':' or '#'")
    return key


def _rendered(value: PropertyValue) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_scalar(item) for item in value) + "]"
    if isinstance(value, str):
        return _scalar(value)
    return json.dumps(value)


def _scalar(value: str) -> str:
    """Return a string as YAML: plain where that is safe, otherwise in double quotes."""
    plain = _PLAIN.fullmatch(value) and not _TYPED.fullmatch(value) and "  " not in value
    if plain and "," not in value:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
