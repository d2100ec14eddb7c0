"""A note as data: properties, headings, links, tags, blocks, tasks. Reading only."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from vaultmind.vault.blocks import Blocks, Span, Unit, blanked, blocks_of
from vaultmind.vault.properties import front_matter, words_of

MAX_TAGS = 500
"""Number of a note's tags that are kept: each of its chunks carries them all."""

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\r\n]+?)\]\]")
_MARKDOWN_LINK = re.compile(
    r"(!?)\[[^\[\]\r\n]*\]\((<[^<>\r\n]+>|[^()\s]+)(?:[ \t]+\"[^\"\r\n]*\")?\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|/")
_TAG = re.compile(
    r"(?<![^\s{,;(])(?<!\]\()"  # after a space or a bracket, not in an address
    r"#([^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]+)"
)
_BLOCK_ID = re.compile(r"(?m)(?:(?<=[ \t])|^)\^([A-Za-z0-9-]+)[ \t]*\r?$")
_TASK = re.compile(
    r"(?m)^[ \t]*(?:>[ \t]*)*(?:[-+*]|\d{1,9}[.)])[ \t]+\[(.)\](?=[ \t]|\r?$)([^\r\n]*)"
)


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink or a relative Markdown link. `target` is empty within the same note."""

    target: str
    heading: str
    block: str
    embed: bool


@dataclass(frozen=True, slots=True)
class BlockId:
    """A named block: its text from `start` to `end`, its `^id` at `mark`."""

    id: str
    start: int
    end: int
    mark: int


@dataclass(frozen=True, slots=True)
class Task:
    """A list item with a tick box."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True)
class Note:
    """What a note holds. Every offset is into the text as given, newlines and all."""

    properties: dict[str, object]
    """Dates, times and links as the text that was typed."""
    title_property: str
    tags: tuple[str, ...]
    """From properties and text, without `#`; nested ones whole: `projects/oven`."""
    headings: tuple[Unit, ...]
    links: tuple[Link, ...]
    blocks: tuple[BlockId, ...]
    tasks: tuple[Task, ...]
    comments: tuple[Span, ...]
    """Spans of `%%…%%`, marks included."""
    units: tuple[Unit, ...]
    """The blocks at the top level: heading, paragraph, list, quote, code."""
    items: tuple[Span, ...]
    """Spans of list items, without the items inside them."""
    faults: tuple[str, ...]
    body_start: int


def parse_note(text: str) -> Note:
    """Return what a note holds; broken front matter is a fault, never an error.

    `text` has no byte order mark. Links, tags and the like in code and comments are not
    taken.
    """
    front = front_matter(text)
    properties = front.properties if front else {}
    body = front.body_start if front else 0
    blocks = blocks_of(text, body)
    plain = blanked(text, ((0, body), *blocks.code, *blocks.comments))
    title, tags = properties.get("title"), dict[str, str]()
    for tag in (*_tags_of(properties), *_tags_in(plain)):
        tags.setdefault(tag.casefold(), tag)
    return Note(
        properties=properties,
        title_property=str(title).strip() if isinstance(title, (str, int, float)) else "",
        tags=tuple(tags.values())[:MAX_TAGS],
        headings=tuple(unit for unit in blocks.units if unit.kind == "heading"),
        links=links_in(plain),
        blocks=_named_blocks(plain, blocks),
        tasks=tuple(Task(found[2].strip(), found[1] in "xX") for found in _TASK.finditer(plain)),
        comments=blocks.comments,
        units=blocks.units,
        items=blocks.items,
        faults=(front.fault,) if front and front.fault else (),
        body_start=body,
    )


def links_in(plain: str) -> tuple[Link, ...]:
    """Return the links of a text whose code and comments are blanked, in order."""
    found = []
    for match in _WIKILINK.finditer(plain) if "[[" in plain else ():
        found.append((match.start(), _link(re.split(r"\\?\|", match[2])[0], match[1])))
    for match in _MARKDOWN_LINK.finditer(plain) if "](" in plain else ():
        place = match[2].strip("<>")
        if not _SCHEME.match(place):
            found.append((match.start(), _link(unquote(place), match[1])))
    return tuple(link for _, link in sorted(found, key=lambda one: one[0]))


def _link(place: str, mark: str) -> Link:
    target, _, anchor = (part.strip() for part in place.partition("#"))
    block = anchor[1:].strip() if anchor.startswith("^") else ""
    return Link(target, "" if block else anchor, block, mark == "!")


def _tags_in(plain: str) -> Iterator[str]:
    """Yield the tags of a text, without `#`; a number is not a tag."""
    for match in _TAG.finditer(plain) if "#" in plain else ():
        tag = match[1].strip("/")
        if tag and not tag.isdigit():
            yield tag


def _named_blocks(plain: str, blocks: Blocks) -> tuple[BlockId, ...]:
    """Return the named blocks. An id on a line of its own names the block before it."""
    units = [(unit.start, unit.end) for unit in blocks.units]
    found = []
    for match in _BLOCK_ID.finditer(plain):
        mark = match.start()
        line = plain.rfind("\n", 0, mark) + 1
        at = bisect_left(units, (line, 0)) - 1
        if plain[line:mark].strip():
            start = max(_holding(units, mark), _holding(blocks.items, mark))
            start, limit = (start if start >= 0 else line), mark
        elif at >= 0:
            start, limit = units[at][0], min(units[at][1], line)
        else:
            start, limit = line, mark
        found.append(BlockId(match[1], start, start + len(plain[start:limit].rstrip()), mark))
    return tuple(found)


def _holding(spans: Sequence[Span], mark: int) -> int:
    """Return the start of the last span that holds an offset, or -1."""
    at = bisect_left(spans, (mark + 1, 0)) - 1
    return spans[at][0] if at >= 0 and mark < spans[at][1] else -1


def _tags_of(properties: dict[str, object]) -> Iterator[str]:
    """Yield the tags in a note's properties; their names' case does not matter, as in Obsidian."""
    for key in ("tags", "tag"):
        for value in (held for name, held in properties.items() if name.lower() == key):
            for word in words_of(value, r"[,\s]+"):
                if tag := word.lstrip("#").strip("/ "):
                    yield tag
