"""The blocks of a note, found line by line: headings, lists, quotations, code, comments.

It follows CommonMark where a note's outline depends on it, and Obsidian for `%%` comments.
A full CommonMark parser is ten times slower than the rest of indexing together; in the tests
one checks this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

UnitKind = Literal["heading", "paragraph", "list", "quote", "code"]

_QUOTE = re.compile(r"(?: {0,3}>[ \t]?)+")
_FENCE = re.compile(
    r"(?P<before>[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(?P<mark>`{3,}(?=[^`]*$)|~{3,})"
)
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-+*]|(\d{1,9})[.)])(?:[ \t]+|$)")
_SHOWN = re.compile(r"[^ \t>]")
_CODE_OR_COMMENT = re.compile(r"`+|%%")
_PARAGRAPH_END = re.compile(r"\n[ \t>]*(?:\r?\n|$|```|~~~|#{1,6}[ \t]|(?:[-+*]|\d{1,9}[.)])[ \t])")
_INDENT_OF_CODE = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """A block at the top of a note's tree; offsets without the last newline."""

    kind: UnitKind
    start: int
    end: int
    level: int = 0
    """Of a heading, 1 to 6."""
    text: str = ""
    """Of a heading."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What `structure_of` found, in order. Spans are offsets into the text."""

    units: tuple[Unit, ...]
    items: tuple[tuple[int, int], ...]
    """List items, each from its marker to its last line, without the items inside it."""
    code: tuple[tuple[int, int], ...]
    """Fenced, indented and inline code."""
    comments: tuple[tuple[int, int], ...]


def structure_of(text: str, start: int = 0) -> Structure:
    """Return the blocks of a text from `start` on (where a note's body begins)."""
    walk = _Walk(text)
    walk.run(start)
    return Structure(
        tuple(Unit(one.kind, one.start, one.end, one.level, one.text) for one in walk.units),
        tuple((one[0], one[1]) for one in walk.items),
        tuple(sorted(walk.code)),
        tuple(walk.comments),
    )


