"""Words of many languages: which language a text is in, its tokens and stems, and what it says.

A text becomes two strings of tokens, one for each run of the columns. `words` has every word
folded (no case, no diacritics) and, for `camelCase` and `gpt4`, its parts. `stems` has their
stems; scripts without spaces have single characters in the one and pairs in the other. An
identifier, a path or a version is found by its parts, to the letter first (see `matching`).
"""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from vaultmind.config.mapped import mapped
from vaultmind.heavy import importing
from vaultmind.language.words import stemmed
from vaultmind.tables import table

LISTS = table(__file__)
BY_LANGUAGE: dict[str, frozenset[str]] = {
    code: frozenset(text.split()) for code, text in LISTS["stop"].items()
}
"""Words that say nothing about a subject, folded, as `fold` leaves them."""


BASES = {
    form: (form, base) if form in LISTS["irregular"]["both"].split() else (base,)
    for base, *forms in map(str.split, LISTS["irregular"]["forms"].split(","))
    for form in forms
}
"""Irregular form → the words that are stemmed in its place."""


# --- languages ----------------------------------------------------------------------------

STEMMERS = dict(pair.split(":") for pair in LISTS["stemmers"]["by_code"].split())
"""ISO 639-1 code → the stemmer of snowballstemmer, its own or a close relative's."""
CYRILLIC = frozenset(["be", "bg", "ru", "sr", "uk"])
OTHER_SCRIPTS = frozenset(LISTS["stemmers"]["other_scripts"].split())
"""Languages that are not written in Latin letters (Serbian is in both)."""
MIN_LETTERS, MIN_CONFIDENCE = 24, 0.35
"""Letters that a text must have to tell more than the one before, and confidence among 30
languages; a calm text of two sentences reaches 0.9."""
SAMPLE = 500
"""Characters that are looked at unless told otherwise (0.3 ms)."""
_DENSE = {"CJK": 3, "HIRAGANA": 3, "KATAKANA": 3, "HANGUL": 2}
"""Letters of these scripts carry as much as so many Latin ones."""
_SURE = {
    "LATIN": (tuple(code for code in STEMMERS if code not in OTHER_SCRIPTS), MIN_LETTERS, 0.7),
    "CYRILLIC": (tuple(sorted(CYRILLIC)), 4 * MIN_LETTERS, 0.95),
}
"""Languages of a script, and the confidence that a text of less than so many letters needs."""
_NEITHER = tuple(sorted(OTHER_SCRIPTS - CYRILLIC))
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\[\[[^\[\]\n]*\]\]", re.DOTALL)
_LETTERS_ALONE = re.compile(r"[^\W\d_]+")
_loading = threading.Lock()
log = logging.getLogger(__name__)


def detect(text: str, fallback: str = "", *, sample_size: int = SAMPLE) -> str:
    """Return the ISO 639-1 code of the text's language, or `fallback` where it says too little.

    Code, links and addresses are not looked at. It is the fallback, too, where py3langid cannot
    be read: it unpacks its model on a disk that may be full, and the next text asks again.
    """
    sample = _NOISE.sub(" ", text[: 4 * sample_size])[:sample_size]
    try:
        return _language(sample, fallback)
    except OSError as error:
        log.warning("no language could be told: %s", error)
        return fallback


