"""What a correction puts in which fact's place: "No, it's Thursday, not Tuesday"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.match import find
from vaultmind.memory.words import SOFT, Word, content
from vaultmind.types import Fact

LONGER = 2
"""So many words more than the old ones, the new ones are a sentence of their own."""
ABOUT = 0.5
"""Part of the words that a fact and a correction of it share at least, where nothing else tells."""
FRAGMENT = 3
"""So few words alone say nothing without the fact they belong to."""
_DAY_NAMES = """monday tuesday wednesday thursday friday saturday sunday poniedzial wtor sroda
    srode srody czwart piat piet sobot niedziel понедельник вторник сред четверг пятниц суббот
    воскресен montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes miercoles
    jueves viernes sabado domingo lundi mardi mercredi jeudi vendredi samedi dimanche"""
_DAYS = tuple(_DAY_NAMES.split())
"""What the names of days begin with, in all their cases."""
_MONTH_NAMES = """january february march april june july august september october november december
    stycz lutego marzec marca kwiet kwiec maja czerw lipiec lipca sierp wrzes pazdz listop grudn
    grudz январ феврал март апрел июн июл август сентябр октябр ноябр декабр"""
_MONTHS = tuple(_MONTH_NAMES.split())
_WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")


@dataclass(frozen=True, slots=True)
class Change:
    """The new fact, and what names the old one; nothing where there is none to replace."""

    new: str
    old: str = ""


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction as it was said: the whole sentence, what is wrong in it and what is right."""

    said: str
    old: str
    """Empty where the sentence does not name what is wrong."""
    new: str


def corrected(facts: Sequence[Fact], asked: Correction, that: Fact | None) -> Change | None:
    """Return what a correction means among an agent's facts; None where that is not certain.

    Without old words `that`, the fact touched last, is meant where the new words are about the
    same. A fragment takes the place of the old words in the fact; a sentence takes the whole
    fact's.
    """
    old, new = asked.old, asked.new
    if old:
        fact = _holding(facts, asked, that)
        if fact is None:
            return Change(new, old)
        return Change(_put(fact.text, asked), _name(fact))
    if that is not None:
        text = _alike(that.text, new)
        if text:
            return Change(text, _name(that))
    return Change(new) if len(_WORD.findall(new)) >= FRAGMENT else None


def _holding(facts: Sequence[Fact], asked: Correction, that: Fact | None) -> Fact | None:
    """Return the one fact that says the old words; of several, the one that the rest of the
    sentence is about, else the one touched last.
    """
    found = [fact for fact in facts if _span(fact.text, asked.old)]
    if not found:
        match = find(facts, asked.old)
        found = [facts[at] for at in match.found]
    given = _hard(asked.said)
    shares = [sum(_is_in(word, content(fact.text)) for word in given) for fact in found]
    best = [fact for fact, share in zip(found, shares, strict=True) if share == max(shares)]
    if that is not None and any(fact == that for fact in best):
        return that
    return best[0] if len(best) == 1 else None


def _put(text: str, asked: Correction) -> str:
    """Return a fact with new words in the old ones' place, or the new words alone."""
    old, new = asked.old, _led(asked)
    span = _span(text, old)
    if span is None or len(_WORD.findall(new)) > len(_WORD.findall(old)) + LONGER:
        return new
    start, end = _with_shared(text, span, new)
    if start == span[0]:
        new = asked.new
    rest = content(text[:start]) + content(text[end:])
    if not rest or any(_is_in(word, rest) for word in _hard(new)):
        return new
    return f"{text[:start]}{new}{text[end:]}"


def _led(asked: Correction) -> str:
    """Return the new words with the small word that stood before them: "в среду"."""
    before = list(_WORD.finditer(asked.said[: max(0, asked.said.rfind(asked.new))]))
    small = bool(before) and not content(before[-1].group())
    return f"{before[-1].group()} {asked.new}" if small else asked.new


def _with_shared(text: str, span: tuple[int, int], new: str) -> tuple[int, int]:
    """Return the span with the words before it that the new words begin with as well."""
    before = list(_WORD.finditer(text[: span[0]]))
    given = [match.group() for match in _WORD.finditer(new)]
    for many in range(min(len(before), len(given) - 1), 0, -1):
        tail = [match.group() for match in before[-many:]]
        if all(_alike_words(one, other) for one, other in zip(tail, given, strict=False)):
            return before[-many].start(), span[1]
    return span


def _alike_words(one: str, other: str) -> bool:
    """Tell whether two words are forms of one, or two small words: "во" and "в"."""
    left, right = content(one), content(other)
    if not left and not right:
        return one[0].casefold() == other[0].casefold()
    return bool(left) and _same(left, right)


def _is_in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.same(other) for other in others)


def _span(text: str, old: str) -> tuple[int, int] | None:
    """Return where a fact says the old words, in whatever of their forms."""
    words = list(_WORD.finditer(text))
    wanted = [content(match.group()) for match in _WORD.finditer(old)]
    if not any(wanted):
        return None
    while wanted and not wanted[0]:
        del wanted[0]  # a preposition in front, which the fact may lack
    for first in range(len(words) - len(wanted) + 1):
        found = [content(match.group()) for match in words[first : first + len(wanted)]]
        if all(_same(one, other) for one, other in zip(found, wanted, strict=True)):
            return words[first].start(), words[first + len(wanted) - 1].end()
    return None


def _same(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    return len(one) == len(other) and all(a.same(b) for a, b in zip(one, other, strict=True))


def _alike(text: str, new: str) -> str:
    """Return the fact that new words make of one that they are about; empty if they are not."""
    said, given = content(text), _hard(new)
    if len(_WORD.findall(new)) >= FRAGMENT:
        shared = sum(_is_in(word, said) for word in given)
        return new if shared and shared >= min(len(said), len(given)) * ABOUT else ""
    kinds = [match for match in _WORD.finditer(text) if _kind(match.group()) == _kind(new)]
    if not _kind(new) or len(kinds) != 1:
        return ""
    return f"{text[: kinds[0].start()]}{new}{text[kinds[0].end() :]}"


def _kind(text: str) -> str:
    """Return what sort of thing a fragment is, where that shows: a number, a day, a month."""
    folded = " ".join(word.folded for word in content(text))
    if re.fullmatch(r"\d[\d.,:/ -]*(?:am|pm)?", text.strip()):
        return "number"
    if any(folded.startswith(day) for day in _DAYS) and " " not in folded:
        return "day"
    return "month" if any(folded.startswith(one) for one in _MONTHS) and " " not in folded else ""


def _hard(text: str) -> tuple[Word, ...]:
    return tuple(word for word in content(text) if word.folded not in SOFT)


def _name(fact: Fact) -> str:
    return f"^{fact.block}" if fact.block else fact.text
