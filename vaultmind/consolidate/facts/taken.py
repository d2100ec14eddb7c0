"""Values that were taken back later in the same talk, and what stands in their place.

"The launch is on 14 March" … "sorry, it's the 21st": the first must not be kept, and the second
says nothing without the first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.ordinals import ordinals
from vaultmind.consolidate.facts.own import pieces
from vaultmind.consolidate.facts.seen import NUMBER, bare, contradicts, shared, values
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said
from vaultmind.consolidate.types import Candidate
from vaultmind.memory.match import mentions
from vaultmind.memory.words import SOFT, Word, content, fold

CORRECTED = 5.0
"""What a correction weighs: as much as what was asked for in words."""
_MAY_TOUCH = (None, "hypothetical")
"""Faults of what may put a fact in doubt: `maybe we move the launch to the 21st` does."""
_TELLING = 4
"""Letters of a word by which a later message is seen to speak of the same."""
NEAR = 2
"""Messages of the user back to which a correction without a subject reaches."""
OFF = 4
"""The same to which `it's off` reaches, which ends a plan whatever was said since."""
_PLANS = ("PROJECT", "DECISION")
SHORT = 5
"""Content words of a correction that has no subject of its own, at most."""

_DENIES_AHEAD = 12
"""Characters after a `not` in which a value is the one that it denies."""
_NOT = re.compile(r"(?<!\w)(?:not|nie|не)\s+(?:the\s+|on\s+|w\s+|o\s+|в\s+|на\s+)?")
_NOT_THIS = re.compile(
    r"(?<!\w)(?:not|nie|не) (?:in |w |we |на |в )?(\w{2,}),? "
    r"(?:but |tylko |lecz |a |а |it's |to |in |w |we |в )*(\w{2,})"
)
_BUT_NOT = re.compile(
    r"(?<!\w)(\w{2,}),? (?:a |а |and |but )?(?:not|nie|не) (?:in |w |we |на |в )?(\w{2,})(?!\w)"
)
_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_a-zа-яąćęłńóśźż][^\W\d_]+")
"""A word with a capital, not the first."""
FEW = 3
"""Content words of a correction that only gives the right word."""
_CLAUSES = re.compile(r"[,;:.!?]\s+")
_COUNTED = re.compile(r"(\d+(?:[.,:]\d+)*)(st|nd|rd|th)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate and the piece of talk that it was found in."""

    candidate: Candidate
    said: Said


class _Course:
    """All that the user said, in order, and where each piece stands in it."""

    def __init__(self, said: Sequence[Said]) -> None:
        self.said = said
        self._order = {id(one): at for at, one in enumerate(said)}
        self._messages = sorted({one.at for one in said})
        self._first: dict[int, Said] = {}
        for one in said:
            self._first.setdefault(one.at, one)

    def before(self, one: Said, later: Said) -> bool:
        """Tell whether a piece was said before another."""
        return self._order[id(one)] < self._order[id(later)]

    def between(self, one: Said, later: Said) -> Sequence[Said]:
        """Return what was said between two pieces."""
        return self.said[self._order[id(one)] + 1 : self._order[id(later)]]

    def back(self, one: Said, later: Said) -> int:
        """Return how many messages of the user a piece reaches back to another."""
        ends = bisect_right(self._messages, later.at), bisect_right(self._messages, one.at)
        return ends[0] - ends[1]

    def names(self, one: Said, text: str) -> bool:
        """Tell whether a message names what it takes back, and a text says nothing of it."""
        given = {old for x in self.said if x.at == one.at for old, _ in renamed(x.text)}
        told = {w.folded for x in self.said if x.at < one.at and given for w in content(x.text)}
        return bool(given & told) and given.isdisjoint(w.folded for w in content(text))

    def opening(self, one: Said) -> Said:
        """Return the first piece of the message in which a piece stands."""
        return self._first[one.at]


