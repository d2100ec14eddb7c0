"""The bullets of a Markdown text: a brain's facts, read leniently, whoever typed them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vaultmind.vault.blocks import blocks_of
from vaultmind.vault.oneline import unescape
from vaultmind.vault.properties import body_start

MARKER = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?(?=\S)")
"""A bullet's indent, mark and tick box."""
HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
COMMENT = re.compile(r"(?:(?<![ \t])[ \t]+)?%%.*?%%", re.DOTALL)
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Bullet:
    """A list item with the indented lines that continue it.

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

    def add() -> None:
        raw = text[first:last] if first >= 0 else ""
        shown, block = plain(MARKER.sub("", raw, count=1))
        if shown:
            found.append(Bullet(unescape(shown), raw, block, first, last, heading))

    for start, end, line in prose(text):
        marker = MARKER.match(line)
        indented = line[:1] in (" ", "\t") and line.strip() and not marker
        if indented and first >= 0 and start <= last + len("\r\n"):
            last = end
            continue
        add()
        first = -1
        if title := HEADING.match(line):
            heading = plain(title[1])[0]
        elif marker and not _RULE.match(line):
            first, last = start, end
    add()
    return tuple(found)


def plain(raw: str) -> tuple[str, str]:
    """Return a line as a reader sees it and its block id: no `%%comment%%`, no ` ^id`."""
    shown = COMMENT.sub("", raw)
    block = _BLOCK.search(shown.rstrip())
    if block:
        shown = shown[: block.start()]
    return " ".join(shown.split()), block.group(1) if block else ""


def prose(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, line) of each line that is no front matter, code or whole comment.

    The line that a comment begins in is given, those below it within the comment are not. A
    comment that never closes is text: a mark that was forgotten hides no fact.
    """
    body = body_start(text)
    blocks = blocks_of(text, body)
    closed = [span for span in blocks.comments if text.endswith("%%", span[0] + 2, span[1])]
    hidden = [(start + 1, end) for start, end in closed]
    hidden = sorted([*hidden, *((start, end + 1) for start, end in blocks.fences)])
    at = 0
    for match in _LINE.finditer(text, body):
        start = match.start()
        while at < len(hidden) and hidden[at][1] <= start:
            at += 1
        if at == len(hidden) or start < hidden[at][0]:
            line = match.group().rstrip("\r\n")
            yield start, start + len(line), line
