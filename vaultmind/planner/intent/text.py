"""A task as text: what of it is prose, its words, its language and its telling words. Pure.

A task may be a line, a commit's message, a question with a traceback below it, or a pasted log of
a megabyte. However long it is, so much of it is looked at that it is understood in milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold, roots, stems, words
from vaultmind.planner.intent.cues import lexicon

MAX_CHARS, END_CHARS = 8_000, 2_000
"""Of a task that are looked at; of a longer one its start and its end."""
MAX_WORDS = 500
"""Of the prose that are met by cues."""
MAX_TERMS = 64
"""Telling words of a task; of more the first count, with those of its end left out."""
MIN_TERM_CHARS, MAX_TERM_CHARS = 2, 40

_BLOB = re.compile(r"(\S{200})\S+")
_FENCED = re.compile(r"```[^\n]*\n?(.*?)(?:```|\Z)|~~~[^\n]*\n?(.*?)(?:~~~|\Z)", re.DOTALL)
_TRACE_LINE = re.compile(
    r"^[ \t]*(?:"
    r"Traceback \(most recent call last\)|File \"[^\"\n]+\", line \d+"
    r"|at [\w$.<>\[\] /]+\([^()\n]*\)[ \t]*$"
    r"|at (?:/|\w:|file:|async )\S+|\.\.\. \d+ more|Caused by: |goroutine \d+ \[|panic: "
    r"|thread '[^'\n]*' panicked|\d+: 0x[0-9a-f]+|~*\^+~*[ \t]*$|--> \S+:\d+:\d+"
    r"|[\w./\\-]+\.\w{1,5}:\d+(?::\d+)?:? |[A-Za-z_][\w.]*(?:Error|Exception)(?::|[ \t]*$)"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?(?:ERROR|FATAL|CRITICAL|WARN(?:ING)?|INFO|DEBUG)\b"
    r").*$",
    re.MULTILINE,
)
_NOISE = re.compile(
    r"\b0x[0-9a-fA-F]+\b"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?\b|\bline \d+\b|(?<=\w):\d+(?::\d+)?\b"
)
_NAMED = re.compile(
    r"`[^`\n]{1,120}`|\b[a-z][a-z0-9+.-]{1,15}://\S+|(?<![\w.-])[\w.-]*(?:[/\\][\w.-]+){2,}"
    r"|(?<![\w./-])[\w/-]*\w\.[a-z]{1,5}(?![\w.])(?=[\s,:;)!?]|\.?$)|\b[a-z]+(?:_[a-z0-9]+)+\b"
    r"|(?<![\w-])--?[a-z][\w-]*"
)
"""What names something to the letter: its words are no words of the task's own."""
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SENTENCE_END = re.compile(r"((?<![.!?;])[.!?;]+(?=\s|$)|\n+|(?<=\w):\s)")
_CLAUSE_END = re.compile(r",\s|\s[–—-]+\s")
_ANSWERED_NO = re.compile(r"\s*(?:no|nope|nah|nie|нет|не)\s*(?:[,:–—-]|$)", re.IGNORECASE)
_ASCII = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LATIN = re.compile(r"[A-Za-z]")
_UKRAINIAN, _RUSSIAN = re.compile(r"[їєґі]"), re.compile(r"[ыэёъ]")
_POLISH = re.compile(r"[ąćęłńśźż]")
_SPOKEN = ("en", "pl", "ru")
_OTHERS = ("de", "fr", "es", "it", "pt", "nl", "cs")
_OTHER_LEAD = 3
"""Small words by which another language must be ahead of those that there are cues for."""


@dataclass(frozen=True, slots=True)
class Text:
    """A task, taken apart."""

    whole: str
    """What is looked at of it."""
    prose: str
    """Without what is fenced or looks like a log or a traceback."""
    traced: bool
    """Whether it holds a traceback or lines of a log."""
    words: tuple[str, ...]
    """Of the prose, folded."""
    sentences: tuple[int, ...]
    """Indices of the words that begin a sentence or a line."""
    clauses: tuple[int, ...]
    """Indices of the words that begin these, or stand behind a comma or a dash."""
    denied: tuple[int, ...]
    """Of the sentences, those that ask something and are answered with no: `A bug? No, …`."""
    language: str
    question: bool
    """Whether its prose ends with a question mark."""


def taken_apart(task: str) -> Text:
    """Return what a task is made of."""
    whole = _bounded(task)
    prose = _FENCED.sub("\n", whole)
    traced = _TRACE_LINE.search(whole) is not None
    prose = _TRACE_LINE.sub("", prose) if traced else prose
    prose = _NAMED.sub(" _ ", prose)
    found, starts, clauses, denied = _in_words(prose)
    return Text(
        whole,
        prose,
        traced,
        tuple(found),
        tuple(starts),
        tuple(clauses),
        tuple(denied),
        language_of(prose or whole, found),
        prose.rstrip(" \n\t)\"'`»”").endswith("?"),
    )


