"""What stands within the lines of a note: links, tags, block ids, fields, tasks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from vaultmind.vault.structure import Structure

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\r\n]+?)\]\]")
_MARKDOWN_LINK = re.compile(
    r"(!?)\[([^\[\]\r\n]*)\]\((<[^<>\r\n]+>|[^()\s]+)(?:[ \t]+\"[^\"\r\n]*\")?\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/")
_TAG = re.compile(r"#([^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+)")
_BLOCK_ID = re.compile(r"(?m)(?:(?<=[ \t])|^)\^([A-Za-z0-9-]+)[ \t]*\r?$")
_FIELD = re.compile(
    r"(?m)^[ \t]*(?:>[ \t]*)*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?"
    r"([^\W\d_][^:\[\]()|`\r\n]{0,60}?)[ \t]*::(?=[ \t\r\n]|$)([^\r\n]*)"
)
_BRACKET_FIELD = re.compile(r"[\[(]([^\W\d_][^:\[\]()|`\r\n]{0,60}?)::[ \t]*([^\[\]()\r\n]*)[\])]")
_TASK = re.compile(
    r"(?m)^[ \t]*(?:>[ \t]*)*(?:[-+*]|\d{1,9}[.)])[ \t]+"
    r"\[(.)\](?=[ \t]|\r?$)([^\r\n]*)"
)
_CALLOUT = re.compile(r"(?:[ \t]*>)+[ \t]*\[!([^\]\r\n]+)\]([-+]?)[ \t]*([^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink or a relative Markdown link. `target` is empty within the same note."""

    target: str
    heading: str
    block: str
    alias: str
    embed: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BlockId:
    """A named block: its text from `start` to `end`, its `^id` at `mark`."""

    id: str
    start: int
    end: int
    mark: int


@dataclass(frozen=True, slots=True)
class Field:
    """An inline field, `key:: value`."""

    key: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Task:
    """A list item with a tick box. `mark` is what stands in the box."""

    text: str
    done: bool
    mark: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Callout:
    """A quotation that begins with `[!kind]`."""

    kind: str
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Starts:
    units: list[tuple[int, int]]
    items: list[tuple[int, int]]


def links_in(plain: str) -> tuple[Link, ...]:
    """Return the links of a text whose code and comments are blanked, in order."""
    found = list(_wikilinks(plain)) if "[[" in plain else []
    if "](" in plain:
        found = sorted([*found, *_markdown_links(plain)], key=lambda link: link.start)
    return tuple(found)


def tags_in(plain: str) -> Iterator[str]:
    """Yield the tags of a text, without `#`; a number is not a tag."""
    if "#" in plain:
        for match in _TAG.finditer(plain):
            tag = match.group(1).strip("/")
            if tag and not tag.isdigit() and _may_precede_tag(plain, match.start()):
                yield tag


def _may_precede_tag(plain: str, at: int) -> bool:
    """Tell whether a tag may begin here: after a space or a bracket, not in an address."""
    before = plain[at - 1 : at]
    if not before or before.isspace() or before in "{,;":
        return True
    return before == "(" and plain[at - 2 : at - 1] != "]"


def blocks_in(plain: str, structure: Structure) -> tuple[BlockId, ...]:
    """Return the named blocks. An id on a line of its own names the block before it."""
    if "^" not in plain:
        return ()
    starts = _Starts([(one.start, one.end) for one in structure.units], sorted(structure.items))
    return tuple(
        BlockId(match.group(1), *_block_span(plain, match.start(), starts), match.start())
        for match in _BLOCK_ID.finditer(plain)
    )


def fields_in(plain: str) -> tuple[Field, ...]:
    """Return the inline fields of a text, in order."""
    if "::" not in plain:
        return ()
    found = [*_FIELD.finditer(plain), *_BRACKET_FIELD.finditer(plain)]
    found.sort(key=lambda match: match.start(1))
    return tuple(Field(m[1].strip(), m[2].strip(), m.start(1), m.end()) for m in found)


def tasks_in(plain: str) -> tuple[Task, ...]:
    """Return the tasks of a text, in order."""
    if "[" not in plain:
        return ()
    return tuple(
        Task(m[2].strip(), m[1] in "xX", m[1], m.start(), m.end(2)) for m in _TASK.finditer(plain)
    )


def callouts_in(plain: str, structure: Structure) -> tuple[Callout, ...]:
    """Return the callouts at the top level of a note."""
    found = []
    for unit in structure.units:
        if unit.kind == "quote" and (match := _CALLOUT.match(plain, unit.start, unit.end)):
            kind, title = match[1].strip().lower(), match[3].strip()
            found.append(Callout(kind, title, unit.start, unit.end))
    return tuple(found)


def _wikilinks(plain: str) -> Iterator[Link]:
    for match in _WIKILINK.finditer(plain):
        inner = match.group(2).replace("\\|", "|")
        place, _, alias = inner.partition("|")
        yield _link(place, alias.strip(), match)


def _markdown_links(plain: str) -> Iterator[Link]:
    for match in _MARKDOWN_LINK.finditer(plain):
        place = match.group(3).strip("<>")
        if not _SCHEME.match(place):
            yield _link(unquote(place), match.group(2), match)


def _link(place: str, alias: str, match: re.Match[str]) -> Link:
    target, _, anchor = place.partition("#")
    block = anchor[1:].strip() if anchor.startswith("^") else ""
    heading = "" if block else anchor.strip()
    embed = match.group(1) == "!"
    return Link(target.strip(), heading, block, alias, embed, match.start(), match.end())


def _block_span(plain: str, mark: int, starts: _Starts) -> tuple[int, int]:
    line = plain.rfind("\n", 0, mark) + 1
    if plain[line:mark].strip():
        start = max(_holding(starts.units, mark), _holding(starts.items, mark))
        start = start if start >= 0 else line
        return start, start + len(plain[start:mark].rstrip())
    at = bisect_left(starts.units, (line, 0)) - 1
    if at < 0:
        return line, mark
    start, end = starts.units[at]
    return start, min(end, start + len(plain[start:line].rstrip()))


def _holding(spans: list[tuple[int, int]], mark: int) -> int:
    """Return the start of the last span that holds an offset, or -1."""
    at = bisect_left(spans, (mark + 1, 0)) - 1
    return spans[at][0] if at >= 0 and mark < spans[at][1] else -1
