"""The blocks of a note, as markdown-it reads them; Obsidian's `%%` comments are blocks as well.

Only blocks are parsed: what stands within a line is found by `vault.markdown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

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
_NOT_BLANK = re.compile(r"[^ \t]")
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
    marker = _NOT_BLANK.search(text, start)
    items.append([marker.start() if marker else start, end])


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