def blanked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Return the text, as long as before, with spaces for all but newlines in the spans."""
    if not spans:
        return text
    pieces, done = [], 0
    for start, end in sorted(spans):
        begin = max(start, done)
        if end > begin:
            pieces += [text[done:begin], re.sub(r"[^\r\n]", " ", text[begin:end])]
            done = end
    return "".join([*pieces, text[done:]])


@dataclass(slots=True)
class _Growing:
    kind: UnitKind
    start: int
    end: int
    level: int = 0
    text: str = ""


@dataclass(slots=True)
class _Fence:
    char: str
    length: int
    quotes: int
    indent: int
    start: int


@dataclass(slots=True)
class _Walk:
    """One pass over the lines; `units` and `items` grow at their ends."""

    text: str
    units: list[_Growing] = field(default_factory=list)
    items: list[list[int]] = field(default_factory=list)
    code: list[tuple[int, int]] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    open: str = ""
    """Kind of the unit that the next line may continue."""
    fence: _Fence | None = None
    after_blank: bool = False
    in_quote_text: bool = False
    paragraph: tuple[int, int] = (1, 0)
    """Where a paragraph was searched from, and where it ends."""
    skip: int = 0
    """Up to here the text is inside a comment or inline code that was found already."""

    def run(self, start: int) -> None:
        """Take every line from `start` on. Lines end in `\\n`, with or without `\\r`."""
        for raw in self.text[start:].split("\n"):
            line = raw[:-1] if raw.endswith("\r") else raw
            end = start + len(line)
            if self.fence is None and start >= self.skip and line[:1].isalpha():
                if "`" in line or "%%" in line:
                    self._inline(start, end)
                self._text(start, end)
            elif start < self.skip:
                self._rest_of_line(start, end)
            else:
                self._line(line, start, end)
            start += len(raw) + 1
        if self.fence:
            self.code.append((self.fence.start, len(self.text)))

    def _rest_of_line(self, start: int, end: int) -> None:
        """Take a line that begins in a comment or in inline code; what follows is text."""
        if end <= self.skip:
            if self.open and not self.after_blank:
                self.units[-1].end = end
            return
        begin = self.skip
        self._inline(begin, end)
        if not self._only_comment(begin, end):
            self._text(start, end)

    def _line(self, line: str, start: int, end: int) -> None:
        quote = _QUOTE.match(line) if ">" in line else None
        quotes = quote.group().count(">") if quote else 0
        rest = line[quote.end() :] if quote else line
        if self.fence and self._in_fence(line, quotes, start, end):
            return
        if not rest.strip():
            self._blank(quotes, end)
        elif self._opens_fence(rest, quotes, start, end):
            pass
        elif not quotes and self._is_indented_code(rest):
            self._code_line(start, end)
        else:
            self._content(line, quotes, start, end)

    def _content(self, line: str, quotes: int, start: int, end: int) -> None:
        if "`" in line or "%%" in line:
            self._inline(start, end)
            if self._only_comment(start, end):
                self._blank(quotes, end)
                return
        if quotes:
            self.in_quote_text = True
            self._grow("quote", start, end)
        else:
            self._block(line, start, end)

    def _block(self, line: str, start: int, end: int) -> None:
        """Take a line outside quotations and code: heading, rule, list item or text."""
        if self._heading(line, start, end):
            return
        if _RULE.match(line):
            self._close()
        elif item := self._item(line):
            self._take_item(item, start, end)
        else:
            self._text(start, end)

    def _heading(self, line: str, start: int, end: int) -> bool:
        if atx := _ATX.match(line) if "#" in line else None:
            words = _CLOSING_MARKS.sub("", line[atx.end() :].strip()).strip()
            self.units.append(_Growing("heading", start, end, len(atx[1]), words))
            self._close()
            return True
        underline = _SETEXT.match(line) if self.open == "paragraph" else None
        if underline and not self.after_blank:
            unit = self.units[-1]
            level = 1 if underline[1][0] == "=" else 2
            words = " ".join(self.text[unit.start : unit.end].split())
            self.units[-1] = _Growing("heading", unit.start, end, level, words)
            self._close()
            return True
        return False

    def _item(self, line: str) -> re.Match[str] | None:
        item = _ITEM.match(line)
        if item is None:
            return None
        if self.open != "list" and _width(item[1]) >= _INDENT_OF_CODE:
            return None
        interrupts = self.open == "paragraph" and not self.after_blank
        if interrupts and (item[2] not in (None, "1") or item.end() == len(line)):
            return None
        return item

    def _take_item(self, item: re.Match[str], start: int, end: int) -> None:
        self._grow("list", start, end, over_blank=True)
        self.items.append([start + item.end(1), end])

    def _text(self, start: int, end: int) -> None:
        if self.open == "list":
            indented = self.text[start : start + 1] in (" ", "\t")
            if not self.after_blank or indented:
                if not self.after_blank:
                    self.items[-1][1] = end
                return self._grow("list", start, end, over_blank=True)
        if self.open == "quote" and self.in_quote_text and not self.after_blank:
            return self._grow("quote", start, end)
        return self._grow("paragraph", start, end)

    def _grow(self, kind: UnitKind, start: int, end: int, over_blank: bool = False) -> None:
        """Continue the open unit of this kind, or begin one."""
        if self.open == kind and (over_blank or not self.after_blank):
            self.units[-1].end = end
        else:
            self.units.append(_Growing(kind, start, end))
            self.open = kind
        self.after_blank = False

    def _blank(self, quotes: int, end: int) -> None:
        if quotes and self.open == "quote" and not self.after_blank:
            self.units[-1].end = end
            self.in_quote_text = False
            return
        self.after_blank = True

    def _close(self) -> None:
        self.open = ""
        self.after_blank = False

    def _is_indented_code(self, line: str) -> bool:
        if _width(line[: len(line) - len(line.lstrip(" \t"))]) < _INDENT_OF_CODE:
            return False
        if self.open == "list":
            return False
        if self.open == "quote" and not self.in_quote_text:
            return True
        return self.open in ("", "code") or self.after_blank

    def _code_line(self, start: int, end: int) -> None:
        self.code.append((start, end))
        self._grow("code", start, end, over_blank=True)

    def _opens_fence(self, rest: str, quotes: int, start: int, end: int) -> bool:
        opening = _FENCE.match(rest) if "```" in rest or "~~~" in rest else None
        if opening is None:
            return False
        width = _width(opening["before"])
        is_item = opening["before"].strip() != ""
        if width >= _INDENT_OF_CODE and not is_item and self.open != "list":
            return False
        kind: UnitKind = "quote" if quotes else "code"
        if not quotes and (is_item or (self.open == "list" and width)):
            kind = "list"
        self._grow(kind, start, end, over_blank=kind == "list")
        if is_item and not quotes:
            self.items.append([end - len(rest) + len(rest) - len(rest.lstrip()), end])
        indent = width if kind == "list" else 0
        self.fence = _Fence(opening["mark"][0], len(opening["mark"]), quotes, indent, start)
        return True

    def _in_fence(self, line: str, quotes: int, start: int, end: int) -> bool:
        """Take a line of the open fence; False when the fence's container ended before it."""
        fence = self.fence
        if fence is None:
            return False
        quote = _QUOTE.match(line) if fence.quotes else None
        rest = line[quote.end() :] if quote else line
        blank = not rest.strip()
        left = quotes < fence.quotes or (
            not blank and fence.indent and _width(rest[: -len(rest.lstrip())]) < 2  # noqa: PLR2004
        )
        if left:
            self.code.append((fence.start, start))
            self.fence = None
            self.after_blank = self.after_blank or fence.quotes > 0
            return False
        self.units[-1].end = end
        mark = rest.strip(" \t")
        if len(mark) >= fence.length and set(mark) == {fence.char}:
            self.code.append((fence.start, end))
            self.fence = None
            if self.open == "code":
                self._close()
            self.in_quote_text = False
        return True

    def _inline(self, start: int, end: int) -> None:
        """Find inline code and comments that begin in this line."""
        at = max(start, self.skip)
        shown = _SHOWN.search(self.text, start, end)
        while found := _CODE_OR_COMMENT.search(self.text, at, end):
            is_comment = found.group() == "%%"
            closing = self._comment_end(found, shown) if is_comment else self._code_end(found)
            if closing:
                (self.comments if is_comment else self.code).append((found.start(), closing))
                self.skip = closing
            at = closing or found.end()

    def _code_end(self, found: re.Match[str]) -> int:
        """Return where inline code ends: at as many backticks, in the same paragraph."""
        marks, at = found.group(), found.end()
        limit = self._paragraph_end(at)
        while (at := self.text.find(marks, at, limit)) >= 0:
            end = at + len(marks)
            while end < limit and self.text[end] == "`":
                end += 1
            if end - at == len(marks):
                return end
            at = end
        return 0

    def _paragraph_end(self, at: int) -> int:
        """Return where the paragraph that holds `at` ends; asked again, it is remembered."""
        if not self.paragraph[0] <= at <= self.paragraph[1]:
            stop = _PARAGRAPH_END.search(self.text, at)
            self.paragraph = (at, stop.start() if stop else len(self.text))
        return self.paragraph[1]

    def _comment_end(self, found: re.Match[str], shown: re.Match[str] | None) -> int:
        """Return where a comment ends, 0 when `%%` is only text.

        One that begins its line runs to the next `%%`, however far, or to the end of the
        note; one within a line must end in its paragraph.
        """
        closing = self.text.find("%%", found.end())
        begins = shown is not None and shown.start() == found.start()
        if begins and closing < 0:
            return len(self.text)
        if not begins and closing > self._paragraph_end(found.end()):
            return 0
        return closing + 2 if closing >= 0 else 0

    def _only_comment(self, start: int, end: int) -> bool:
        """Tell whether nothing but comments (one at least) stands between two offsets."""
        shown_from = end
        for first, last in reversed(self.comments):
            if last <= start or self.text[last:shown_from].strip():
                break
            shown_from = max(first, start)
        return shown_from < end and not self.text[start:shown_from].strip()


def _width(blank: str) -> int:
    """Return how many columns of white space begin a line; a tab runs to the next four."""
    columns = 0
    for char in blank:
        columns += 4 - columns % 4 if char == "\t" else 1
    return columns