class _Later:
    """A piece of talk, and what it may do to what was said before it: read once, not per fact."""

    def __init__(self, said: Said, course: _Course) -> None:
        self.said, self.text, self.intent = said, said.text, said.intent
        self.stated = statement(said.text)
        self.undoes = undoes(said)
        few = len(content(said.text)) <= SHORT
        self.quoted = said.fault == "quoted" and not (self.undoes and few)
        self.ended = bool(says(said.folded, "ended"))
        self.retracts = bool(says(said.folded, "retract"))
        self.off = _calls_off(said.folded)
        first = course.opening(said)
        self.led = first is not said and bool(
            says(first.folded, "undo") or begins(first.folded, "retract")
        )
        self.weak = _is_weak(said)
        self.short = len(_subject(said)) <= SHORT
        told = [word for word in content(self.stated) if word.folded not in values(said.text)]
        self.tells = len(told) > 1
        self.denied = _denied_in(said.text)
        self.renames = renamed(said.text)
        few = len(_subject(said)) <= FEW and course.opening(said) is said
        self.corrects = few and bool(begins(said.folded, "correct"))


def _calls_off(folded: str) -> bool:
    """Tell whether a clause says in few words that something is off: `I'm letting the move go`."""
    clauses = _CLAUSES.split(folded)
    return any(says(one, "off") and len(content(one)) <= SHORT for one in clauses)


def settled(
    found: Sequence[Found], said: Sequence[Said]
) -> tuple[list[Found], list[tuple[Candidate, str]]]:
    """Return what still holds at the end of a talk, and what was taken back with its detail.

    `said`: all that the user said, in order, whether or not it could be a fact.
    """
    course = _Course(said)
    kept = list(found)
    gone: list[tuple[Candidate, str]] = []
    for piece in said:
        if piece.fault in ("question", "hypothetical", "orders the memory"):
            continue
        before = [other for other in kept if course.before(other.said, piece)]
        if not before:
            continue
        later = _Later(piece, course)
        for one in before:
            if not _is_taken_back(one, later, course, kept):
                continue
            kept.remove(one)
            gone.append((one.candidate, piece.key))
            replacing = _in_its_place(one, piece)
            own = next((i for i, other in enumerate(kept) if other.said is piece), None)
            if replacing and own is None:
                kept.append(Found(replacing, piece))
            elif own is not None:
                heavier = replace(kept[own].candidate, weight=CORRECTED)
                kept[own] = Found(heavier, piece)
    return kept, gone


def _is_taken_back(one: Found, later: _Later, course: _Course, found: Sequence[Found]) -> bool:
    text, old = one.candidate.text, later.intent.old
    if _denied(text, later) or _renamed(text, later):
        return True
    if later.quoted:
        return False
    off = later.off and _is_last_plan(one, later.said, found, course)
    named = later.intent.intent == "correct" and bool(old) and mentions(text, old)
    if (
        off
        or named
        or _contradicts(later, text)
        or (later.corrects and _is_last(one, later.said, course))
    ):
        return True
    if later.undoes:
        return bool(shared(text, later.stated)) or (
            not course.names(later.said, text) and _is_last(one, later.said, course)
        )
    if later.ended and not says(fold(text), "ended"):
        return bool(shared(text, later.text))
    return _retracts(one, later) and _clashes(one, later, course, found)


def _retracts(one: Found, later: _Later) -> bool:
    """Tell whether a piece of talk is a correction, or stands in a message that begins as one.

    What the same message has put right already is not corrected again by its beginning.
    """
    return later.retracts or (later.led and one.said.at != later.said.at)


def _is_weak(later: Said) -> bool:
    """Tell whether a correction may be of something else: `now it is Thursday`."""
    cue = says(later.folded, "retract")
    trails = cue is not None and cue.start() and cue.end() >= len(later.folded.rstrip(" .!?)"))
    trails = trails and len(_subject(later)) > 1
    return bool(trails or (says(later.folded, "change") and not _strongly(later)))


