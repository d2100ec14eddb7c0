"""A message's sentences, each as one line that stands in the message word for word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vaultmind.session.summary.cues import abbreviations
from vaultmind.tokens import clip, count
from vaultmind.vault.oneline import one_line

MARK = "…"
"""Stands where a sentence was cut, before or after what is left of it."""

MOST_CHARACTERS = 600
"""Of a sentence; what has no end for longer is cut there."""
MOST_OF_A_LINE = 20_000
"""Characters."""
LONG_WORD = 40
MOST_SENTENCES = 120
"""Of a message, half of them its last: nobody says more, a paste does."""

_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_LEAD = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+(?:\[.\][ \t]+)?)*")
_TABLE = re.compile(r"[ \t]*+\|.*\|[ \t]*$|[-=*_ \t]{3,}$")
_END = re.compile(r"(?:(?<![.!?…])[.!?…]+[\"'»”’)\]*_]*(?=\s)|[。！？]+)\s*")
_OPENS_LOWER = re.compile(r"[\"'«„“(\[*_]*[^\W\d_]")
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.){0,8}[^\W\d_]{1,40}$")
_CLAUSE = re.compile(r"[,;:—–]\s+|\s[-(]\s?")


def sentences(text: str) -> list[str]:
    """Return the sentences of a message, each one line; code, tables and rules are left out."""
    lines = _CODE.sub("\n", text).split("\n")
    if len(lines) > MOST_SENTENCES:
        lines = [*lines[: MOST_SENTENCES // 2], *lines[-MOST_SENTENCES // 2 :]]
    found: list[str] = []
    for line in (whole[:MOST_OF_A_LINE] for whole in lines):
        lead = _LEAD.match(line)
        body = line[lead.end() if lead else 0 :]
        if not _TABLE.match(line):
            found += [clean for piece in _split(body) if (clean := one_line(_short(piece)))]
    if len(found) > MOST_SENTENCES:
        return [*found[: MOST_SENTENCES // 2], *found[-MOST_SENTENCES // 2 :]]
    return found


def shortened(text: str, max_tokens: int, weighs: Callable[[str], float]) -> str:
    """Return a sentence, or the piece of it that holds most of what `weighs`, with marks.

    A piece starts where the sentence or a clause does. What was cut before stays cut.
    """
    if count(text) <= max_tokens:
        return text
    head, body, tail = _unmarked(text)
    starts = [0, *(match.end() for match in _CLAUSE.finditer(body))]
    best, most = "", -1.0
    for start in starts:
        piece = clip(body[start:], max(2, max_tokens - 2), mark="")
        worth = weighs(piece) - (0.5 if start else 0.0)
        if worth > most and any(map(str.isalnum, piece)):
            cut_before = bool(start) or head
            cut_after = tail or body[start:] != piece
            best, most = _marked(piece, before=cut_before, after=cut_after), worth
    return best or clip(text, max_tokens)


def unmarked(text: str) -> str:
    """Return a sentence without the marks of where it was cut."""
    return _unmarked(text)[1]


def _short(piece: str) -> str:
    """Return a sentence, cut at a space where it is far too long for one."""
    if len(piece) <= MOST_CHARACTERS:
        return piece
    space = piece.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)
    return f"{piece[: space if space > 0 else MOST_CHARACTERS].rstrip()} {MARK}"


def _split(line: str) -> Iterator[str]:
    """Yield the sentences of a line."""
    start = 0
    for match in _END.finditer(line):
        if _ends(line, match):
            yield line[start : match.end()]
            start = match.end()
    yield line[start:]


def _ends(line: str, match: re.Match[str]) -> bool:
    """Tell whether a mark ends a sentence: a full stop may be an abbreviation's."""
    if match.group()[0] != ".":
        return True
    opening = _OPENS_LOWER.match(line, match.end())
    if opening and opening.group()[-1].islower():
        return False
    word = _LAST_WORD.search(line, max(0, match.start() - LONG_WORD), match.start())
    if word is None:
        return True
    name = word.group()
    initial = len(name) == 1 and name.isupper() and name != "I"
    return not (initial or name.lower() in abbreviations())


def _unmarked(text: str) -> tuple[bool, str, bool]:
    """Return (cut before, what is left of a sentence, cut after)."""
    head, tail = text.startswith(f"{MARK} "), text.endswith(f" {MARK}")
    body = text[2:] if head else text
    return head, body[:-2] if tail and len(body) > 1 else body, tail


def _marked(piece: str, *, before: bool, after: bool) -> str:
    return (f"{MARK} " if before else "") + piece.strip() + (f" {MARK}" if after else "")
