"""Values that were taken back later in the same talk, and what stands in their place.

"The launch is on 14 March" … "sorry, it's the 21st": the first must not be kept, and the second
says nothing without the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.ordinals import ordinals
from vaultmind.consolidate.facts.own import pieces
from vaultmind.consolidate.facts.slots import LABEL_WORDS
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said
from vaultmind.consolidate.facts.types import Candidate
from vaultmind.memory.contradictions.measures import measures
from vaultmind.memory.match import mentions
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold

CORRECTED = 5.0
"""What a correction weighs: as much as what was asked for in words."""
_MAY_TOUCH = (None, "hypothetical")
"""Faults of what may put a fact in doubt: `maybe we move the launch to the 21st` does."""
_TELLING = 4
"""Letters of a word by which a later message is seen to speak of the same."""
NEAR = 2
"""Messages of the user back to which a correction without a subject reaches."""
SHORT = 5
"""Content words of a correction that has no subject of its own, at most."""

_DENIES_AHEAD = 12
"""Characters after a `not` in which a value is the one that it denies."""
_NOT = re.compile(r"(?<!\w)(?:not|nie|не)\s+(?:the\s+|on\s+|w\s+|o\s+|в\s+|на\s+)?")
_COUNTED = re.compile(r"(\d+(?:[.,:]\d+)*)(st|nd|rd|th)?")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate and the piece of talk that it was found in."""

    candidate: Candidate
    said: Said


def settled(
    found: Sequence[Found], said: Sequence[Said]
) -> tuple[list[Found], list[tuple[Candidate, str]]]:
    """Return what still holds at the end of a talk, and what was taken back with its detail.

    `said`: all that the user said, in order, whether or not it could be a fact.
    """
    kept = list(found)
    gone: list[tuple[Candidate, str]] = []
    for later in said:
        if later.fault in ("quoted", "question", "hypothetical", "orders the memory"):
            continue
        for one in [other for other in kept if _before(other.said, later)]:
            if not _is_taken_back(one, later, said, kept):
                continue
            kept.remove(one)
            gone.append((one.candidate, later.key))
            replacing = _in_its_place(one, later)
            own = next((i for i, other in enumerate(kept) if other.said is later), None)
            if replacing and own is None:
                kept.append(Found(replacing, later))
            elif own is not None:
                heavier = replace(kept[own].candidate, weight=CORRECTED)
                kept[own] = Found(heavier, later)
    return kept, gone


def _before(one: Said, later: Said) -> bool:
    return one is not later and one.at <= later.at


def _is_taken_back(one: Found, later: Said, said: Sequence[Said], found: Sequence[Found]) -> bool:
    if _order(one.said, said) >= _order(later, said):
        return False
    text, old = one.candidate.text, later.intent.old
    named = later.intent.intent == "correct" and old and mentions(text, old)
    if named or _contradicts(later, text):
        return True
    if undoes(later):
        return bool(_shared(text, statement(later.text))) or _is_last(one, later, said)
    if says(later.folded, "ended") and not says(fold(text), "ended"):
        return bool(_shared(text, later.text))
    if _denied(one.candidate.text, later.text):
        return True
    return _retracts(one, later, said) and _clashes(one, later, said, found)


def _retracts(one: Found, later: Said, said: Sequence[Said]) -> bool:
    """Tell whether a piece of talk is a correction, or stands in a message that begins as one.

    What the same message has put right already is not corrected again by its beginning.
    """
    if says(later.folded, "retract") or one.said.at == later.at:
        return bool(says(later.folded, "retract"))
    first = next(one for one in said if one.at == later.at)
    return first is not later and bool(
        says(first.folded, "undo") or begins(first.folded, "retract")
    )


def _is_weak(later: Said) -> bool:
    """Tell whether a correction may be of something else: `now it is Thursday`."""
    cue = says(later.folded, "retract")
    trails = cue is not None and cue.start() and cue.end() >= len(later.folded.rstrip(" .!?)"))
    return bool(trails or (says(later.folded, "change") and not _strongly(later)))


def _strongly(later: Said) -> bool:
    rest = features(cyrillic=bool(CYRILLIC.search(later.folded)))["passing"].sub(" ", later.folded)
    return bool(says(rest, "retract"))


def _denied(text: str, later: str) -> bool:
    """Tell whether a text puts a value in the place of one it denies: `the 7th, not the 5th`."""
    folded = fold(later)
    denied = set().union(
        *(_values(folded[m.end() : m.end() + _DENIES_AHEAD]) for m in _NOT.finditer(folded)), ()
    )
    given = _values(later) - denied
    return bool(denied & _values(text)) and bool(given) and not given & _values(text) & denied


def _clashes(one: Found, later: Said, said: Sequence[Said], found: Sequence[Found]) -> bool:
    """Tell whether a correction gives another value, or another side, for a fact."""
    text = one.candidate.text
    near = _messages_back(one.said, later, said) <= NEAR
    if near and _other_side(later.text, text):
        return True
    shared = _shared(text, later.text)
    if shared and _denies(later.text):
        return True
    mine, theirs = _values(later.text), _values(text)
    if not mine or not theirs or mine <= theirs:
        return False
    short = near and not _is_weak(later) and len(_subject(later)) <= SHORT
    meant = short and (bool(mine & theirs) or _is_newest(one, later, found))
    return bool(shared) or meant


def _denies(text: str) -> bool:
    from vaultmind.memory.contradictions.claims import read

    return read(statement(text)).negative


def undoes(later: Said) -> bool:
    """Tell whether a piece of talk takes back what was said before it."""
    return later.intent.intent == "forget_that" or bool(says(later.folded, "undo"))


