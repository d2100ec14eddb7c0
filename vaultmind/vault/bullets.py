"""The bullets of a Markdown text: a brain's facts, read leniently, whoever typed them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?(?=\S)")
_EMPTY_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]*$")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_COMMENT = re.compile(r"[ \t]*%%.*?%%", re.DOTALL)
_BLOCK = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


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
    for start, end, line in _prose(text):
        continues = first >= 0 and start <= last + 2 and line[:1] in (" ", "\t") and line.strip()
        if continues and not _BULLET.match(line):
            last = end
            continue
        _add(found, text, first, last, heading)
        first = -1
        title = _HEADING.match(line)
        if title:
            heading = plain(title.group(1))[0]
        elif _BULLET.match(line) and not _RULE.match(line):
            first, last = start, end
    _add(found, text, first, last, heading)
    return tuple(found)


def plain(raw: str) -> tuple[str, str]:
    """Return a line as a reader sees it and its block id: no `%%comment%%`, no ` ^id`."""
    shown = _COMMENT.sub("", raw)
    block = _BLOCK.search(shown.rstrip())
    if block:
        shown = shown[: block.start()]
    return " ".join(shown.split()), block.group(1) if block else ""


def _add(found: list[Bullet], text: str, start: int, end: int, heading: str) -> None:
    if start < 0:
        return
    raw = text[start:end]
    shown, block = plain(_BULLET.sub("", raw, count=1))
    if shown:
        found.append(Bullet(shown, raw, block, start, end, heading))


def _prose(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, line) of each line that is no front matter, code or whole comment."""
    comments = [m.span() for m in re.finditer(r"%%.*?%%", text, re.DOTALL)]
    body = _front_matter_end(text)
    fence = ""
    at = 0
    for match in _LINE.finditer(text):
        start, line = match.start(), match.group().rstrip("\r\n")
        if start < body:
            continue
        while at < len(comments) and comments[at][1] <= start:
            at += 1
        mark = _FENCE.match(line)
        if fence:
            closes = mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closes else fence
        elif mark:
            fence = mark.group(1)
        elif not (at < len(comments) and comments[at][0] < start):
            yield start, start + len(line), line


def _front_matter_end(text: str) -> int:
    """Return the offset after the closing `---` of the front matter; 0 where there is none."""
    match = re.match(r"---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|$)", text, re.DOTALL)
    return match.end() if match else 0
