"""What a correction puts in which fact's place: "No, it's Thursday, not Tuesday".

Nothing is changed that is not certain: where the words may mean another fact, somebody else, or
would lose what the fact says besides, no change is made and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vaultmind.language.words import SOFT, Word, content, fold
from vaultmind.memory.contradictions import contradicts, is_count
from vaultmind.memory.match import find
from vaultmind.types import Fact

ABOUT = 0.5
"""Part of the words that a fact and a correction of it share at least, where nothing else tells."""
FRAGMENT = 3
"""Fewer words alone say nothing without the fact they belong to."""
LONGER = 2
"""So many words more than the old ones, the new ones are a sentence of their own."""
WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")
_SELF = frozenset({"i", "i'm", "i've", "i'd", "im", "ja", "я", "ich", "je", "j'ai", "yo"})
_OWNED_WORDS = """
    my our his her their moj moja moje mojego mojej nasz nasza jego jej ich мои моя мое моего
    моеи мою наш наша его ее их mein meine unser mi mis mon ma mes
"""
_OWNED = frozenset(_OWNED_WORDS.split())
"""Words, folded, after which it is said who or what a sentence is about: "my daughter"."""
_DAYS_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday poniedzial wtor sroda srode sroby
    czwart piat sobot niedziel понедельник вторник сред четверг пятниц суббот воскресен montag
    dienstag mittwoch donnerstag freitag samstag sonntag lunes martes jueves viernes lundi mardi
    mercredi jeudi vendredi samedi dimanche
"""
_DAYS = tuple(_DAYS_WORDS.split())
_MONTHS_WORDS = """
    january february march april june july august september october november december stycz lut
    marz marc kwie maj czerw lip sierp wrze pazdz listop grud январ феврал март апрел июн июл
    август сентябр октябр ноябр декабр
"""
_MONTHS = tuple(_MONTHS_WORDS.split())
"""What the names of days and months begin with, folded, in all their cases."""
# A Polish "a" that joins has a comma before it; without one it is the article of "is a cat".
_JOINT = re.compile(
    r"\s{0,20}[,;]\s+(?:(?:and|but|oraz|i|ale|a|и|но|а)\s+)?|\s{1,20}(?:and|but|oraz|i|ale|with|ze?|и|но|а|со?)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Change:
    """The fact to replace, None where the new text is only added; no text: it is not certain."""

    fact: Fact | None
    text: str


def corrected(
    facts: Sequence[Fact], said: str, old: str, new: str, that: Fact | None
) -> Change | None:
    """Return what a correction means among an agent's facts; None where no fact is meant.

    `said` is the whole sentence, `old` what is wrong in it (may be empty), `new` what is right.
    Without old words `that`, the fact touched last, is meant where the new words are about it.
    """
    if old:
        there = [fact for fact in facts if _spans(fact.text, old)]
        there = there or [facts[at] for at in find(facts, old).found]
        fact = _meant([one for one in there if not _is_anothers(one, said, old, new)], said, that)
        if fact is None:
            return None if there else Change(None, new)
        if all(_is_in(word, content(fact.text)) for word in content(new)):
            return None  # it says what the fact says already
        text = _put(fact.text, said, old, new)
        return Change(fact, text or _whole(fact.text, new))
    if that is not None and (text := _alike(that.text, new)):
        if _is_anothers(that, said, old, new):
            return None
        whole = _continued(that.text, new) or _whole(that.text, new)
        return Change(that, text if text != new else whole)
    return Change(None, new) if len(WORD.findall(new)) >= FRAGMENT else None


def _meant(found: Sequence[Fact], said: str, that: Fact | None) -> Fact | None:
    """Return the fact that most of a correction is about; of several the one touched last."""
    shares = [sum(_is_in(word, content(one.text)) for word in _hard(said)) for one in found]
    best = [one for one, share in zip(found, shares, strict=True) if share == max(shares)]
    return that if that in best else best[0] if len(best) == 1 else None


def _is_anothers(fact: Fact, said: str, old: str, new: str) -> bool:
    """Tell whether a correction names somebody or something that a fact does not speak of."""
    there, words = content(fact.text), WORD.findall(said)
    given = {fold(word) for word in WORD.findall(f"{old} {new}")}
    short = len(WORD.findall(new)) <= len(WORD.findall(old)) + LONGER
    for before, word in pairwise(words):
        owned = fold(before) in _OWNED and content(word) and (not short or fold(word) not in given)
        if owned and not _is_in(content(word)[0], there):
            return True
    first = content((WORD.findall(fact.text) or [""])[0])
    speaks_of_self = any(fold(word) in _SELF for word in words)
    return bool(speaks_of_self and first and not _is_in(first[0], content(said)))


def _put(text: str, said: str, old: str, new: str) -> str:
    """Return a fact with the new words in the place of the old; empty where that is not certain."""
    before = WORD.findall(said[: max(0, said.rfind(new))])
    small = before[-1] if before and not content(before[-1]) else ""
    if is_count(old) and not any(map(is_count, WORD.findall(new))):
        return ""
    if is_count(old):  # "4 cats", for what is counted may be another
        new += re.split(r"[,;.!?]", said[said.find(new) + len(new) :])[0].rstrip()
    spans, given = _spans(text, old), WORD.findall(new)
    if not spans or len(given) > len(WORD.findall(old)) + LONGER:
        return ""
    placed = [_placed(text, span, given) for span in spans]
    most = max(one[2] for one in placed)
    best = [one for one in placed if one[2] == most]
    start, end, _, follows = best[0]
    if small and (led := [*WORD.finditer(text[:start])]) and _like(led[-1].group(), small):
        start, new = led[-1].start(), f"{small} {new}"  # "в среду" for "во вторник"
    rest = content(text[:start]) + content(text[end:])
    counts_others = is_count(old) and len(given) > 1 and not follows  # "4 cats" for "2 dogs"
    said_twice = any(_is_in(word, rest) for word in content(new))
    if len(best) > 1 or counts_others or said_twice or not rest:
        return ""
    return f"{text[:start]}{new}{text[end:]}"


def _placed(text: str, span: tuple[int, int], new: list[str]) -> tuple[int, int, int, bool]:
    """Return where new words go, how many of them stood there, and whether the last one did.

    Words on both sides that the new ones repeat are replaced with the old ones.
    """
    before, after = list(WORD.finditer(text[: span[0]])), list(WORD.finditer(text, span[1]))
    start, end, repeated, follows = *span, 0, False
    for many in range(min(len(before), len(new) - 1), 0, -1):
        if all(map(_like, (one.group() for one in before[-many:]), new)):
            start, repeated = before[-many].start(), many
            break
    for many in range(min(len(after), len(new) - 1 - repeated), 0, -1):
        if all(map(_like, (one.group() for one in after[:many]), new[-many:])):
            end, repeated, follows = after[many - 1].end(), repeated + many, True
            break
    return start, end, repeated, follows


def _continued(text: str, new: str) -> str:
    """Return a fact with new words where it says their first ones: "is called Sowa" keeps who.

    Empty where the fact does not say these, or begins with them.
    """
    words, given = list(WORD.finditer(text)), WORD.findall(new)
    for many in range(len(given) - 1, 0, -1):
        for at in range(1, len(words) - many + 1):
            said = (one.group() for one in words[at : at + many])
            if content(" ".join(given[:many])) and all(map(_like, said, given)):
                return f"{text[: words[at].start()]}{new}"
    return ""


def _whole(old: str, new: str) -> str:
    """Return the new words where they can stand for all of a fact, or the fact with the one clause
    that they correct replaced; empty where something else would be lost.
    """
    if len(WORD.findall(new)) < FRAGMENT:
        return ""
    clauses = _clauses(old)
    if len(_spoken_of(new, clauses)) == len(clauses):
        return new
    wrong = [one for one in clauses if contradicts(new, one[2])]
    wrong = wrong or _spoken_of(new, clauses)
    if len(wrong) != 1:
        return ""
    start, end, _ = wrong[0]
    return f"{old[:start]}{new}{old[end:]}"


def _clauses(text: str) -> list[tuple[int, int, str]]:
    joints = list(_JOINT.finditer(text))
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    return [(a, b, text[a:b]) for a, b in zip(starts, ends, strict=True)]


def _spoken_of(new: str, clauses: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the clauses that new words say something of; what every clause says tells nothing."""
    if len(clauses) == 1:
        return clauses
    said, given = [content(clause[2]) for clause in clauses], content(new)
    own = [[word for word in one if not all(_is_in(word, other) for other in said)] for one in said]
    return [
        clause
        for clause, words in zip(clauses, own, strict=True)
        if not words or any(_is_in(word, given) for word in words)
    ]


def _alike(text: str, new: str) -> str:
    """Return the fact that new words make of one that they are about; empty if they are not."""
    if len(WORD.findall(new)) >= FRAGMENT:
        said, given = content(text), _hard(new)
        shared = sum(_is_in(word, said) for word in given)
        return new if shared and shared >= min(len(said), len(given)) * ABOUT else ""
    alike = [match for match in WORD.finditer(text) if _kind(match.group()) == _kind(new)]
    if not _kind(new) or len(alike) != 1:
        return ""
    return f"{text[: alike[0].start()]}{new}{text[alike[0].end() :]}"


def _kind(text: str) -> str:
    """Return what sort of thing a fragment is, where that shows: a number, a day, a month."""
    folded = fold(text.strip())
    if re.fullmatch(r"\d[\d.,:/ -]*(?:am|pm|st|nd|rd|th)?", folded):
        return "number"
    if " " in folded:
        return ""
    if any(map(folded.startswith, _DAYS)):
        return "day"
    return "month" if any(map(folded.startswith, _MONTHS)) else ""


def _spans(text: str, old: str) -> list[tuple[int, int]]:
    """Return where a fact says the old words, in whatever of their forms."""
    words = list(WORD.finditer(text))
    wanted = [content(match) for match in WORD.findall(old)]
    while wanted and not wanted[0]:
        del wanted[0]  # a preposition in front, which the fact may lack
    found = []
    for first in range(len(words) - len(wanted) + 1) if wanted else ():
        there = [content(match.group()) for match in words[first : first + len(wanted)]]
        if all(map(_same, there, wanted)):
            found.append((words[first].start(), words[first + len(wanted) - 1].end()))
    return found


def _like(one: str, other: str) -> bool:
    """Tell whether two words are forms of one, or two small words: "во" and "в"."""
    left, right = content(one), content(other)
    if not left and not right:
        return one[0].casefold() == other[0].casefold()
    return bool(left) and _same(left, right)


def _same(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    return len(one) == len(other) and all(a.same(b) for a, b in zip(one, other, strict=True))


def _is_in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.same(other) for other in others)


def _hard(text: str) -> tuple[Word, ...]:
    return tuple(word for word in content(text) if word.folded not in SOFT)
