"""The bullets of a Markdown text: a brain's facts, read leniently, whoever typed them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vaultmind.vault.oneline import unescape

MARKER = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?(?=\S)")
"""A bullet's indent, mark and tick box."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
COMMENT = re.compile(r"(?:(?<![ \t])[ \t]+)?%%.*?%%", re.DOTALL)
_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*(?:\r?\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t])")
"""Where a comment that starts within a line can no longer close."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A list item with the lines that continue it.

    `start` and `end` are offsets in the text: from the first character of its first line to
    the end of its last line, without the newline.
    """

    text: str
    """One line, as a reader sees it: marker, comments and block id taken out."""
    raw: str
    block: str
    """The block id without `^`; empty where there is none."""
    start: int
    end: int
    heading: str
    """The nearest heading above it; empty where there is none."""


def bullets(text: str) -> tuple[Bullet, ...]:
    """Return every bullet outside front matter, code fences and comments, in order."""
    found: list[Bullet] = []
    heading, first, last = "", -1, -1
    for start, end, line in prose(text):
        continues = first >= 0 and start <= last + 2 and line[:1] in (" ", "\t") and line.strip()
        if continues and not MARKER.match(line):
            last = end
            continue
        _add(found, text, first, last, heading)
        first = -1
        title = HEADING.match(line)
        if title:
            heading = plain(title.group(1))[0]
        elif MARKER.match(line) and not _RULE.match(line):
            first, last = start, end
    _add(found, text, first, last, heading)
    return tuple(found)


def plain(raw: str) -> tuple[str, str]:
    """Return a line as a reader sees it and its block id: no `%%comment%%`, no ` ^id`."""
    shown = COMMENT.sub("", raw)
    block = _BLOCK.search(shown.rstrip())
    if block:
        shown = shown[: block.start()]
    return " ".join(shown.split()), block.group(1) if block else ""


def _add(found: list[Bullet], text: str, start: int, end: int, heading: str) -> None:
    if start < 0:
        return
    raw = text[start:end]
    shown, block = plain(MARKER.sub("", raw, count=1))
    if shown:
        found.append(Bullet(unescape(shown), raw, block, start, end, heading))


def prose(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, line) of each line that is no front matter, code or whole comment."""
    body = _front_matter_end(text)
    fence, hidden = "", 0
    for match in _LINE.finditer(text):
        start, line = match.start(), match.group().rstrip("\r\n")
        end = start + len(line)
        if start < body:
            continue
        mark = None if start < hidden else _FENCE.match(line)
        if fence:
            closes = mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark.group(1)
        else:
            if start >= hidden:
                yield start, end, line
            hidden = max(hidden, _comment_end(text, max(start, hidden), end))


def _comment_end(text: str, at: int, stop: int) -> int:
    """Return where the last comment that opens in `text[at:stop]` closes; 0 without one.

    As in Obsidian, `%%` at the start of a line opens a block that any later `%%` closes; within
    a line it closes in the same paragraph. One that never closes is text.
    """
    closed = 0
    while at < stop and (opening := text.find("%%", at, stop)) >= 0:
        line_start = text.rfind("\n", 0, opening) + 1
        limit = len(text)
        if text[line_start:opening].strip():
            paragraph = _PARAGRAPH_END.search(text, stop)
            limit = paragraph.start() if paragraph else limit
        closing = text.find("%%", opening + 2, limit)
        at = opening + 2 if closing < 0 else closing + 2
        closed = closed if closing < 0 else at
    return closed


def _front_matter_end(text: str) -> int:
    """Return the offset after the closing `---` of the front matter; 0 where there is none."""
    match = re.match(r"---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|$)", text, re.DOTALL)
    return match.end() if match else 0
