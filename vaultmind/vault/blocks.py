"""The blocks of a note, as markdown-it reads them; Obsidian's `%%` comments are blocks as well.

Only blocks are parsed: what stands within a line is found by `vault.markdown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

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
    lines = [start, *(start + end.end() for end in re.finditer("\n", source))]
    walk = _Walk(text, [*lines, len(text)])
    tokens = _PARSER.parse(source)
    for at, token in enumerate(tokens):
        walk.take(token, tokens[at + 1].content if token.type == "heading_open" else "")
    return Blocks(
        tuple(walk.units),
        tuple(walk.trimmed(*item) for item in walk.items),
        tuple(walk.fences),
        tuple(sorted(walk.code)),
        tuple(walk.comments),
    )


def blanked(text: str, spans: Iterable[Span]) -> str:
    """Return the text, as long as before, with spaces for all but newlines in the spans."""
    pieces, done = [], 0
    for start, end in sorted(spans):
        begin = max(start, done)
        if end > begin:
            pieces += [text[done:begin], _NOT_NEWLINE.sub(" ", text[begin:end])]
            done = end
    return "".join([*pieces, text[done:]]) if pieces else text


class _Walk:
    """Takes the parser's tokens in order and gathers spans."""

    def __init__(self, text: str, lines: list[int]) -> None:
        self._text = text
        self._lines = lines
        self._quotes = 0
        self.units: list[Unit] = []
        self.items: list[list[int]] = []
        self.fences: list[Span] = []
        self.code: list[Span] = []
        self.comments: list[Span] = []

    def take(self, token: Token, heading: str) -> None:
        """Take one token; `heading` is the text of the heading that it opens."""
        self._quotes += token.nesting if token.type.startswith("blockquote") else 0
        if token.map is None:
            return
        start, end = self._lines[token.map[0]], self._lines[token.map[1]]
        if self.comments and start < self.comments[-1][1]:
            return  # a comment that ends outside of the list or quotation it began in
        kind = _UNITS.get(token.type)
        if kind and token.level == 0:
            level = int(token.tag[1]) if kind == "heading" else 0
            words = " ".join(heading.split())
            self.units.append(Unit(kind, *self.trimmed(start, end), level, words))
        if kind == "code":
            span = self.trimmed(start, end)
            self.code.append(span)
            if token.type == "fence":
                self.fences.append(span)
        elif token.type == "list_item_open" and not self._quotes:
            self._item(start, end)
        elif token.type == "comment":
            base = self._lines[0]
            self.comments.append((base + token.meta["start"], base + token.meta["end"]))
        elif token.type == "inline":
            self._inline(start, end)

    def trimmed(self, start: int, end: int) -> Span:
        """Return a span without the blank lines at its end."""
        return start, start + len(self._text[start:end].rstrip())

    def _item(self, start: int, end: int) -> None:
        """Begin an item; the one that holds it ends here. Of several on a line, the first."""
        if self.items and self.items[-1][1] > start:
            if self.items[-1][0] >= start:
                return
            self.items[-1][1] = start
        marker = _NOT_BLANK.search(self._text, start)
        self.items.append([marker.start() if marker else start, end])

    def _inline(self, start: int, end: int) -> None:
        """Find the code and the comments within a paragraph: each ends at the next equal mark."""
        marks = [found.span() for found in _CODE_OR_COMMENT.finditer(self._text, start, end)]
        following: dict[str, int] = {}
        pairs = [0] * len(marks)
        for at in range(len(marks) - 1, -1, -1):
            mark = self._text[slice(*marks[at])]
            pairs[at] = following.get(mark, 0)
            following[mark] = at
        at = 0
        while at < len(marks):
            if pairs[at]:
                is_comment = self._text.startswith(_MARK, marks[at][0])
                span = (marks[at][0], marks[pairs[at]][1])
                (self.comments if is_comment else self.code).append(span)
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


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    interrupts = RuleOptionsType(alt=["paragraph", "blockquote", "list"])
    parser.block.ruler.before("fence", "comment", _comment, interrupts)
    return parser


_PARSER = _parser()
