"""Whether a sentence of a summary is said by its sources: its numbers, names and decisions.

A summary may say in other words what was said. It may not count, name or decide what nobody
counted, named or decided, and most of what it is about must have been spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.consolidate.facts.irregular import base
from vaultmind.index.words.language import detect
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.language.text import fold_masked as plain
from vaultmind.memory.contradictions.alike import alike
from vaultmind.memory.contradictions.claims import read
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.sensitive import sensitive
from vaultmind.memory.words import NEGATIONS, SMALL, SOFT, Word, content, fold, forms
from vaultmind.redact import mask
from vaultmind.session.sentences import CAPITAL_NOUNS, said, sentences

SPOKEN_OF = 0.6
"""Share of a longer sentence's telling words that its sources must hold."""
SHORT = 4
"""A sentence of so few telling words must have been said with each of them."""
TOGETHER = 0.6
"""Share of a longer sentence's telling words that a few sources in a row must say, ..."""
WINDOW = 6
"""... so many: what nobody said is put together from all over a talk."""
NEAR = 0.5
"""Share of its telling words that a sentence must hold to take a side on it."""

_OF_USER = re.compile(r"(?:the )?user\b|i\b|i'm\b|uzytkowni\w+|пользовател\w+|я\b")
_OF_OTHERS = re.compile(r"\b(?:assistant|asystent\w*|ассистент\w*)\b")
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
    planning spoke speak speaking work works
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
    return _unsaid(sentence, sources, [word for word in words if _tells(word)], held)


def _unsaid(
    sentence: str, sources: Sequence[str], telling: Sequence[Word], held: Sequence[_Held]
) -> str:
    """Return what of a sentence's statement is not said, or said the other way round."""
    strange = [word for word in telling if not _spoken(word, held)]
    most = 0 if len(telling) <= SHORT else (1 - SPOKEN_OF) * len(telling)
    if len(strange) > most or (strange and sensitive(sentence)):
        return f"most of its words, such as {strange[0].folded}"
    if telling and len(telling) > SHORT and _nearest(telling, held) < TOGETHER:
        return f"most of its words together, such as {telling[0].folded}"
    if sensitive(sentence) and not _in_one(telling, held):
        return "something private about a person"
    return _undecided(sentence, telling, held) or _turned(sentence, telling, sources)


def of_the_user(sentence: str) -> bool:
    """Tell whether a sentence states something of the user: they must have said it themselves."""
    folded = fold(sentence)
    return bool(_OF_USER.match(folded)) and not _OF_OTHERS.search(folded)


def _nearest(telling: Sequence[Word], held: Sequence[_Held]) -> float:
    """Return the greatest share of telling words that a few sources in a row say."""
    there = [[_spoken(word, [one]) for one in held] for word in telling]
    starts = range(max(1, len(held) - WINDOW + 1))
    best = max(sum(any(row[at : at + WINDOW]) for row in there) for at in starts)
    return best / len(telling)


def _in_one(telling: Sequence[Word], held: Sequence[_Held]) -> bool:
    """Tell whether one source says all telling words: sensitive things are not put together."""
    return any(all(_spoken(word, [one]) for word in telling) for one in held)


def _turned(sentence: str, telling: Sequence[Word], sources: Sequence[str]) -> str:
    """Return that a sentence takes the other side of what its sources say of the same."""
    said = [_ANSWER.sub("", one) for source in sources for one in _sentences(source)]
    shared = [_shared(telling, one) for one in said]
    most = max(shared, default=0)
    if not most or most < NEAR * len(telling):
        return ""
    best = [read(one) for one, count in zip(said, shared, strict=True) if count == most]
    mine = read(sentence)
    for name, pole in mine.poles:
        sides = {side[name] for one in best if name in (side := dict(one.poles))}
        if sides and pole not in sides:
            return "it the other way round"
    if (
        mine.changed
        or "liking" in dict(mine.poles)
        or any(one.negative == mine.negative for one in best)
    ):
        return ""
    return "it the other way round"


_ANSWER = re.compile(r"^(?:no|nope|nie|нет)[.,!;:]+\s+(?=\S)", re.IGNORECASE)
"""A no that answers what was asked: it takes no side of what comes after it."""


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text))


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
    verb = base(word.folded)
    return any(
        bool(word.stems & one.stems)
        or any(alike(word, other) or base(other.folded) == verb for other in one.words)
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
