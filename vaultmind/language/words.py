"""Words of a fact, comparable across case, punctuation, diacritics and inflection.

English, Polish and Russian are stemmed; other languages are compared as they are written.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from vaultmind.tables import table

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "’": "'"})
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""What Unicode calls default ignorable: soft hyphens, joiners, characters of no width."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_MARKS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff\u3099\u309a"
)
_TOKEN = re.compile(rf"(?:[^\W_]|[{_MARKS}])+(?:[+#]+(?!\w))?|%|-(?=\d)|[^\w\s]")
_NOT = re.compile(r"\b(?:can(?:['’]t|not)|won['’]t)\b|n['’]t\b")
_DIGIT = re.compile(r"\d")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_POLISH_LETTERS = re.compile("(?i)[ąćęłńśźż]")
_INFLECTED_FROM = 4
"""Letters two words must share at least before only their endings may differ."""
_STEM_FROM = 3
_SURE_FROM = 6
"""Letters from which two words of unknown language are compared as Polish too: `plan` is none
of the forms of `plane`."""


_LISTS = {name: frozenset(text.split()) for name, text in table(__file__)["words"].items()}
NEGATIONS, SMALL = _LISTS["negations"], _LISTS["small"]
"""`SMALL`: words that make no difference between two ways to say one fact."""
_ENGLISH, _POLISH, _RUSSIAN = (_LISTS[one] for one in ("english", "polish", "russian"))
STOP = SMALL | _ENGLISH | (_POLISH - NEGATIONS) | _RUSSIAN | {"i", "a", "do", ""}
"""Words that say nothing about a subject; a lone accent, folded, is none at all."""
SOFT = _LISTS["soft"]
"""Words of the request itself: they need not stand in the fact."""
ENDINGS = _LISTS["endings"] | {""}
"""Folded endings of Polish and Russian nouns, adjectives and verbs."""
_SOFTENED = (("dzie", "d"), ("cie", "t"), ("rze", "r"), ("dze", "g"), ("sze", "ch"), ("ce", "k"))
"""Polish locatives and datives, folded, and the consonant that other cases have (`kod, kodzie`)."""
_HARD_ENDINGS = _LISTS["hard_endings"] | {""}
"""Endings of a noun's cases that leave its last consonant hard."""
_TWO_TONGUES = frozenset(["do"])
"""Small words of English and of Polish: they do not tell which a text is."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: as folded, and every stem it may have, with the stem's language."""

    folded: str
    stems: frozenset[str]
    unsure: bool = False
    """Whether its text may be English or Polish."""

    def same(self, other: Word) -> bool:
        """Tell whether two words are forms of one."""
        if self.folded == other.folded:
            return True
        if _DIGIT.search(self.folded) or _DIGIT.search(other.folded):
            return False
        stems = self.stems & other.stems
        if self.unsure and other.unsure and min(len(self.folded), len(other.folded)) < _SURE_FROM:
            return any(stem.startswith("english") for stem in stems)
        return bool(stems) or inflected(self, other)


def bare(text: str) -> str:
    """Return a text without the characters that nobody sees, which may stand inside a word."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def fold(text: str) -> str:
    """Return a text in lower case without the diacritics of Latin, Greek and Cyrillic."""
    small = bare(text).casefold().translate(_LETTERS)
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", small))
    return unicodedata.normalize("NFC", plain)


_FORMS = {
    fold(form): fold(word)
    for listed in table(__file__)["forms"].values()
    for word, *forms in map(str.split, listed.split(","))
    for form in forms
}
"""An irregular form, folded → the word that it is compared as."""


def tokens(text: str) -> tuple[str, ...]:
    """Return a text's words in lower case, and its symbols that carry meaning (+ # % € 🍕)."""
    plain = unicodedata.normalize("NFC", bare(text)).casefold().replace("i\u0307", "i")  # İzmir
    spelled = _NOT.sub(" not", plain)
    return tuple(token for token in _TOKEN.findall(spelled) if _means(token))


@lru_cache(maxsize=4096)
def saying(text: str) -> tuple[str, ...]:
    """Return what two ways to say one fact have in common: words folded, small ones left out."""
    folded = tuple(fold(token) for token in tokens(text))
    kept = tuple(_singular(token) for token in folded if token not in SMALL)
    return kept or folded


def content(text: str) -> tuple[Word, ...]:
    """Return the words of a text that say what it is about, each once."""
    found = {fold(token): token for token in tokens(text)}
    spoken = _languages(frozenset(found), text)
    return tuple(_word(token, spoken) for folded, token in found.items() if folded not in STOP)


def letters_shared(one: str, other: str) -> int:
    """Return with how many letters two words begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def inflected(one: Word, other: Word) -> bool:
    """Tell whether two Polish or two Russian words differ by their endings only."""
    russian = bool(_CYRILLIC.search(one.folded))
    language = "russian" if russian else "polish"
    if not all(any(stem.startswith(language) for stem in word.stems) for word in (one, other)):
        return False
    if not russian and (_softened(one.folded, other.folded) or _softened(other.folded, one.folded)):
        return True
    shared = letters_shared(one.folded, other.folded)
    endings = one.folded[shared:], other.folded[shared:]
    return shared >= _INFLECTED_FROM - russian and all(end in ENDINGS for end in endings)


def _softened(soft: str, plain: str) -> bool:
    """Tell whether a Polish word is the locative or dative of another one."""
    for ending, hard in _SOFTENED:
        if soft.endswith(ending):
            base = soft.removesuffix(ending) + hard
            return (
                len(base) >= _STEM_FROM
                and plain.startswith(base)
                and plain[len(base) :] in _HARD_ENDINGS
            )
    return False


@lru_cache(maxsize=20_000)
def _word(token: str, spoken: tuple[str, ...]) -> Word:
    folded = fold(token)
    if not folded.isalpha():
        return Word(folded, frozenset())
    languages = ("russian",) if _CYRILLIC.search(folded) else spoken
    if languages[-1] != "english" and folded in _FORMS:
        token = folded = _FORMS[folded]
    stems = {
        f"{language} {stem}"
        for language in languages
        for form in (token, folded)
        if len(stem := fold(stemmed(form, language))) >= _STEM_FROM
    }
    return Word(folded, frozenset(stems), len(languages) > 1)


def _languages(folded: frozenset[str], text: str) -> tuple[str, ...]:
    """Return how a text's Latin words may be inflected; both ways where it does not say.

    Stemmed as the other language, words fall together that have nothing in common.
    """
    polish = len(folded & _POLISH) + 2 * bool(_POLISH_LETTERS.search(text))
    english = len((folded - _TWO_TONGUES) & _ENGLISH)
    if polish == english:
        return ("english", "polish")
    return ("polish",) if polish > english else ("english",)


def stemmed(word: str, language: str) -> str:
    """Return a word's stem by one of Snowball's stemmers, by name.

    They keep state while they work: one caller at a time.
    """
    with _stemming:
        return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:  # noqa: ANN401
    import snowballstemmer

    return snowballstemmer.stemmer(language)


_stemming = threading.Lock()


def _means(token: str) -> bool:
    return token in "%-" or token[0].isalnum() or unicodedata.category(token[0])[0] in "SML"


def _singular(token: str) -> str:
    """Return an English plural or third person without its `s`; both sides lose it alike."""
    ends = len(token) > _STEM_FROM and token.isascii() and token.endswith("s")
    return token[:-1] if ends and not token.endswith("ss") else token
