"""Whether a sentence of a summary is said by its sources: its numbers, names and decisions.

A summary may say in other words what was said. It may not count, name or decide what nobody
counted, named or decided, and most of what it is about must have been spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.index.language import detect
from vaultmind.index.stopwords import BY_LANGUAGE
from vaultmind.memory.contradictions.alike import alike
from vaultmind.memory.contradictions.claims import read
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.intents.text import fold as plain
from vaultmind.memory.words import NEGATIONS, SMALL, SOFT, Word, content, fold, forms
from vaultmind.redact import mask
from vaultmind.session.summary.cues import said
from vaultmind.session.summary.sentences import sentences
from vaultmind.session.summary.weigh import CAPITAL_NOUNS

SPOKEN_OF = 0.5
"""Share of a sentence's content words that its sources must hold."""
FEWEST = 3
"""Content words from which that share is asked for."""

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_THOUSANDS = re.compile(r"[., \u00a0\u202f](?=\d{3}(?!\d))")
_ISO = re.compile(r"\b\d{4}-(\d\d)-\d\d\b")
_CAPITAL = re.compile(r"(?<![\w'’])[^\W\d_][\w'’-]*")
_ALSO_MONTHS = re.compile(r"(?<!\w)(?:may|march|marz)(?!\w)", re.IGNORECASE)
_ORDINARY = re.compile(
    r".{3,}(?:ing|ed|ly|tions?|ments?|ness|ities|anie|enie|ano|ono|osc|ние|ние|ция|ции|но|ung|"
    r"ungen|cion|ciones|mente|ment)"
)
"""Endings, folded, that a word which opens a sentence has, and a name has not."""
_TENS = {
    20: "twenty dwadziescia двадцать",
    30: "thirty trzydziesci тридцать",
    40: "forty czterdziesci сорок",
    50: "fifty piecdziesiat пятьдесят",
    60: "sixty szescdziesiat шестьдесят",
    70: "seventy siedemdziesiat семьдесят",
    80: "eighty osiemdziesiat восемьдесят",
    90: "ninety dziewiecdziesiat девяносто",
    100: "hundred sto сто",
}
_BY_NAME = {word: str(number) for number, line in _TENS.items() for word in line.split()}
_SUMMING_UP = """
    user users assistant agent session sessions talk talks conversation conversations discussion
    discussions topic topics summary question questions decision decisions plan plans next open
    finally later earlier first second then meanwhile overall both other another several
    mention mentioned discuss discussed talked share shared express expressed explain explained
    asked praised complimented thanked encouraged agreed emphasized highlighted ended noted stated
    uzytkownik uzytkowniczka asystent rozmowa rozmowy sesja sesje temat tematy podsumowanie
    pytanie pytania decyzja decyzje plan plany nastepnie pozniej wczesniej najpierw potem ponadto
    takze oboje inne kolejne wspomnial wspomniala omowili omowiono zapytal zapytala wyjasnil
    wyjasnila podkreslil podkreslila
    пользователь пользовательница ассистент разговор разговоры сессия сессии тема темы итог
    вопрос вопросы решение решения план планы затем позже раньше сначала потом кроме также оба
    упомянул упомянула обсудили обсуждали спросил спросила объяснил объяснила поделился поделилась
    benutzer assistent gesprach gesprache sitzung thema frage entscheidung plan danach spater
    usuario asistente conversacion sesion tema pregunta decision despues luego
    utilisateur assistant conversation seance sujet question decision ensuite puis
"""
_FRAME = frozenset(fold(word) for word in _SUMMING_UP.split())
"""What a summing-up says without anybody having said it."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What a text holds that a sentence about it may say."""

    words: tuple[Word, ...]
    plain: frozenset[str]
    """The same words, folded: looked at first."""
    stems: frozenset[str]
    numbers: frozenset[str]
    months: frozenset[str]
    days: frozenset[str]
    decisions: tuple[str, ...]


def astray(sentence: str, sources: Sequence[str]) -> str:
    """Return what a sentence says that its sources do not, in words; empty where it is sound.

    `sources` are the texts it was written from, and what else may stand in it: the speakers'
    names, the date of the talk.
    """
    if mask(sentence).text != sentence:
        return "a secret"
    held = [_held(source) for source in sources]
    numbers = _numbers(sentence, strict=True)
    if lost := numbers - frozenset().union(*(one.numbers for one in held)):
        return f"the number {min(lost)}"
    named = _months(sentence), _days(sentence)
    if named[0] - frozenset().union(*(one.months for one in held)) or named[1] - frozenset().union(
        *(one.days for one in held)
    ):
        return "a month or a day of the week"
    words = content(sentence)
    unsaid = [word for word in words if not _spoken(word, held)]
    names = _names(sentence)
    if stranger := next((word for word in unsaid if word.folded in names), None):
        return f"the name {stranger.folded}"
    telling = [word for word in words if _tells(word)]
    strange = [word for word in telling if word in unsaid]
    if len(telling) >= FEWEST and len(strange) > (1 - SPOKEN_OF) * len(telling):
        return f"most of its words, such as {strange[0].folded}"
    return _undecided(sentence, telling, held)


