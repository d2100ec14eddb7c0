"""A note as data: its blocks, properties, headings, links, tags, named blocks, tasks. Reading only.

Blocks are as markdown-it reads them; Obsidian's `%%` comments are blocks as well. What stands
within a line is found by patterns.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

from vaultmind.vault.properties import front_matter, words_of

# --- blocks -----------------------------------------------------------------------------

Span = tuple[int, int]
UnitKind = Literal["heading", "paragraph", "list", "quote", "code"]

_UNITS: dict[str, UnitKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "fence": "code",
    "code_block": "code",
}
_MARK = "%%"
_CODE_OR_COMMENT = re.compile(rf"`+|{_MARK}")
_NOT_NEWLINE = re.compile(r"[^\r\n]")
_REMEMBERED = 8
"""Number of texts whose blocks are kept: several rooms read a note one after the other."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A block at the top of a note's tree. Offsets are without the last newline."""

    kind: UnitKind
    start: int
    end: int
    level: int = 0
    """Of a heading, 1 to 6."""
    text: str = ""
    """Of a heading."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a text is made of, each in order. Spans are offsets into the text."""

    units: tuple[Unit, ...]
    items: tuple[Span, ...]
    """List items outside quotations, each from its marker on, without the items inside it."""
    fences: tuple[Span, ...]
    code: tuple[Span, ...]
    """Fenced, indented and inline code."""
    comments: tuple[Span, ...]
    """`%%…%%`, marks included. One that never closes runs to the end of the text."""


@lru_cache(maxsize=_REMEMBERED)
def blocks_of(text: str, start: int = 0) -> Blocks:
    """Return the blocks of a text from `start` on, which is where a note's body begins."""
    source = text[start:].replace("\r", " ")  # as long as before; only \n ends a line
    lines = [start, *(start + end.end() for end in re.finditer("\n", source)), len(text)]
    units: list[Unit] = []
    items: list[list[int]] = []
    fences, code, comments, quotes = [], [], list[Span](), 0
    tokens = _PARSER.parse(source)
    for at, token in enumerate(tokens):
        quotes += token.nesting if token.type.startswith("blockquote") else 0
        begin, end = (lines[one] for one in token.map or (0, 0))
        if token.map is None or (comments and begin < comments[-1][1]):
            continue  # a comment may end outside of the list or quotation it began in
        kind, span = _UNITS.get(token.type), (begin, begin + len(text[begin:end].rstrip()))
        if kind and token.level == 0:
            is_heading = kind == "heading"
            words = " ".join(tokens[at + 1].content.split()) if is_heading else ""
            units.append(Unit(kind, *span, int(token.tag[1]) if is_heading else 0, words))
        if kind == "code":
            code.append(span)
            fences += [span] if token.type == "fence" else []
        elif token.type == "list_item_open" and not quotes:
            _add_item(items, text, begin, end)
        elif token.type == "comment":
            comments.append((start + token.meta["start"], start + token.meta["end"]))
        elif token.type == "inline":
            for first, last in _marked(text, begin, end):
                (comments if text.startswith(_MARK, first) else code).append((first, last))
    trimmed = tuple((first, first + len(text[first:last].rstrip())) for first, last in items)
    return Blocks(tuple(units), trimmed, tuple(fences), tuple(sorted(code)), tuple(comments))


def blanked(text: str, spans: Iterable[Span]) -> str:
    """Return the text, as long as before, with spaces for all but newlines in the spans."""
    pieces, done = [], 0
    for start, end in sorted(spans):
        begin = max(start, done)
        if end > begin:
            pieces += [text[done:begin], _NOT_NEWLINE.sub(" ", text[begin:end])]
            done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _add_item(items: list[list[int]], text: str, start: int, end: int) -> None:
    """Begin an item; the one that holds it ends here. Of several on a line, the first."""
    if items and items[-1][1] > start:
        if items[-1][0] >= start:
            return
        items[-1][1] = start
    items.append([end - len(text[start:end].lstrip(" \t")), end])


def _marked(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the code and the comments within a paragraph: each ends at the next equal mark."""
    marks = [found.span() for found in _CODE_OR_COMMENT.finditer(text, start, end)]
    following: dict[str, int] = {}
    pairs = [0] * len(marks)
    for at in range(len(marks) - 1, -1, -1):
        mark = text[slice(*marks[at])]
        pairs[at] = following.get(mark, 0)
        following[mark] = at
    at = 0
    while at < len(marks):
        if pairs[at]:
            yield marks[at][0], marks[pairs[at]][1]
            at = pairs[at]
        at += 1


def _comment(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a comment that begins its line: it runs to the next mark, however far, or to the end.

    One with text behind it on its only line is part of a paragraph.
    """
    start = state.bMarks[first] + state.tShift[first]
    if not state.src.startswith(_MARK, start) or state.is_code_block(first):
        return False
    closing = state.src.find(_MARK, start + len(_MARK))
    end = closing + len(_MARK) if closing >= 0 else len(state.src)
    if end <= state.eMarks[first] and state.src[end : state.eMarks[first]].strip():
        return False
    if not silent:
        state.line = first + 1
        while state.line < last and state.bMarks[state.line] < end:
            state.line += 1
        token = state.push("comment", "", 0)
        token.map, token.meta = [first, state.line], {"start": start, "end": end}
    return True


_PARSER = MarkdownIt("commonmark").disable("reference")
_PARSER.core.ruler.enableOnly(["block"])
_PARSER.block.ruler.before(
    "fence", "comment", _comment, RuleOptionsType(alt=["paragraph", "blockquote", "list"])
)


# --- what a note holds ------------------------------------------------------------------

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
    """A named block: its text from `start` to `end`, its `^id` up to `stop`."""

    id: str
    start: int
    end: int
    stop: int


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
    tree: Blocks
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
        tree=blocks,
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
    """Return the named blocks in order. An id on a line of its own names the block before it."""
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
        end = start + len(plain[start:limit].rstrip())
        found.append(BlockId(match[1], start, end, match.end(1)))
    return tuple(sorted(found, key=lambda one: one.start))


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


# --- canvases ---------------------------------------------------------------------------


def parse_canvas(text: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts of a canvas in the order of its file; broken JSON is a fault, no error."""
    try:
        nodes = json.loads(text).get("nodes") or [] if text.strip() else []
        return [str(card.get("text") or card.get("label") or "") for card in nodes], ()
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        return [], (f"broken canvas: {error}",)
