"""A message made ready to be read: sentences, letters folded, what others wrote left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmind.redact import private_spans
from vaultmind.vault.oneline import one_line

MOST_LETTERS = 4000
"""Letters of a message that are read; what is longer is a paste."""
MARK = "…"
"""Stands where a sentence was cut, before or after what is left of it."""
MOST_SENTENCES, MOST_CHARACTERS, MOST_OF_A_LINE = 120, 600, 20_000
"""Sentences read of a message, half of them its last; characters of one; characters of a line."""
_RECALLED = re.compile(r"<<recalled (?P<mark>\w+)[^\n]*>>.*?(?:<<end (?P=mark)>>|\Z)", re.DOTALL)
_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(?P<tag>[a-zA-Z][\w-]*)\b[^<>\n]*>.*?</(?P=tag)>"
    r"|^[ \t]*>[^\n]*$|https?://\S+"
    r"|(?<=\n)(?:Dear|Szanown\w+|Уважаем\w+|Sehr geehrte\w*|Estimad[oa]s?|Madame|Monsieur)\b.*\Z",
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_LEAD = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})[ \t]+(?:\[.\][ \t]+)?)*")
_UNSAID = re.compile(r"[ \t]*+(?:\|.*\|[ \t]*$|>)|[-=*_ \t]{3,}$")
"""A line of a table or a quotation, or a rule: nobody's own sentence."""
_END = re.compile(r"(?<![.!?])[.!?]+[\"')\]”»]*(?=\s|$)\s*|(?<!\s)\s*\n\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(.])(?:[^\W\d_]|dr|mr|mrs|np|ul|im|st|no|nr|prof|e\.g|i\.e)\.$"
)
_ORDINAL, _BRIEF = re.compile(r"(?:^|\s)\d{1,2}\.$"), re.compile(r"\b[^\W\d_]{1,4}\.$")
_MONTH = re.compile(
    r"Janu|Febr|März|April|Mai\b|Ju[nl]i\b|Ju[nl][ey]\b|Augu|Sept|O[kc]to|Nove|De[zc]e"
)
"""How a month begins that follows "14." with a capital letter."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence's place in its text."""

    start: int
    end: int


def readable(text: str) -> str:
    """Return a message as long as before, with what is not the person's own words blank.

    Code blocks, quoted lines, a letter below the first line, recalled text, marked-up and private
    passages ask for nothing.
    """
    text = text[:MOST_LETTERS]
    for start, stop, _ in private_spans(text):
        text = text[:start] + " " * (min(stop, len(text)) - start) + text[stop:]
    return _FOREIGN.sub(_blank, _RECALLED.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text; a line's end always ends one."""
    found, start = [], 0
    for match in _END.finditer(text):
        whole = text[start : match.start() + 1]
        mark = match.group()
        inside = mark.startswith(".") and "\n" not in mark and match.end() < len(text)
        after = text[match.end() : match.end() + 5]
        ordinal = _ORDINAL.search(whole) and (not after[:1].isupper() or _MONTH.match(after))
        counted = _BRIEF.search(whole) and after[:1].isdigit()
        if inside and (_ABBREVIATION.search(whole.lower()) or ordinal or counted):
            continue
        if text[start : match.start()].strip():
            found.append(Sentence(start, match.start() + len(mark.rstrip())))
        start = match.end()
    if text[start:].strip():
        found.append(Sentence(start, len(text.rstrip())))
    return found


def plain_sentences(text: str) -> list[str]:
    """Return the sentences of a message, each one line: none of code, tables, quoted lines."""
    found: list[str] = []
    for whole in _ends(_CODE.sub("\n", text).split("\n")):
        line = whole[:MOST_OF_A_LINE]
        if not _UNSAID.match(line):
            body = _LEAD.sub("", line, count=1)
            pieces = (body[one.start : one.end] for one in sentences(body))
            found += [clean for piece in pieces if (clean := one_line(_short(piece)))]
    return _ends(found)


def _ends(texts: list[str]) -> list[str]:
    half = MOST_SENTENCES // 2
    return texts if len(texts) <= MOST_SENTENCES else [*texts[:half], *texts[-half:]]


def _short(piece: str) -> str:
    """Return a sentence, cut at a space where it is far too long for one."""
    if len(piece) <= MOST_CHARACTERS:
        return piece
    space = piece.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)
    return f"{piece[: space if space > 0 else MOST_CHARACTERS].rstrip()} {MARK}"