def wholly_said(sentence: str, sources: Sequence[str]) -> bool:
    """Tell whether sources say a sentence and each of its words: more than `astray` asks for.

    For a sentence of which a part may have been said by a message that may not be recalled.
    """
    if astray(sentence, sources):
        return False
    held = [_held(source) for source in sources]
    return all(_spoken(word, held) for word in content(sentence))


def _undecided(sentence: str, telling: Sequence[Word], held: Sequence[_Held]) -> str:
    """Return what is decided in a sentence and in none of its sources."""
    if not _decides(sentence):
        return ""
    near = [
        source
        for one in held
        for source in one.decisions
        if any(alike(word, other) for word in telling for other in content(source))
    ]
    if not near:
        return "a decision"
    most = max(_shared(telling, source) for source in near)
    best = [source for source in near if _shared(telling, source) == most]
    negative = read(sentence).negative
    return "" if any(read(source).negative == negative for source in best) else "what was decided"


@lru_cache(maxsize=4096)
def _shared_words(text: str) -> tuple[Word, ...]:
    return content(text)


def _shared(words: Sequence[Word], text: str) -> int:
    return sum(any(alike(word, other) for other in _shared_words(text)) for word in words)


def _decides(text: str) -> bool:
    folded = " ".join(fold(word) for word in re.findall(r"[\w'’]+", text))
    return said(folded.replace("'", ""), "decision") and not said(folded, "undecided")


@lru_cache(maxsize=4096)
def _held(text: str) -> _Held:
    words = content(text)
    return _Held(
        words,
        frozenset(word.folded for word in words),
        frozenset(stem for word in words for stem in word.stems),
        _numbers(text, strict=False),
        _months(text) | frozenset(str(int(one)) for one in _ISO.findall(text)),
        _days(text),
        tuple(one for one in sentences(text) if _decides(one)),
    )


def _spoken(word: Word, held: Sequence[_Held]) -> bool:
    """Tell whether a word is said by any of the sources, in whatever form."""
    if any(word.folded in one.plain for one in held):
        return True
    if word.folded[:1].isdigit():
        return True  # numbers are looked at by themselves
    return any(
        bool(word.stems & one.stems) or any(alike(word, other) for other in one.words)
        for one in held
    )


def _tells(word: Word) -> bool:
    return (
        word.folded[:1].isalpha()
        and word.folded not in SMALL | SOFT | NEGATIONS | _FRAME
        and word.folded not in _stops()
    )


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    return frozenset().union(*BY_LANGUAGE.values())


def _names(text: str) -> frozenset[str]:
    """Return the words, folded, that are names by their capital letter."""
    if detect(text) in CAPITAL_NOUNS:
        return frozenset()
    found = set()
    for match in _CAPITAL.finditer(text):
        word = re.sub(r"['’]s?$", "", match.group())
        folded = fold(word)
        if not word[0].isupper() or folded in _stops() or _is_frame(word):
            continue
        before = text[: match.start()].rstrip("\"„«“'(*_ ")
        opens = not before or before[-1] in ".!?…:"
        if opens and _ORDINARY.fullmatch(folded) and not text[match.end() :].lstrip()[:1].isupper():
            continue
        found.add(folded)
    return frozenset(found)


def _is_frame(word: str) -> bool:
    return fold(word) in _FRAME or bool(forms(word).stems & _frame_stems())


@lru_cache(maxsize=1)
def _frame_stems() -> frozenset[str]:
    return frozenset(stem for word in _FRAME for stem in forms(word).stems)


@lru_cache(maxsize=4096)
def _numbers(text: str, *, strict: bool) -> frozenset[str]:
    """Return the numbers of a text, each written in one way; `strict`: those in digits alone.

    Small numbers in words stand for much else (`one of them`), so that none is asked for.
    """
    digits = {_plain_number(one) for one in _DIGITS.findall(_THOUSANDS.sub("", text))}
    if strict:
        return frozenset(digits)
    taken = measures(plain(text).text, set())
    parts = {part for one in digits for part in one.split(":")}
    hours = {clock.split(":")[0] for clock in taken.clocks}
    words = {_BY_NAME[word] for word in map(fold, text.split()) if word in _BY_NAME}
    numbers = {_plain_number(one) for one in taken.numbers}
    return frozenset(digits | parts | taken.clocks | hours | words | numbers | _months(text))


def _plain_number(digits: str) -> str:
    """Return `1,50` as `1.5`, `07` as `7`, `19:00` as `19`."""
    if ":" in digits:
        hour, _, minute = digits.partition(":")
        return hour.lstrip("0") + ("" if set(minute) == {"0"} else f":{minute}") or "0"
    whole, _, rest = digits.replace(",", ".").partition(".")
    whole, rest = whole.lstrip("0") or "0", rest.rstrip("0.")
    return f"{whole}.{rest}" if rest else whole


def _months(text: str) -> frozenset[str]:
    """Return the months named; `may` and `march` in small letters are none."""
    kept = _ALSO_MONTHS.sub(lambda m: m.group() if m.group()[0].isupper() else " ", text)
    return measures(plain(kept).text, set()).months


def _days(text: str) -> frozenset[str]:
    return measures(plain(text).text, set()).days
