"""What a correction puts in which fact's place: "No, it's Thursday, not Tuesday"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.match import find
from vaultmind.memory.words import SOFT, Word, content
from vaultmind.session.voice.owners import is_anothers
from vaultmind.session.voice.placing import LONGER, WORD, New, is_fragment, put, spans
from vaultmind.types import Fact

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


@dataclass(frozen=True, slots=True)
class Change:
    """The new fact, and what names the old one; nothing where there is none to replace.

    Without a new one the old fact is meant, but not certainly what should stand there.
    """

    new: str
    old: str = ""
    inside: bool = False
    """Only the words that were wrong are other words now: nothing of the fact is lost."""


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
        found = _saying(facts, old)
        fact = _holding(found, asked, that)
        if fact is None:
            return None if found else Change(new, old)
        led = _led(asked)
        text = put(fact.text, old, New(new, led, _clause(asked)))
        return Change(text, _name(fact), inside=text not in ("", led))
    if that is not None:
        text = _alike(that.text, new)
        if text:
            text = "" if is_fragment(text, that.text) else text
            return Change(text, _name(that))
    return Change(new) if len(WORD.findall(new)) >= FRAGMENT else None


def _saying(facts: Sequence[Fact], old: str) -> list[Fact]:
    """Return the facts that say some words, else those that are about them."""
    found = [fact for fact in facts if spans(fact.text, old)]
    return found or [facts[at] for at in find(facts, old).found]


def _holding(found: Sequence[Fact], asked: Correction, that: Fact | None) -> Fact | None:
    """Return the one fact that is meant of those that say the old words: never one about somebody
    else; of several, the one that the rest of the sentence is about, else the one touched last.
    """
    short = len(WORD.findall(asked.new)) <= len(WORD.findall(asked.old)) + LONGER
    new = asked.new if short else ""  # a clause of its own says whom it is about
    found = [fact for fact in found if not is_anothers(fact.text, asked.said, asked.old, new)]
    if not found:
        return None
    given = _hard(asked.said)
    shares = [sum(_is_in(word, content(fact.text)) for word in given) for fact in found]
    best = [fact for fact, share in zip(found, shares, strict=True) if share == max(shares)]
    if that is not None and any(fact == that for fact in best):
        return that
    return best[0] if len(best) == 1 else None


def _led(asked: Correction) -> str:
    """Return the new words with the small word that stood before them: "в среду"."""
    before = list(WORD.finditer(asked.said[: max(0, asked.said.rfind(asked.new))]))
    small = bool(before) and not content(before[-1].group())
    return f"{before[-1].group()} {asked.new}" if small else asked.new


def _clause(asked: Correction) -> str:
    """Return the new words with what was said right after them: "4 cats" of "4 cats, not 2"."""
    at = asked.said.rfind(asked.new, 0, asked.said.rfind(asked.old))
    return re.split(r"[,;.!?]\s|[.!?]$", asked.said[at:])[0].strip() if at >= 0 else asked.new


def _is_in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.same(other) for other in others)


def _alike(text: str, new: str) -> str:
    """Return the fact that new words make of one that they are about; empty if they are not."""
    said, given = content(text), _hard(new)
    if len(WORD.findall(new)) >= FRAGMENT:
        shared = sum(_is_in(word, said) for word in given)
        return new if shared and shared >= min(len(said), len(given)) * ABOUT else ""
    kinds = [match for match in WORD.finditer(text) if _kind(match.group()) == _kind(new)]
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