def _strongly(later: Said) -> bool:
    rest = features(cyrillic=bool(CYRILLIC.search(later.folded)))["passing"].sub(" ", later.folded)
    return bool(says(rest, "retract"))


def _denied_in(text: str) -> frozenset[str]:
    """Return the values that a text denies: the 5th, of `the 7th, not the 5th`."""
    folded = fold(text)
    ends = (match.end() for match in _NOT.finditer(folded))
    return frozenset().union(*(values(folded[end : end + _DENIES_AHEAD]) for end in ends))


def _denied(text: str, later: _Later) -> bool:
    """Tell whether a piece puts a value in the place of one it denies: `the 7th, not the 5th`."""
    given = values(later.text) - later.denied
    return bool(given) and not later.denied.isdisjoint(values(text))


def renamed(text: str) -> list[tuple[str, str]]:
    """Return which words a text puts in the place of which: `not Kraków, Gdańsk`; both folded."""
    folded = fold(text)
    found = [(m[1], m[2]) for m in _NOT_THIS.finditer(folded)]
    return found + [(m[2], m[1]) for m in _BUT_NOT.finditer(folded)]


def _renamed(text: str, later: _Later) -> bool:
    """Tell whether a piece puts another name in the place of one that a fact gives."""
    names = {fold(name) for name in _NAME.findall(text)}
    return any(old in names for old, _ in later.renames)


def _clashes(one: Found, later: _Later, course: _Course, found: Sequence[Found]) -> bool:
    """Tell whether a correction gives another value, or another side, for a fact."""
    text = one.candidate.text
    near = course.back(one.said, later.said) <= NEAR
    if near and _other_side(later.text, text):
        return True
    common = shared(text, later.text)
    if common and _denies(later.text):
        return True
    mine, theirs = values(later.text), values(text)
    if not mine or not theirs or mine <= theirs:
        return False
    short = near and not later.weak and later.short
    meant = short and (bool(mine & theirs) or _is_newest(one, later.said, found, course))
    return bool(common) or meant


def _denies(text: str) -> bool:
    from vaultmind.memory.contradictions.claims import read

    return read(statement(text)).negative


def undoes(later: Said) -> bool:
    """Tell whether a piece of talk takes back what was said before it."""
    return later.intent.intent == "forget_that" or bool(says(later.folded, "undo"))


def _contradicts(later: _Later, old: str) -> bool:
    """Tell whether a piece of talk contradicts a fact; `now it is Thursday` speaks of nothing."""
    if not contradicts(later.stated, old):
        return False
    corrects = later.retracts and not later.weak
    return corrects or later.tells or bool(shared(old, later.text))


def _is_newest(one: Found, later: Said, found: Sequence[Found], course: _Course) -> bool:
    """Tell whether a fact is the last that gives a value, and no other gives one that is named."""
    before = [other for other in found if course.before(other.said, later)]
    valued = [other for other in before if values(other.candidate.text)]
    named = any(not values(x.candidate.text).isdisjoint(values(later.text)) for x in valued)
    return not named and bool(valued) and valued[-1] is one


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
    if old.isdigit() and (named := NUMBER.search(new)):
        new = named.group()
    if later.intent.intent == "correct" and new and old:
        swapped = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, candidate.text, flags=re.I)
        if swapped != candidate.text:
            return replace(candidate, text=swapped, evidence=keys, weight=CORRECTED)
    if swapped := _with_the_name(candidate.text, later.text):
        return replace(candidate, text=swapped, evidence=keys, weight=CORRECTED)
    text = statement(later.text)
    gone = _denied_in(later.text)
    given = values(later.text) - gone
    denied = bool(given) and not gone.isdisjoint(values(candidate.text))
    spelt = sorted(ordinals(fold(later.text)))
    numbers = [*NUMBER.findall(later.text), *spelt], NUMBER.findall(candidate.text)
    told = shared(candidate.text, text) and len(content(text)) > 1 and values(text)
    if told and not denied:
        return replace(candidate, text=text, evidence=(later.key,), weight=CORRECTED)
    short = denied or len(_subject(later)) <= SHORT
    if len(numbers[1]) == 1 and numbers[0] and short:
        fresh = [bare(number) for number in numbers[0] if bare(number) not in numbers[1]]
        swapped = _swapped(candidate.text, (fresh or numbers[0])[-1])
        return replace(candidate, text=swapped, evidence=keys, weight=CORRECTED)
    return None