@lru_cache(maxsize=4096)
def _language(sample: str, fallback: str) -> str:
    letters: Counter[str] = Counter()
    for letter, count in Counter(filter(str.isalpha, sample)).items():
        script = _script(letter)
        letters[script] += count * _DENSE.get(script, 1)
    script = max(letters, key=lambda one: letters[one], default="")
    if not script or (letters[script] < MIN_LETTERS // 2 and fallback and script != "CYRILLIC"):
        return fallback
    if script not in _SURE:
        return _classify(sample, _NEITHER)[0]
    codes, few, sure = _SURE[script]
    if script == "CYRILLIC" and fallback not in CYRILLIC - {"sr"}:
        fallback = "ru"
    own = (word for word in _LETTERS_ALONE.findall(sample) if _script(word[0]) == script)
    code, confidence = _classify(" ".join(own), codes)
    return code if confidence >= (MIN_CONFIDENCE if letters[script] >= few else sure) else fallback


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else unicodedata.name(letter, "").partition(" ")[0]


def _classify(sample: str, codes: tuple[str, ...]) -> tuple[str, float]:
    with _loading:
        identifier = _identifiers()[codes]
    code, confidence = identifier.classify(sample)
    return str(code), float(confidence)


@cache
def _identifiers() -> dict[tuple[str, ...], Any]:
    """Return py3langid for the languages of each script, over one automaton that is mapped."""
    found: dict[tuple[str, ...], Any] = mapped("py3langid", version("py3langid"), _unpacked)
    for one in found.values():
        one.tk_nextmove = memoryview(one.tk_nextmove)
    return found


def _unpacked() -> dict[tuple[str, ...], Any]:
    """Return the same without what is known of all other languages, 40 MB (takes 0.5 s)."""
    with importing():
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole, found = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True), {}
    whole.tk_nextmove, known = np.array(whole.tk_nextmove), set(whole.labels)
    for codes in (*(codes for codes, *_ in _SURE.values()), _NEITHER):
        one = found[codes] = copy(whole)
        one.set_languages([code for code in codes if code in known])
        one._full_model = ()
    return found


# --- words and stems ----------------------------------------------------------------------

MAX_TOKEN = 64
"""Letters of a token that are kept: nobody types more of a blob."""
MAX_QUERY_WORDS = 256
"""Different words of a query that are looked at."""
MAX_QUERY, QUERY_END = 20_000, 600
"""Letters of a query that are looked at; of a longer one the last come first: the question mostly
stands below what was pasted."""

_RUNS, _MARKS = LISTS["letters"]["runs"], LISTS["letters"]["marks"]
_LETTER = rf"[^\W_{_RUNS}]"
_PLAIN = rf"{_LETTER}+(?:[{_MARKS}]+{_LETTER}*)*"
_TOKEN = re.compile(
    rf"(?P<named>(?<![^\W_])[CcFf](?:\+\+|#)(?![^\W_]))"
    rf"|(?P<word>{_PLAIN}(?:['’ʼ]{_PLAIN})*)"
    rf"|(?P<run>[{_RUNS}]+)"
    r"|(?P<emoji>[\u2600-\u27bf\U0001f300-\U0001faff])"
)
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_FOLDED_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200c\u200d]"
)
_LETTERS = dict(pair.split(":") for pair in LISTS["letters"]["plain"].split())
_NAMED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", "f++": "fplusplus"}
_SOFT = (("cz", "k"), ("sz", "s"), ("ch", "h"), ("c", "k"), ("ч", "к"), ("щ", "ш"), ("ж", "г"))
_VOWELS = re.compile("[aeiouyаеиоуыэюяйьъ]")
_ELIDED = 2
"""Letters before an apostrophe that are an article of their own (l'eau, d'Arc, o'Neill)."""
_WHOLE_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w'’-])")
_OPERATORS = frozenset(("and", "or", "not"))
"""Of search engines: typed in capitals, and no acronyms."""


