"""Words and stems: what full text holds of a text, and what it looks for.

A text becomes two strings of tokens, one for each full-text column. `words` has every word
folded (no case, no diacritics) and, for `camelCase` and `gpt4`, its parts. `stems` has their
stems; scripts without spaces have single characters in the one and pairs in the other. An
identifier, a path or a version is a phrase of its parts, so it is found exactly and in parts.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from vaultmind.index.words.language import CYRILLIC, OTHER_SCRIPTS, STEMMERS
from vaultmind.index.words.stopwords import BASES, BY_LANGUAGE, LISTS

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
_JOINT = re.compile(r"(?:[_\-./\\:@#+&,=~]|::|->|/\.|\./){1}")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_FOLDED_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200c\u200d]"
)
_LETTERS = str.maketrans(
    {"ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h"}
)
_NAMED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", "f++": "fplusplus"}
_SOFT = (("cz", "k"), ("sz", "s"), ("ch", "h"), ("c", "k"), ("ч", "к"), ("щ", "ш"), ("ж", "г"))
_VOWELS = re.compile("[aeiouyаеиоуыэюяйьъ]")
_ELIDED = 2
"""Letters before an apostrophe that are an article of their own (l'eau, d'Arc, o'Neill)."""
_WHOLE_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w'’-])")
_OPERATORS = frozenset(("and", "or", "not"))
"""Of search engines: typed in capitals, and no acronyms."""
_stemming = threading.Lock()


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for."""

    words: tuple[str, ...]
    """Tokens of the `words` column, in this order side by side; often one."""
    stems: tuple[str, ...] = ()
    """Tokens of the `stems` column, of which any will do: one or more for each language."""
    stop: bool = False
    """Whether it is a word that says nothing about a subject."""

    @property
    def plain(self) -> str:
        """Return the word if it is a single one, for looking up what resembles it."""
        return self.words[0] if len(self.words) == 1 else ""


def fold(text: str) -> str:
    """Return the text without case and diacritics: `Żółć` → `zolc`, `ёлка` → `елка`."""
    if text.isascii():
        return text.lower()
    bare = _FOLDED_MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)


def shortened(query: str) -> str:
    """Return a query of a length that can be looked for in bounded time: its end and its start."""
    if len(query) <= MAX_QUERY:
        return query
    start, _, cut = query[: MAX_QUERY - QUERY_END].rpartition(" ")
    cut_too, _, end = query[-QUERY_END:].partition(" ")
    return f"{end or cut_too}\n{start or cut}"


def words(text: str) -> list[str]:
    """Return the folded words of a text, in order; a run without spaces is one word."""
    return [token for _, _, tokens, _ in _scan(text) for token in tokens[:1]]


def index_terms(text: str, lang: str) -> tuple[str, str]:
    """Return the text's tokens for the columns `words` and `stems`, joined by spaces."""
    pairs = [
        _indexed(match.lastgroup or "word", match.group(), lang) for match in _TOKEN.finditer(text)
    ]
    found, stemmed = zip(*pairs, strict=True) if pairs else ((), ())
    return " ".join(found), " ".join(stemmed)


def query_terms(query: str, langs: Sequence[str]) -> list[Term]:
    """Return what to look for, stemmed in every language that the index holds."""
    terms: dict[tuple[str, ...], Term] = {}
    chain: list[str] = []
    after, parts = -2, 0
    for kind, raw, tokens, (start, end) in _scan(query):
        joined = after >= 0 and kind == "word" and _JOINT.fullmatch(query[after:start]) is not None
        if not joined:
            _add_chain(terms, chain, parts)
            chain, parts = [], 0
        if len(chain) <= MAX_TOKEN:
            chain = [*chain, *tokens]
        parts += 1
        after = end if kind == "word" else -2
        for term in _token_terms(kind, raw, tokens, langs):
            terms.setdefault(term.words + (() if term.words else term.stems), term)
        if len(terms) >= MAX_QUERY_WORDS:
            break
    _add_chain(terms, chain, parts)
    return _with_stops(list(terms.values()), _acronyms(query))


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


def _add_chain(terms: dict[tuple[str, ...], Term], chain: list[str], parts: int) -> None:
    if parts > 1 and len(chain) <= MAX_TOKEN:
        terms.setdefault(tuple(chain), Term(tuple(chain)))


def _token_terms(kind: str, raw: str, tokens: list[str], langs: Sequence[str]) -> Iterator[Term]:
    """Yield the terms of one token of a query: the whole first, then what it is made of."""
    if kind == "run":
        yield Term(tuple(tokens))
        yield from (Term((), (pair,)) for pair in dict.fromkeys(_pairs(raw)))
        return
    whole, *parts = tokens
    yield Term((whole,), _stems_in(whole if parts else raw, langs))
    if parts:
        yield Term(tuple(parts))
        yield from (Term((part,), _stems_in(part, langs)) for part in parts if len(part) > 1)


def _stem_language(word: str, lang: str) -> str:
    """Return whose stems a word gets: a Latin word in Russian text is stemmed as English."""
    if word.isascii():
        return "en" if lang in OTHER_SCRIPTS or not lang else lang
    return "ru" if _CYRILLIC.match(word) and lang not in CYRILLIC else lang


def _stems_in(word: str, langs: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stem for lang in langs or ("en",) for stem in stems(word, lang)))


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