def _contradicts(later: Said, old: str) -> bool:
    """Tell whether a piece of talk contradicts a fact; `now it is Thursday` speaks of nothing."""
    from vaultmind.memory.contradictions.contradict import relation

    new = later.text
    corrects = says(later.folded, "retract") and not _is_weak(later)
    told = [word for word in content(statement(new)) if word.folded not in _values(new)]
    enough = corrects or _shared(old, new) or len(told) > 1
    return bool(enough) and relation(statement(new), old) == "contradicts"


def _is_newest(one: Found, later: Said, found: Sequence[Found]) -> bool:
    """Tell whether a fact is the last that gives a value, and no other gives one that is named."""
    before = [other for other in found if _before(other.said, later)]
    valued = [other for other in before if _values(other.candidate.text)]
    named = [other for other in valued if _values(other.candidate.text) & _values(later.text)]
    return not named and bool(valued) and valued[-1] is one


def _values(text: str) -> set[str]:
    """Return the numbers, days and months of a text."""
    folded = fold(text)
    days = features(cyrillic=bool(CYRILLIC.search(folded)))["month"]
    written = {str(number) for number in measures(folded, set()).numbers}
    named = (match.group() for match in days.finditer(folded))
    return {*map(_bare, _NUMBER.findall(folded)), *written, *ordinals(folded), *named}


def _bare(number: str) -> str:
    return number.rstrip(".,:")


def _other_side(new: str, old: str) -> bool:
    """Tell whether two texts take different sides on one axis: `in French`, `in English`."""
    from vaultmind.memory.contradictions.claims import read

    before = dict(read(old).poles)
    sides = [(name, pole) for name, pole in read(statement(new)).poles if name != "liking"]
    return any(before.get(name, pole) != pole for name, pole in sides)


def _in_its_place(one: Found, later: Said) -> Candidate | None:
    """Return what a correction makes of a fact; None where it says nothing new."""
    candidate, keys = one.candidate, (*one.candidate.evidence, later.key)
    old = later.intent.old
    new = later.intent.new[slice(*next(pieces(later.intent.new), (0, 0)))]
    if old.isdigit() and (named := _NUMBER.search(new)):
        new = named.group()
    if later.intent.intent == "correct" and new and old:
        swapped = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, candidate.text, flags=re.I)
        if swapped != candidate.text:
            return replace(candidate, text=swapped, evidence=keys, weight=CORRECTED)
    text = statement(later.text)
    denied = _denied(candidate.text, later.text)
    spelt = sorted(ordinals(fold(later.text)))
    numbers = [*_NUMBER.findall(later.text), *spelt], _NUMBER.findall(candidate.text)
    told = _shared(candidate.text, text) and len(content(text)) > 1 and _values(text)
    if told and not denied:
        return replace(candidate, text=text, evidence=(later.key,), weight=CORRECTED)
    short = denied or len(_subject(later)) <= SHORT
    if len(numbers[1]) == 1 and numbers[0] and short:
        fresh = [_bare(number) for number in numbers[0] if _bare(number) not in numbers[1]]
        swapped = _swapped(candidate.text, (fresh or numbers[0])[-1])
        return replace(candidate, text=swapped, evidence=keys, weight=CORRECTED)
    return None


def _swapped(text: str, number: str) -> str:
    """Return a text with another number in it: `12th` becomes `19th` and `21st`."""
    usual = {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    ending = "th" if number[-2:-1] == "1" else usual
    return _COUNTED.sub(lambda found: number + (ending if found[2] else ""), text)


def _subject(said: Said) -> list[Word]:
    """Return what a piece of talk is about, besides that it takes something back."""
    words = [word for word in content(statement(said.text)) if word.folded not in SOFT]
    return [word for word in words if not says(word.folded, "retract")]


def _shared(one: str, other: str) -> list[Word]:
    theirs = content(other)
    return [
        word
        for word in content(one)
        if not word.folded.isdigit()
        and word.folded not in NEGATIONS | SOFT | LABEL_WORDS
        and any(word.same(w) for w in theirs)
    ]


def _order(one: Said, said: Sequence[Said]) -> int:
    return next(at for at, other in enumerate(said) if other is one)


def _messages_back(one: Said, later: Said, said: Sequence[Said]) -> int:
    return len({other.at for other in said if one.at < other.at <= later.at})


def _is_last(one: Found, later: Said, said: Sequence[Said]) -> bool:
    """Tell whether no more than idle words came between a fact and what takes it back."""
    back = _messages_back(one.said, later, said) <= NEAR
    between = said[_order(one.said, said) + 1 : _order(later, said)]
    return back and not any(not other.fault and len(_subject(other)) > 1 for other in between)


def doubted(found: Sequence[Found], said: Sequence[Said]) -> list[Found]:
    """Return the facts; in doubt are those that something said later seems to touch."""
    return [_in_doubt(one, said) for one in found]


def _in_doubt(one: Found, said: Sequence[Said]) -> Found:
    """Return a fact, in doubt where a later message says another value or denies it."""
    text, keys = one.candidate.text, set(one.candidate.evidence)
    for later in said:
        if later.at <= one.said.at or later.key in keys or later.fault not in _MAY_TOUCH:
            continue
        shared = [word for word in _shared(text, later.text) if len(word.folded) >= _TELLING]
        if not shared:
            continue
        other = bool(_values(text)) and bool(_values(later.text) - _values(text))
        turned = later.fault or says(later.folded, "retract") or says(later.folded, "ended")
        denied = not later.fault and len(shared) > 1 and _denies(later.text) != _denies(text)
        if (other and turned) or denied:
            words = f"A later message ({later.key}) speaks of {shared[0].folded} in another way."
            return Found(replace(one.candidate, doubt=words), one.said)
    return one