Forms = tuple[tuple[str, str], ...]
"""What one token is made of, the whole first: each word as the `words` column has it, and what is
stemmed of it; one of them is empty for a script without spaces."""


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for."""

    plain: str
    """The word as the `words` column has it; empty for a pair of a script without spaces."""
    stems: tuple[str, ...]
    """Tokens of the `stems` column, of which any will do: one or more for each language."""
    stop: bool = False
    """Whether it is a word that says nothing about a subject."""


def fold(text: str) -> str:
    """Return the text without case and diacritics: `Żółć` → `zolc`, `ёлка` → `елка`."""
    if text.isascii():
        return text.lower()
    bare = _FOLDED_MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    for letter, plain in _LETTERS.items():  # many times as fast as `translate`
        bare = bare.replace(letter, plain)
    return unicodedata.normalize("NFC", bare)


def shortened(query: str) -> str:
    """Return a query of a length that can be looked for in bounded time: its end and its start."""
    if len(query) <= MAX_QUERY:
        return query
    start, _, cut = query[: MAX_QUERY - QUERY_END].rpartition(" ")
    cut_too, _, end = query[-QUERY_END:].partition(" ")
    return f"{end or cut_too}\n{start or cut}"


def words(text: str) -> list[str]:
    """Return the folded words of a text, in order; a run without spaces is one word."""
    return [forms[0][0] for forms in _scan(text)]


def index_terms(text: str, lang: str) -> tuple[str, str]:
    """Return the text's tokens for the columns `words` and `stems`, joined by spaces."""
    pairs = [
        _indexed(match.lastgroup or "word", match.group(), lang) for match in _TOKEN.finditer(text)
    ]
    found, stemmed = zip(*pairs, strict=True) if pairs else ((), ())
    return " ".join(found), " ".join(stemmed)


def query_terms(query: str, langs: Sequence[str]) -> list[Term]:
    """Return what to look for, stemmed in every language that the index holds."""
    terms: dict[str, Term] = {}
    for forms in _scan(query):
        named = [one for one in forms if one[1]]  # none of a lone apostrophe
        for plain, word in (*named[:1], *(one for one in named[1:] if len(one[1]) > 1)):
            found = (stem for lang in langs or ("en",) for stem in stems(word, lang))
            terms.setdefault(plain or word, Term(plain, tuple(dict.fromkeys(found))))
        if len(terms) >= MAX_QUERY_WORDS:
            break
    return _with_stops(list(terms.values()), _acronyms(query))


@lru_cache(maxsize=20_000)
def stems(word: str, lang: str) -> tuple[str, ...]:
    """Return the folded stem of a word, and that of the word without diacritics if another.

    Of an irregular form of English it is that of its base.
    """
    lowered, language = word.lower(), _stem_language(word, lang)
    algorithm = STEMMERS.get(language, "")
    bases = BASES.get(lowered) if language == "en" else None
    if bases is None:
        return _stems(lowered, algorithm)
    return tuple(dict.fromkeys(stem for base in bases for stem in _stems(base, algorithm)))


def skeleton(word: str) -> str:
    """Return the consonants of a Polish or Russian word, folded, softened ones as the hard ones.

    `zamówić` and `zamawiać`, `молоток` and `молотка` share it: these languages change the vowels
    and the last consonant inside a word, where a stemmer leaves forms apart.
    """
    for soft, hard in _SOFT:
        word = word.replace(soft, hard)
    return _VOWELS.sub("", word)


def _stem_language(word: str, lang: str) -> str:
    """Return whose stems a word gets: a Latin word in Russian text is stemmed as English."""
    if word.isascii():
        return "en" if lang in OTHER_SCRIPTS or not lang else lang
    return "ru" if _CYRILLIC.match(word) and lang not in CYRILLIC else lang


def _acronyms(query: str) -> frozenset[str]:
    """Return the words in capitals of a query that is not in capitals as a whole."""
    if query.upper() == query:
        return frozenset()
    found = frozenset(fold(one) for one in _WHOLE_WORD.findall(query) if one.isupper())
    return found - _OPERATORS


def _with_stops(terms: list[Term], acronyms: frozenset[str]) -> list[Term]:
    """Mark the stop words of the language whose stop words the query uses most.

    Between two languages those that both have. An acronym is none: the NAS is no Polish "us", and
    IT and US are no pronouns.
    """
    plain = {term.plain for term in terms if term.plain} - acronyms
    counts = {lang: len(plain & listed) for lang, listed in BY_LANGUAGE.items()}
    most = max(counts.values())
    spoken = [BY_LANGUAGE[lang] for lang, count in counts.items() if count == most]
    listed = plain.intersection(*spoken) if most else set()
    return [replace(term, stop=True) if term.plain in listed else term for term in terms]


