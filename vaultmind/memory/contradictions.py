"""Which facts a new one takes the place of: only where that is certain, or nearly.

A network tells what is likely enough (`memory/contrast.py`). Certain are three ways: another value
of one named slot ("My boss is Julia", "Peter is my boss"), the same words with another number ("Has
two cats", "Has three cats"), the same words denied. What is left in doubt stays, each fact with its
day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from vaultmind.language.names import alike, covers, mutual
from vaultmind.language.text import fold_word
from vaultmind.language.words import NEGATIONS, Word, content, fold
from vaultmind.memory.brain import PROVENANCE
from vaultmind.memory.contrast import outdates
from vaultmind.tables import table
from vaultmind.types import Fact

_SAID = table(__file__)["contradictions"]


def _pattern(name: str) -> re.Pattern[str]:
    text = fold_word(_SAID[name].replace("{now}", _SAID["now"]))
    return re.compile(rf"\b(?:{text})(?!\w)")


_CUES = {
    name: _pattern(name) for name in ("home", "employer", "called", "reply", "odpowiedź", "age")
}
"""What says that a person has the value that follows: a name, but for these."""
_ANY_VALUE = ("age", "odpowiedź")
_COPULA, _SLOT, _STATE = map(_pattern, ("copula", "slot", "state"))
"""... of what somebody has one of; and what holds now and may have another number next: an event
("ran 5 km") may happen again."""
_DENIED, _NOT_DENIED, _LIKING = map(_pattern, ("denied", "not_denied", "liking"))
_CHANGED, _HEDGED = map(_pattern, ("changed", "hedged"))
"""Words that make no difference to what a fact is about; and those that say that something holds
beside the rest, at times, not yet or not any more."""
_ASIDE, _LEAD, _TAIL, _JOINT = (
    re.compile(_SAID[one]) for one in ("aside", "lead", "tail", "joint")
)
_COUNTS = {fold(w): str(n) for n, line in enumerate(_SAID["numbers"], 1) for w in line.split()}
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?(?!\w)")
_COUNTRY = re.compile(_SAID["country"])
"""Who lives in a country may be said to live in a town of it next."""
_MOST_VALUE = 4
"""Words of a value; more say something else besides."""
_CLAUSES = re.compile(r"[,;.!] ")
_BIRTHDAYS = 2
"""A son who is older by more is another son."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A fact taken apart, as far as it is certain."""

    folded: str
    words: tuple[Word, ...]
    """What it is about, without numbers and denials."""
    numbers: tuple[str, ...]
    denied: bool
    hedged: bool
    slots: tuple[tuple[str, tuple[Word, ...], tuple[Word, ...]], ...]
    """(slot, whose, value)."""


def contradicts(new: str, old: str) -> bool:
    """Tell whether a new fact says that an old one does not hold any more, nearly for certain."""
    one, other = _read(new), _read(old)
    return one.folded != other.folded and (_excludes(new, one, other) or outdates(new, old))


def _excludes(new: str, one: _Reading, other: _Reading) -> bool:
    if one.hedged or other.hedged:
        return False
    if one.denied != other.denied:
        return any(
            each.words and mutual(each.words, other.words) and each.numbers == other.numbers
            for each in (one, *map(_read, _CLAUSES.split(new) if one.denied else ()))
            if each.denied == one.denied
        )
    if aside := _ASIDE.search(one.folded):
        gone = content(aside["aside"])
        kept = content(one.folded[: aside.start()])
        return bool(gone) and covers(gone, other.words) and covers(other.words, (*kept, *gone))
    if one.denied:
        return False
    return any(
        slot == name and mutual(whose, owner) and _differ(slot, whose, value, before)
        for slot, whose, value in one.slots
        for name, owner, before in other.slots
    ) or _counted_anew(one, other)


def denies(text: str) -> bool:
    """Tell whether a text denies what it speaks of, by a `not` or by disliking it."""
    return _read(text).denied


def is_count(word: str) -> bool:
    """Tell whether a word is a number, in digits or, up to ten, in letters."""
    return word[:1].isdigit() or fold(word) in _COUNTS


def _differ(
    slot: str, whose: Sequence[Word], value: Sequence[Word], before: Sequence[Word]
) -> bool:
    """Tell whether two values of one slot exclude each other."""
    words, others = ([one for one in each if one.folded.isalpha()] for each in (value, before))
    shared = any(alike(one, other) for one in value for other in before)
    if shared and (not mutual(words, others) or mutual(value, before)):
        return False
    if slot == "age":
        years = int(value[0].folded) - int(before[0].folded)
        return 0 < years <= _BIRTHDAYS or (not whose and years > 0)
    if value[0].folded.isascii() != before[0].folded.isascii():
        return slot == "home"
    if slot == "home":
        lands = [bool(_COUNTRY.match(one[0].folded)) for one in (value, before)]
        return lands[0] == lands[1]
    return True


