"""A note's properties: its front matter, read with dates and links as the text they are, and set.

Values are what Obsidian shows: `12:30`, `2026-02-20`, `yes` and `0123` are text, `[[Note]]` is
the text of a link, only whole numbers, `true`, `false` and nothing have types of their own.
Setting one changes its own lines: every other character is kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from vaultmind.errors import BadArgument
from vaultmind.vault.files import newline_of
from vaultmind.vault.oneline import yaml_string

# --- reading ----------------------------------------------------------------------------

MAX_FRONT_MATTER = 64_000
"""Number of characters from which on a front matter is a fault and is not parsed."""

_FRONT_MATTER = re.compile(r"(?ms)---[ \t]*\r?\n(.*?)^---[ \t]*\r?(?:\n|\Z)")
_YAML = YAMLHandler()
_KEY_LINE = re.compile(r"(?m)^([^\s:#\[\]{}][^:\r\n]*):(?:[ \t]([^\r\n]*))?\r?$")
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})")
_CONSTANTS = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A note's front matter. Offsets are into the note's text."""

    properties: dict[str, object]
    start: int
    """Where its first line starts, after the opening `---`."""
    end: int
    """Where the closing `---` starts."""
    body_start: int
    fault: str = ""
    """Why it could not be read whole; `properties` then holds what could be."""


class _Quoted(str):
    """A value that stands in quotes or in a block: text, whatever it looks like."""


class _Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """Gives every value as the text that was typed; the slow one where libyaml is missing."""

    def construct_scalar(self, node: yaml.ScalarNode) -> str:
        value = str(super().construct_scalar(node))
        return _Quoted(value) if node.style else value


def front_matter(text: str) -> FrontMatter | None:
    """Return a note's front matter; None when it has none.

    A horizontal rule at the top of a body is not front matter.
    """
    found = _FRONT_MATTER.match(text)
    if found is None:
        return None
    source, start, end, body = found[1], *found.span(1), found.end()
    try:
        if len(source) > MAX_FRONT_MATTER:
            raise ValueError(f"longer than {MAX_FRONT_MATTER} characters")
        if "*" in source and yaml.AliasEvent in map(type, yaml.parse(source, Loader=_Loader)):
            raise ValueError("aliases (*name) are not read")
        loaded = _shown(_YAML.load(source, Loader=_Loader))
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        lines = _recovered(source)
        return FrontMatter(lines, start, end, body, _reason(error)) if lines else None
    if loaded is None or isinstance(loaded, dict):
        return FrontMatter(loaded or {}, start, end, body)
    return None


def body_start(text: str) -> int:
    """Return where a text goes on after what looks like front matter, whatever that holds."""
    found = _FRONT_MATTER.match(text)
    return found.end() if found else 0


def words_of(value: object, split: str = ",") -> tuple[str, ...]:
    """Return a property's value as a list of words: a YAML list, or text split at `split`."""
    items = re.split(split, value) if isinstance(value, str) else value
    items = items if isinstance(items, list) else [items]
    words = (str(item).strip() for item in items if isinstance(item, (str, int, float)))
    return tuple(filter(None, words))


def _shown(value: Any) -> Any:  # noqa: ANN401
    """Return a value as Obsidian shows it: few types, `[[Note]]` as the text of a link."""
    if isinstance(value, dict):
        return {str(key): _shown(held) for key, held in value.items()}
    if isinstance(value, list):
        is_link = len(value) == 1 and isinstance(value[0], list)
        if is_link and all(isinstance(part, str) for part in value[0]):
            return f"[[{', '.join(value[0])}]]"
        return [_shown(one) for one in value]
    if isinstance(value, _Quoted):
        return str(value)
    if not isinstance(value, str):
        return value
    return int(value) if _INTEGER.fullmatch(value) else _CONSTANTS.get(value.lower(), value)


def _recovered(source: str) -> dict[str, object]:
    """Return the properties that stand on a line of their own, where YAML gave up."""
    if not _KEY_LINE.match(source.lstrip("\r\n")):
        return {}
    pairs = (match.groups("") for match in _KEY_LINE.finditer(source))
    return {key.strip().strip("\"'"): value.strip().strip("\"'") for key, value in pairs}


def _reason(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""  # the dashes are one
    return f"broken front matter: {' '.join(str(problem).split())}{where}"


# --- setting ----------------------------------------------------------------------------

PropertyValue = str | int | float | bool | None | list[str] | tuple[str, ...]

_KEY = re.compile(r"[^\s:#\[\]{},&*!|>'\"%@`-](?:[^:#\r\n]*[^\s:#])?")
_PLAIN = re.compile(
    r"(?!(?i:true|false|yes|no|on|off|y|n|null)\Z)"
    r"(?!.* {2})[^\W\d_](?:[\w ()./+@-]*[\w).])?"
    r"|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:[+-]\d\d:\d\d)?)?"
)
"""What stands without quotes: plain words, days and times."""
_FOLLOWING = r"(?:(?:[ \t]*\r?\n)*(?:[ \t]+\S|-(?=\s|\Z))[^\n]*(?:\n|\Z))*"
"""Lines that belong to a property: indented ones and items of a list, blank ones between them."""


def set_property(text: str, key: str, value: PropertyValue) -> str:
    """Return the text with one top-level property set; only its lines change.

    None takes it out. Front matter is made where there is none. Raises BadArgument for front
    matter that is broken: nothing is guessed about it.
    """
    if not _KEY.fullmatch(key):
        raise BadArgument("property", key, "a plain name on one line, without ':' or '#'")
    newline = newline_of(text)
    line = "" if value is None else f"{key}: {_rendered(value)}{newline}"
    found = front_matter(text)
    if found is None:
        return text if value is None else f"---{newline}{line}---{newline}{text}"
    if found.fault:
        raise BadArgument("front matter", found.fault, "a mapping of properties")
    start, end = _property_span(text, key, found.start, found.end) or (found.end, found.end)
    return text[:start] + line + text[end:]


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