@lru_cache(maxsize=30_000)
def _indexed(kind: str, raw: str, lang: str) -> tuple[str, str]:
    """Return one match's tokens for the columns `words` and `stems`, joined by spaces.

    A vault has few words and uses them often.
    """
    forms = [one for piece in _pieces(kind, raw) for one in piece]
    stemmed = (stem for _, word in forms if word for stem in stems(word, lang))
    return " ".join(plain for plain, _ in forms if plain), " ".join(stemmed)


def _scan(text: str) -> Iterator[Forms]:
    for match in _TOKEN.finditer(text):
        yield from _pieces(match.lastgroup or "word", match.group())


@lru_cache(maxsize=4_096)
def _pieces(kind: str, raw: str) -> tuple[Forms, ...]:
    """Return what one match is made of."""
    if kind == "word":
        return tuple(map(_word_forms, _unapostrophed(raw)))
    if kind == "run":
        run = fold(raw)
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        return ((*((one, "") for one in run), *(("", pair) for pair in pairs)),)
    name = _NAMED.get(raw.lower()) or f"u{ord(raw):x}"
    return (((name, name),),)


def _unapostrophed(raw: str) -> list[str]:
    first, *rest = re.split("['’ʼ]", raw)
    if rest and len(first) <= _ELIDED < len(rest[0]):
        return [first, "".join(rest)]
    return [first] if rest == ["s"] else [first + "".join(rest)]


def _word_forms(raw: str) -> Forms:
    whole = fold(raw)[:MAX_TOKEN]
    parts = _PARTS.findall(raw[:MAX_TOKEN]) if raw.isascii() else ()
    if len(parts) < 2:  # noqa: PLR2004
        return ((whole, raw),)
    return tuple((one, one) for one in (whole, *map(str.lower, parts)))


def _stems(lowered: str, algorithm: str) -> tuple[str, ...]:
    bare = fold(lowered)[:MAX_TOKEN]
    if not algorithm or (lowered.isascii() and not lowered.isalpha()):
        return (bare,)
    found = (fold(stemmed(one, algorithm))[:MAX_TOKEN] for one in dict.fromkeys((lowered, bare)))
    return tuple(dict.fromkeys(found))


# --- what a text says ---------------------------------------------------------------------

HAS_QUESTION, ENDS_ASKING, FIRST_PERSON, NAMES_TIME, HAS_DIGITS = 1, 2, 4, 8, 16
"""Bits of `chunks.flags`."""
_READ, _BEGINNING = 600, 200
"""Characters of a query or a text that are looked at."""

_TIME_WORDS = frozenset(LISTS["asking"]["times"].split())
"""Words, folded, of a text that says when something happens."""
_SELF_WORDS = frozenset(LISTS["asking"]["self"].split())
IDLE_WORDS = frozenset(map(fold, LISTS["asking"]["idle"].split()))
"""Words, folded, that ask what there was and say nothing of what about."""
_SAID = re.compile(r"[^\s.,;:!?()\[\]{}<>\"'’‘“”„«»…*_#|/\\\-–—=+`~¿¡]+")
_DIGITS = re.compile(r"\d")


def flags_of(text: str) -> int:
    """Return the bits of what a chunk's own words say."""
    said = _SAID.findall(fold(text[:_READ]))
    told = (
        "?" in text,
        text.rstrip().endswith("?"),
        not _SELF_WORDS.isdisjoint(text[:_BEGINNING].lower().split()),
        not _TIME_WORDS.isdisjoint(said),
        _DIGITS.search(text) is not None,
    )
    return sum(bit << at for at, bit in enumerate(told))


def asks_when(query: str) -> bool:
    """Tell whether a query asks for a time, as far as its own words say."""
    said = words(query[:_READ])
    joined = f" {' '.join(said)} "
    cues = [LISTS["asking"][name].split("|") for name in ("when", "other")]
    for at, (_, *phrases) in enumerate(cues):
        if any(f" {phrase.strip()} " in joined for phrase in phrases):
            return at == 0
    when, other = (set(alone.split()) for alone, *_ in cues)
    return next((word in when for word in said if word in when | other), False)
