"""A note's properties: its front matter, read with dates and links as the text they are.

Values are what Obsidian shows: `12:30`, `2026-02-20`, `yes` and `0123` are text, `[[Note]]` is
the text of a link, only plain numbers, `true`, `false` and nothing have types of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

MAX_FRONT_MATTER = 64_000
"""Number of characters from which on a front matter is a fault and is not parsed."""
MAX_DEPTH = 50
"""Number of lists and mappings inside each other, beyond which the parser's stack is at risk."""

_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"(?m)^---[ \t]*(?:\r?\n|\Z)")
_KEY_LINE = re.compile(r"(?m)^([^\s:#\[\]{}][^:\r\n]*):(?:[ \t]([^\r\n]*))?\r?$")


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


def front_matter(text: str) -> FrontMatter | None:
    """Return a note's front matter; None when it has none.

    A horizontal rule at the top of a body is not front matter.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    start, end, body = opening.end(), closing.start(), closing.end()
    source = text[start:end]
    try:
        loaded = _load(source)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        recovered = _recovered(source)
        if not recovered:
            return None
        return FrontMatter(recovered, start, end, body, _reason(error))
    if loaded is None:
        return FrontMatter({}, start, end, body)
    if not isinstance(loaded, dict):
        return None
    return FrontMatter({str(key): value for key, value in loaded.items()}, start, end, body)


def words_of(value: object, split: str = ",") -> tuple[str, ...]:
    """Return a property's value as a list of words: a YAML list, or text split at `split`."""
    if isinstance(value, str):
        items: list[object] = list(re.split(split, value))
    else:
        items = list(value) if isinstance(value, list) else [value]
    words = (str(item).strip() for item in items if isinstance(item, (str, int, float)))
    return tuple(word for word in words if word)


class _Loader(_SafeLoader):
    """YAML as Obsidian shows it: few types, links kept as text."""

    source = ""
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


def _load(source: str) -> object:
    _check(source)
    loader = _Loader(source)
    loader.source = source
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def nodes_of(source: str) -> yaml.Node | None:
    """Return the tree of a YAML text; None for one that `front_matter` would not parse."""
    try:
        _check(source)
        return yaml.compose(source, Loader=_SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _check(source: str) -> None:
    """Raise ValueError for what would fell the parser: it recurses on the machine's own stack."""
    if len(source) > MAX_FRONT_MATTER:
        raise ValueError(f"longer than {MAX_FRONT_MATTER} characters")
    if "*" not in source and sum(map(source.count, "[{-?:")) <= MAX_DEPTH:
        return
    depth = 0
    for event in yaml.parse(source, Loader=_SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("aliases (*name) are not read")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")


def _recovered(source: str) -> dict[str, object]:
    """Return the properties that stand on a line of their own, where YAML gave up."""
    first = source.lstrip("\r\n").split("\n", 1)[0]
    if not _KEY_LINE.match(first.rstrip("\r")):
        return {}
    pairs = ((m.group(1), m.group(2) or "") for m in _KEY_LINE.finditer(source))
    return {key.strip().strip("\"'"): value.strip().strip("\"'") for key, value in pairs}


def _reason(error: Exception) -> str:
    problem = getattr(error, "problem", None) or str(error) or type(error).__name__
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2})" if mark is not None else ""
    return f"broken front matter: {' '.join(str(problem).split())}{where}"


def _sequence(loader: Any, node: yaml.SequenceNode) -> object:  # noqa: ANN401
    """Return a list; the text of a link, or of several, where `[[` opens it."""
    if node.flow_style and len(node.value) == 1:
        inner = node.value[0]
        if isinstance(inner, yaml.SequenceNode) and inner.flow_style:
            typed = loader.source[node.start_mark.index : node.end_mark.index]
            if typed.startswith("[[") and typed.endswith("]]"):
                return " ".join(typed.split())
    return loader.construct_sequence(node, deep=True)


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, object]:  # noqa: ANN401
    pairs = {}
    for key, value in node.value:
        name = loader.construct_object(key, deep=True)
        pairs[name if isinstance(name, str) else str(name)] = loader.construct_object(
            value, deep=True
        )
    return pairs


def _text(loader: Any, node: yaml.Node) -> object:  # noqa: ANN401
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


def _number(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"{pattern}\Z")


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", _number(r"(?:true|True|TRUE|false|False|FALSE)"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", _number(r"(?:~|null|Null|NULL|)"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", _number(r"[-+]?(?:0|[1-9]\d{0,17})"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    _number(r"[-+]?(?:0|[1-9]\d{0,17})\.\d{1,17}(?:[eE][-+]?\d{1,2})?"),
    list("-+0123456789"),
)
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
_Loader.add_constructor("tag:yaml.org,2002:seq", _sequence)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
for _tag in ("timestamp", "binary", "value", "merge"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _text)
