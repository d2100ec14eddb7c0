"""The piece of a text around what a question asks for. Pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from vaultmind.index.words.terms import fold, query_terms, stems

MARK = "…"
LEAD = 50
"""Characters before a match that say what it is about, where no sentence begins nearer."""
MOST_MATCHES = 60
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?:^|[.!?…][\"'»”)\]]*\s+|[。！？]+|\s[-*|•]\s+)(?=\S)")
_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(
    r"^[ \t]{0,80}(?:#{1,6}[ \t]|>[ \t]?(?:\[![^\]]*\][-+]?)?|\|?[-:| ]{5,}$)", re.M
)
_PROPERTIES = re.compile(r"(?:[^\s:#>|-][^:\n]*: [^\n]*\n)+\n")
_HEADING = re.compile(rf"\A({_PROPERTIES.pattern})?\s*#{{1,6}}[ \t][^\n]*(?:\n|\Z)")
_EMPHASIS = re.compile(r"\*+|==")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.M)
_JOINING = {"\u200d", "\ufe0f", "\ufe0e"}


@dataclass(frozen=True, slots=True)
class Sought:
    """The words that a question is about, as they are looked for in a text."""

    stems: frozenset[str]


def sought(query: str, languages: Sequence[str], empty: Collection[str] = ()) -> Sought:
    """Return what a question is about; `empty` are folded words that say nothing."""
    terms = query_terms(query, languages)
    return Sought(
        frozenset(
            stem
            for term in terms
            if not term.stop and term.plain not in empty
            for stem in term.stems
        )
    )


def excerpt(text: str, about: Sought, lang: str, most: int) -> str:
    """Return at most `most` characters of a text around what is sought: whole words, marked.

    Where nothing that is sought stands in it, its beginning, after a note's properties. It is one
    line; links lose their brackets.
    """
    plain = one_line(text)
    if len(plain) <= most:
        return plain
    places = _places(plain, about, lang)
    opening = _opening(text)
    opens = {0, opening, *(match.end() for match in _SENTENCE.finditer(plain))}
    tries = {*opens, *(_word_start(plain, at - LEAD) for at, _ in places)}

    def worth(start: int) -> tuple[int, int, bool, bool, int]:
        end = start + most - len(MARK) - bool(start)
        first, last = (bisect_left(places, (at, "")) for at in (start, end))
        held = [stem for _, stem in places[first:last]]
        return len(set(held)), len(held), start in opens, start == opening, -start

    return _cut(plain, max(sorted(tries), key=worth), most)


def one_line(text: str) -> str:
    """Return a text as one line without the marks of Markdown that say nothing in it.

    Nor the heading that it begins with, which its link names, unless there is nothing else.
    """
    body = _HEADING.sub(lambda match: match[1] or "", text, count=1)
    bare = _BLOCK_ID.sub("", _MARKUP.sub("", body if body.strip() else text))
    bare = _LINK.sub(lambda match: match[1] or match[2] or "", bare)
    return " ".join(_EMPHASIS.sub("", bare).split())


def _opening(text: str) -> int:
    """Return where, on its one line, a text begins that has the properties of a note before it."""
    match = _PROPERTIES.match(text)
    return len(one_line(match[0])) + 1 if match and text[match.end() :].strip() else 0


def _places(plain: str, about: Sought, lang: str) -> list[tuple[int, str]]:
    """Return where what is sought stands, and what of it, in order."""
    found: list[tuple[int, str]] = []
    for match in _WORD.finditer(plain):
        for stem in stems(match.group(), lang):
            if stem in about.stems:
                found.append((match.start(), stem))
                break
        if len(found) >= MOST_MATCHES:
            break
    return found or _within_words(plain, about)


def _within_words(plain: str, about: Sought) -> list[tuple[int, str]]:
    """Return the same for scripts without spaces, and for parts of compounds."""
    folded = fold(plain)
    if len(folded) != len(plain):
        return []
    found = [(folded.find(stem), stem) for stem in about.stems if len(stem) > 1]
    return sorted(one for one in found if one[0] >= 0)


def _word_start(plain: str, at: int) -> int:
    """Return where a word begins at or after a place."""
    if at <= 0:
        return 0
    space = plain.find(" ", at - 1)
    return space + 1 if 0 <= space <= at + LEAD else at


def _cut(plain: str, start: int, most: int) -> str:
    """Return a span from a place on, with a mark where something is missing."""
    before = MARK if start else ""
    if len(plain) - start <= most - len(before):
        return before + plain[start:]
    end = start + most - len(before) - len(MARK)
    space = plain.rfind(" ", start, end + 1)
    if space > start + (end - start) // 2:
        end = space
    else:
        while end > start + 1 and _joins(plain, end):
            end -= 1
    return before + plain[start:end].rstrip(" ,;:") + MARK


def _joins(plain: str, at: int) -> bool:
    """Tell whether what stands at a place belongs to the character before it."""
    here, before = plain[at], plain[at - 1]
    return here in _JOINING or before == "\u200d" or unicodedata.category(here).startswith("M")