@lru_cache(maxsize=100_000)
def _indexed(kind: str, raw: str, lang: str) -> tuple[str, str]:
    """Return one match's tokens for the columns `words` and `stems`, joined by spaces.

    A vault has few words and uses them often.
    """
    found: list[str] = []
    stemmed: list[str] = []
    for piece, tokens in _pieces(kind, raw):
        found += tokens
        if kind == "run":
            stemmed += _pairs(piece)
        elif len(tokens) == 1:
            stemmed += stems(piece, lang)
        else:
            stemmed += [stem for token in tokens for stem in stems(token, lang)]
    return " ".join(found), " ".join(stemmed)


def _scan(text: str) -> Iterator[tuple[str, str, list[str], tuple[int, int]]]:
    """Yield (kind, raw, tokens of the `words` column, span) for each token of a text."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        for piece, tokens in _pieces(kind, match.group()):
            yield kind, piece, tokens, match.span()


def _pieces(kind: str, raw: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (piece, tokens of the `words` column) for what one match is made of."""
    if kind == "word" and ("'" in raw or "’" in raw or "ʼ" in raw):
        for piece in _unapostrophed(raw):
            yield piece, list(_folded_parts(piece))
    elif kind == "word":
        yield raw, list(_folded_parts(raw))
    elif kind == "run":
        run = fold(raw)
        yield run, list(run)
    else:
        name = _NAMED.get(raw.lower()) or f"u{ord(raw):x}"
        yield name, [name]


def _unapostrophed(raw: str) -> list[str]:
    first, *rest = re.split("['’ʼ]", raw)
    if len(first) <= _ELIDED and len(rest[0]) > _ELIDED:
        return [first, "".join(rest)]
    return [first] if rest == ["s"] else [first + "".join(rest)]


@lru_cache(maxsize=50_000)
def _folded_parts(raw: str) -> tuple[str, ...]:
    whole = fold(raw)[:MAX_TOKEN]
    mixed = raw.isascii() and not (raw.islower() or raw.istitle() or raw.isdigit())
    if not mixed and not (raw.isascii() and raw.isalnum() and not raw.isalpha()):
        return (whole,)
    parts = _PARTS.findall(raw[:MAX_TOKEN])
    return (whole, *(part.lower() for part in parts)) if len(parts) > 1 else (whole,)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=50_000)
def _stems(lowered: str, algorithm: str) -> tuple[str, ...]:
    bare = fold(lowered)[:MAX_TOKEN]
    if not algorithm or (lowered.isascii() and not lowered.isalpha()):
        return (bare,)
    with _stemming:
        stemmer = _stemmer(algorithm)
        full = fold(stemmer.stemWord(lowered))[:MAX_TOKEN]
        plain = full if lowered == bare else fold(stemmer.stemWord(bare))[:MAX_TOKEN]
    return (full,) if full == plain else (full, plain)


@cache
def _stemmer(algorithm: str) -> Any:  # noqa: ANN401
    import snowballstemmer

    return snowballstemmer.stemmer(algorithm)
