"""The piece of a text around what a question asks for."""

from __future__ import annotations

import re
from bisect import bisect_left

from vaultmind.index.words.terms import query_terms, stems
from vaultmind.session.recall import telling_terms
from vaultmind.session.sentences import CONTEXT_LANGUAGES as LANGUAGES

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


def sought(query: str) -> frozenset[str]:
    """Return the stems of what a question is about."""
    terms = telling_terms(query_terms(query, LANGUAGES))
    return frozenset(stem for term in terms for stem in term.stems)


def excerpt(text: str, about: frozenset[str], lang: str, most: int) -> str:
    """Return at most `most` characters of a text around some stems: whole words, marked.

    Where none of them stands in it, its beginning, after a note's properties. It is one line; links
    lose their brackets.
    """
    plain = one_line(text)
    if len(plain) <= most:
        return plain
    match = _PROPERTIES.match(text)
    opening = len(one_line(match[0])) + 1 if match and text[match.end() :].strip() else 0
    places = [
        (word.start(), stem)
        for word in _WORD.finditer(plain)
        for stem in stems(word.group(), lang)[:1]
        if stem in about
    ][:MOST_MATCHES]
    opens = {0, opening, *(found.end() for found in _SENTENCE.finditer(plain))}
    tries = set(opens)
    for at, _ in places:
        space = plain.find(" ", max(0, at - LEAD - 1)) + 1
        tries.add(0 if at <= LEAD else space if 0 < space <= at else at)

    def worth(start: int) -> tuple[int, int, bool, bool, int]:
        end = start + most - len(MARK) - bool(start)
        first, last = (bisect_left(places, (at, "")) for at in (start, end))
        held = [stem for _, stem in places[first:last]]
        return len(set(held)), len(held), start in opens, start == opening, -start

    start = max(sorted(tries), key=worth)
    before = MARK if start else ""
    if len(plain) - start <= most - len(before):
        return before + plain[start:]
    end = start + most - len(before) - len(MARK)
    space = plain.rfind(" ", start, end + 1)
    end = space if space > start + (end - start) // 2 else end
    return before + plain[start:end].rstrip(" ,;:") + MARK


def one_line(text: str) -> str:
    """Return a text as one line without the marks of Markdown that say nothing in it.

    Nor the heading that it begins with, which its link names, unless there is nothing else.
    """
    body = _HEADING.sub(lambda match: match[1] or "", text, count=1)
    bare = _BLOCK_ID.sub("", _MARKUP.sub("", body if body.strip() else text))
    bare = _LINK.sub(lambda match: match[1] or match[2] or "", bare)
    return " ".join(_EMPHASIS.sub("", bare).split())