def _in_words(prose: str) -> tuple[list[str], list[int], list[int], list[int]]:
    """Return the words of prose, and those that begin sentences, clauses and denied sentences."""
    found: list[str] = []
    starts: list[int] = []
    clauses: list[int] = []
    denied: list[int] = []
    pieces = _SENTENCE_END.split(prose)
    asked = False
    for sentence, end in zip(pieces[::2], (*pieces[1::2], ""), strict=True):
        if asked and starts and _ANSWERED_NO.match(sentence):
            denied.append(starts[-1])
        begin = len(found)
        for clause in _CLAUSE_END.split(sentence):
            more = words(clause)[: MAX_WORDS - len(found)]
            clauses += [len(found)] if more else []
            found += more
        starts += [begin] if len(found) > begin else []
        asked = "?" in end
    return found, starts, clauses, denied


def language_of(text: str, folded: list[str]) -> str:
    """Return the language of a task: by its script, its letters, its small words and its cues."""
    cyrillic, latin = len(_CYRILLIC.findall(text)), len(_LATIN.findall(text))
    lowered = text.lower()
    if cyrillic * 3 > latin:
        more = len(_UKRAINIAN.findall(lowered)) > len(_RUSSIAN.findall(lowered))
        return "uk" if more else "ru"
    if not latin:
        return ""
    known = set(folded)
    small = {code: len(known & BY_LANGUAGE[code]) for code in ("en", "pl", *_OTHERS)}
    polish = small["pl"] + 2 * min(len(_POLISH.findall(lowered)), 3)
    polish += sum(lexicon().speaks("pl", word) for word in folded)
    english = small["en"] + sum(lexicon().speaks("en", word) for word in folded)
    best = max(_OTHERS, key=lambda code: small[code])
    if small[best] >= max(polish, english) + _OTHER_LEAD:
        return best
    return "pl" if polish > english else "en"


def telling(text: str, language: str) -> tuple[str, ...]:
    """Return the stems of a text's telling words, sorted: without small and empty ones.

    An identifier or a path tells by its parts, so what names a thing in words and what names it
    in code share words. A text of nothing but empty words has these.
    """
    told, empty = _forms(text, language)
    return tuple(sorted(told or empty))


def levelled(terms: Iterable[str], language: str) -> frozenset[str]:
    """Return one root for each stem, which forms of a word share that stemmers leave apart.

    `notatka, notatek, notatce` have three stems and one root. Of English a stem will do.
    """
    return frozenset(
        min(found, key=lambda root: (len(root), root))
        if (language == "pl" or not term.isascii()) and (found := roots(term))
        else term
        for term in terms
    )


def subject(text: str, language: str) -> int:
    """Return how many telling words a text has: none if it only says that something be done."""
    return len(_forms(text, language)[0])


@lru_cache(maxsize=64)
def _forms(text: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the forms of telling words, and those of words that say nothing of a subject."""
    told: dict[str, None] = {}
    empty: dict[str, None] = {}
    for match in _ASCII.finditer(_NOISE.sub(" ", text)):
        for piece in _pieces(match.group()):
            if form := _form(piece, language):
                (empty if _is_empty(piece) else told)[form] = None
        if len(told) >= MAX_TERMS:
            break
    return tuple(told)[:MAX_TERMS], tuple(empty)[:MAX_TERMS]


def _pieces(word: str) -> Sequence[str]:
    """Return the words that an identifier is made of; any other word as it is."""
    return _PIECE.findall(word) if word.isascii() else (word,)


def _bounded(task: str) -> str:
    """Return what of a task is looked at; of a blob its start, which keeps patterns quick."""
    if len(task) > MAX_CHARS:
        task = f"{task[: MAX_CHARS - END_CHARS]}\n{task[-END_CHARS:]}"
    return _BLOB.sub(r"\1", task)


@lru_cache(maxsize=20_000)
def _form(piece: str, language: str) -> str:
    """Return the stem of a word; empty for a stray letter."""
    folded = fold(piece)[:MAX_TERM_CHARS]
    if folded.isdecimal():
        return folded.lstrip("0") or "0"
    if len(folded) < MIN_TERM_CHARS:
        return ""
    lowered = piece.lower()[:MAX_TERM_CHARS]  # a stemmer of Polish wants its letters as they are
    return stems(lowered, language or "en")[0]


@lru_cache(maxsize=20_000)
def _is_empty(piece: str) -> bool:
    folded = fold(piece)
    return any(folded in BY_LANGUAGE[code] for code in _SPOKEN) or lexicon().is_empty(folded)