def _with_the_name(text: str, later: str) -> str:
    """Return a text with the one name that a short correction gives; empty without."""
    lead = begins(fold(later), "correct")
    given = _NAME.findall(f"x {later[lead.end() :] if lead else later}")
    old = _NAME.findall(text)
    for before, after in renamed(later):
        named = [name for name in old if fold(name) == before]
        fresh = [name for name in given if fold(name) == after]
        if named and fresh:
            return re.sub(rf"(?<!\w){re.escape(named[0])}(?!\w)", fresh[0], text)
    if lead and len(old) == 1 and len(given) == 1 and len(content(later)) <= FEW:
        return re.sub(rf"(?<!\w){re.escape(old[0])}(?!\w)", given[0], text)
    return ""


def _swapped(text: str, number: str) -> str:
    """Return a text with another number in it: `12th` becomes `19th` and `21st`."""
    usual = {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    ending = "th" if number[-2:-1] == "1" else usual
    return _COUNTED.sub(lambda found: number + (ending if found[2] else ""), text)


def _subject(said: Said) -> list[Word]:
    """Return what a piece of talk is about, besides that it takes something back."""
    words = [word for word in content(statement(said.text)) if word.folded not in SOFT]
    return [word for word in words if not says(word.folded, "retract")]


def _is_plan(one: Candidate) -> bool:
    folded = fold(one.text)
    plans = features(cyrillic=bool(CYRILLIC.search(folded)))["plan"]
    return one.category in _PLANS or bool(plans.search(folded))


def _is_last_plan(one: Found, later: Said, found: Sequence[Found], course: _Course) -> bool:
    """Tell whether a fact is the last plan that was made before `it's off`."""
    plans = [
        other for other in found if course.before(other.said, later) and _is_plan(other.candidate)
    ]
    return bool(plans) and plans[-1] is one and course.back(one.said, later) <= OFF


def _is_last(one: Found, later: Said, course: _Course) -> bool:
    """Tell whether no more than idle words came between a fact and what takes it back."""
    if course.back(one.said, later) > NEAR:
        return False
    between = course.between(one.said, later)
    return not any(not other.fault and len(_subject(other)) > 1 for other in between)


def doubted(found: Sequence[Found], said: Sequence[Said]) -> list[Found]:
    """Return the facts; in doubt are those that something said later seems to touch."""
    may = [
        (later, bool(says(later.folded, "retract") or says(later.folded, "ended")))
        for later in said
        if later.fault in _MAY_TOUCH
    ]
    return [_in_doubt(one, may) for one in found]


def _in_doubt(one: Found, said: Sequence[tuple[Said, bool]]) -> Found:
    """Return a fact, in doubt where a later message says another value or denies it."""
    text, keys = one.candidate.text, set(one.candidate.evidence)
    for later, turns in said:
        if later.at <= one.said.at or later.key in keys:
            continue
        common = [word for word in shared(text, later.text) if len(word.folded) >= _TELLING]
        if not common:
            continue
        other = bool(values(text)) and bool(values(later.text) - values(text))
        denied = not later.fault and len(common) > 1 and _denies(later.text) != _denies(text)
        if (other and (later.fault or turns)) or denied:
            words = f"A later message ({later.key}) speaks of {common[0].folded} in another way."
            return Found(replace(one.candidate, doubt=words), one.said)
    return one