def _counted_anew(one: _Reading, other: _Reading) -> bool:
    """Tell whether two facts say the same with other numbers, of what holds now."""
    if not one.numbers or len(one.numbers) != len(other.numbers) or one.numbers == other.numbers:
        return False
    if not one.words or not mutual(one.words, other.words):
        return False
    heads = []
    for each in (one, other):
        state = _STATE.search(each.folded)
        if state is None:
            return False
        heads.append(_numbers(each.folded[: state.start()]))
    return heads[0] == heads[1]  # a number before the verb is a part of a name: "room 12 is"


@lru_cache(maxsize=4096)
def _read(text: str) -> _Reading:
    said = _LEAD.sub("", fold_word(" ".join(text.split())))
    plain = _NOT_DENIED.sub(" ", said.replace("can't", "can not").replace("n't", " not"))
    is_denied = bool(_DENIED.search(plain))
    about = _LIKING.sub(" ", _CHANGED.sub(" ", _DENIED.sub(" ", plain)))
    words = tuple(
        word
        for word in content(about)
        if word.folded[0].isalpha() and word.folded not in NEGATIONS | _COUNTS.keys()
    )
    slots = () if is_denied else tuple(_slots(" ".join(text.split()), said))
    return _Reading(said, words, _numbers(said), is_denied, bool(_HEDGED.search(said)), slots)


def _numbers(folded: str) -> tuple[str, ...]:
    said = [*_DIGITS.findall(folded)]
    return (*said, *(_COUNTS[word] for word in re.findall(r"[^\W\d]+", folded) if word in _COUNTS))


def _slots(text: str, folded: str) -> list[tuple[str, tuple[Word, ...], tuple[Word, ...]]]:
    """Return the slots that a whole fact fills, and nothing else beside."""
    if len(text) != len(folded):
        return []
    stop = _TAIL.search(folded)
    text, folded = (one[: stop.start() if stop else None] for one in (text, folded))
    found = []
    for name, cue in _CUES.items():
        match = cue.search(folded)
        value = text[match.end() :].strip() if match else ""
        if match is None or not _is_value(value, named=name not in _ANY_VALUE):
            continue
        if name != "age":
            whose = content(_CHANGED.sub(" ", folded[: match.start()]))
            found.append((name, whose, _value(value)))
        elif value.split()[0].isdigit():
            whose = content(_CHANGED.sub(" ", folded[: match.end()]))
            found.append((name, whose, content(value)[:1]))
    match = _COPULA.search(folded) or re.search(r"\s[-–—=]\s|:\s", folded)
    if match:
        sides = text[: match.start()].strip(), text[match.end() :].strip()
        for about, value in (sides, sides[::-1]):
            if _SLOT.search(fold_word(about)) and not _SLOT.search(fold_word(value)):
                whose = content(about)
                if _is_value(value, named=False):
                    found.append(("slot", whose, _value(value)))
    return [one for one in found if one[2]]


def _value(text: str) -> tuple[Word, ...]:
    return tuple(one for one in content(text) if one.folded[0].isalnum())


def _is_value(value: str, *, named: bool) -> bool:
    words = value.split()
    if not words or len(words) > _MOST_VALUE or _JOINT.search(value):
        return False
    return value[0].isupper() or not named


# --- facts and time ----------------------------------------------------------------------
# The day that a fact is from, and which of two that exclude each other holds.

SAID = "said"
"""Stands before the day that a fact is from, which could be taken for a part of it."""
OUTDATED = "a newer fact says otherwise"
"""Why a fact is not told."""
MOST = 100
"""Facts that are compared with each other."""

_FACT_TOLD = re.compile(rf"(?m)^[ \t]*[-*+] (.+) \({SAID} (\d{{4}}-\d\d-\d\d)\)$")


def with_days(text: str) -> str:
    """Return a brain's text with the day that each fact is from in the place of its provenance."""
    return PROVENANCE.sub(_days, text)


def _days(match: re.Match[str]) -> str:
    parts = [(SAID, match["date"]), ("until", match["until"])]
    return f"({', '.join(f'{word} {day}' for word, day in parts if day)})"


def told(fact: Fact) -> str:
    """Return a fact with the day that it is from; one that a person typed has none."""
    return f"{fact.text} ({SAID} {fact.written})" if fact.written else fact.text


def facts_told(text: str) -> list[tuple[str, str]]:
    """Return the facts that a shown brain tells with their day, and that day."""
    return _FACT_TOLD.findall(text)


def superseded(facts: Sequence[tuple[str, str]]) -> frozenset[int]:
    """Return which of some facts, each with its day, a newer one of them contradicts.

    Of one day the later in the list is newer. What has no day is neither newer nor older, and of
    very many the newest are compared.
    """
    dated = sorted((day, at) for at, (_, day) in enumerate(facts) if day)[-MOST:]
    return frozenset(
        at
        for place, (_, at) in enumerate(dated)
        for _, newer in dated[place + 1 :]
        if contradicts(facts[newer][0], facts[at][0])
    )
