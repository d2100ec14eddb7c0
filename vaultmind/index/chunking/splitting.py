"""Cutting a long text where it pauses: between paragraphs, then sentences, then words."""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'»”)\]]*\s+|[。！？]+|\n")
_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


def split(text: str, span: Span, target: int) -> list[Span]:
    """Return the spans that a text is cut into, without overlap, in order, none of them blank.

    Pieces are filled up to `target` characters; only what has no space in it is longer than
    one and a half. A short rest joins the piece before it.
    """
    most = target + target // 2
    if span[1] - span[0] <= most:
        return [span] if text[span[0] : span[1]].strip() else []
    atoms: list[Span] = []
    for paragraph in _paragraphs(text, span):
        atoms += _atoms(text, paragraph, most)
    pieces: list[Span] = []
    for start, end in atoms:
        if pieces and end - pieces[-1][0] <= target:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    if len(pieces) > 1 and pieces[-1][1] - pieces[-1][0] < target // 4:
        rest = pieces.pop()
        pieces[-1] = (pieces[-1][0], rest[1])
    return pieces


def _paragraphs(text: str, span: Span) -> Iterator[Span]:
    """Yield the spans between blank lines; a code fence is one paragraph."""
    start, position, fence = -1, span[0], ""
    while position < span[1]:
        stop = text.find("\n", position, span[1])
        stop = span[1] if stop < 0 else stop + 1
        line = text[position:stop]
        mark = _FENCE.match(line)
        if mark and (not fence or mark.group(1).startswith(fence)):
            fence = "" if fence else mark.group(1)
        if line.strip() or fence:
            start = position if start < 0 else start
        elif start >= 0:
            yield _trimmed(text, (start, position))
            start = -1
        position = stop
    if start >= 0:
        yield _trimmed(text, (start, span[1]))


def _atoms(text: str, span: Span, most: int) -> Iterator[Span]:
    """Yield a paragraph whole, or by sentence, or by word where even that is too long."""
    if span[1] - span[0] <= most:
        yield span
        return
    for sentence in _between(text, span, _SENTENCE_END):
        if sentence[1] - sentence[0] <= most:
            yield sentence
        else:
            yield from _filled(_between(text, sentence, _SPACE), most)


def _between(text: str, span: Span, mark: re.Pattern[str]) -> Iterator[Span]:
    """Yield what lies between the ends of a mark's matches, blanks trimmed away."""
    start = span[0]
    for match in mark.finditer(text, *span):
        if text[start : match.end()].strip():
            yield _trimmed(text, (start, match.end()))
        start = match.end()
    if text[start : span[1]].strip():
        yield _trimmed(text, (start, span[1]))


def _filled(words: Iterator[Span], most: int) -> Iterator[Span]:
    """Yield runs of words up to `most` characters; a longer word is cut."""
    start = end = -1
    for word in words:
        if start >= 0 and word[1] - start > most:
            yield start, end
            start = -1
        start = word[0] if start < 0 else start
        end = word[1]
        while end - start > most:
            yield start, start + most
            start += most
    if start >= 0 and end > start:
        yield start, end


def _trimmed(text: str, span: Span) -> Span:
    piece = text[span[0] : span[1]]
    start = span[0] + len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
