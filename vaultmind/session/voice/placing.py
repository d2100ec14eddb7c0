"""New words put in the place of old ones within a fact, so that none of its other words is lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.memory.counts import is_count, is_multiple, is_turns
from vaultmind.memory.words import Word, content, fold

LONGER = 2
"""So many words more than the old ones, the new ones are a sentence of their own."""
SUBJECT = 2
"""Words at a fact's beginning of which a text that says the whole fact holds one at least."""
WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")
_SAYS = """
    i i'm im i've i'd my we we're our he he's she she's it's they they're is are am was were has
    have lives works likes needs takes wants prefers
    ja mój moja moje mam jestem jest są ma mają był była było się nasz nasza lubię wolę
    я мой моя моё мои меня мне мы наш наша она они зовут был была было есть живёт
    ich bin ist sind habe hat mein meine wir unser war
    soy es son tengo tiene mi mis me está era vivo
    je j'ai est suis sont mon ma mes nous notre était
"""
_SAYING = frozenset(fold(word) for word in _SAYS.split())
"""Words that tell a sentence of its own: who it is about, or what is said of them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the old words stand in a fact, with those around them that the new ones repeat."""

    start: int
    end: int
    repeated: int
    follows: bool = False
    """Whether the last of the new words stood there already."""


@dataclass(frozen=True, slots=True)
class New:
    """The new words: alone, with the small word before them, and with all of their clause."""

    words: str
    led: str
    clause: str


def put(text: str, old: str, new: New) -> str:
    """Return a fact with new words in the old ones' place; the new words alone where they say the
    whole fact; empty where neither is certain.
    """
    there = spans(text, old)
    for given in (new.led, new.words, new.clause, _number(new.words, old, text)):
        found = _best([_placed(text, span, given, old) for span in there])
        if found is None or len(WORD.findall(given)) > len(WORD.findall(old)) + LONGER:
            continue
        if given == new.led != new.words and found.start in [start for start, _ in there]:
            continue  # "to walnuts": the fact has no small word to take its place
        inside = _inside(text, found, given, old)
        if inside:
            return inside
    return "" if is_fragment(new.led, text) else new.led


def is_fragment(new: str, fact: str) -> bool:
    """Tell whether a text is a piece of what takes a fact's place: nobody and nothing is said."""
    said, given = WORD.findall(fact), WORD.findall(new)
    if len(given) >= len(said):
        return False
    if len(given) <= SUBJECT:
        return True
    known = _SAYING | {fold(word) for word in said[:SUBJECT]}
    subject = content(" ".join(said[:SUBJECT]))
    same = any(one.same(other) for one in subject for other in content(new))
    return not same and not any(fold(word) in known for word in given)


def spans(text: str, old: str) -> list[tuple[int, int]]:
    """Return where a fact says the old words, in whatever of their forms."""
    words = list(WORD.finditer(text))
    wanted = [content(match.group()) for match in WORD.finditer(old)]
    if not any(wanted):
        return []
    while wanted and not wanted[0]:
        del wanted[0]  # a preposition in front, which the fact may lack
    found = []
    for first in range(len(words) - len(wanted) + 1):
        there = [content(match.group()) for match in words[first : first + len(wanted)]]
        if all(_same(one, other) for one, other in zip(there, wanted, strict=True)):
            found.append((words[first].start(), words[first + len(wanted) - 1].end()))
    return found


def alike(one: str, other: str) -> bool:
    """Tell whether two words are forms of one, or two small words: "во" and "в"."""
    left, right = content(one), content(other)
    if not left and not right:
        return one[0].casefold() == other[0].casefold()
    return bool(left) and _same(left, right)


def _placed(text: str, span: tuple[int, int], new: str, old: str) -> Place:
    """Return a span with the words on both sides that the new words say as well."""
    before = list(WORD.finditer(text[: span[0]]))
    after = list(WORD.finditer(text, span[1]))
    given, start, end, repeated = WORD.findall(new), span[0], span[1], 0
    for many in range(min(len(before), len(given) - 1), 0, -1):
        if _all_alike([one.group() for one in before[-many:]], given):
            start, repeated, given = before[-many].start(), many, given[many:]
            break
    for many in range(min(len(after), len(given) - 1), 0, -1):
        if _all_alike([one.group() for one in after[:many]], given[-many:]):
            return Place(start, after[many - 1].end(), repeated + many, follows=True)
    turns = bool(after) and is_turns(after[0].group()) and not is_multiple(old)
    if turns and len(given) == 1 and is_multiple(given[0]):  # "two times" becomes "once"
        end = after[0].end()
    return Place(start, end, repeated)


def _best(places: Sequence[Place]) -> Place | None:
    """Return the place that the new words tell most of; the first where the fact has one only."""
    most = max((one.repeated for one in places), default=0)
    best = [one for one in places if one.repeated == most]
    return best[0] if len(best) == 1 else None


def _inside(text: str, found: Place, new: str, old: str) -> str:
    """Return the fact with the new words in it; empty where it would say something twice."""
    given = WORD.findall(new)
    if is_multiple(old) and len(given) == 1 and is_count(given[0]) and not is_multiple(given[0]):
        return ""  # "three a day" for "twice a day"
    more = WORD.search(text, found.end) and not all(is_count(w) or is_turns(w) for w in given)
    if is_count(old) and more and not found.follows:
        return ""  # "4 cats" for the 2 of "2 dogs"
    rest = content(text[: found.start]) + content(text[found.end :])
    if not rest or any(word.same(other) for word in content(new) for other in rest):
        return ""
    return f"{text[: found.start]}{new}{text[found.end :]}"


def _number(new: str, old: str, text: str) -> str:
    """Return the number alone of new words whose other words the fact says elsewhere."""
    given = WORD.findall(new)
    rest = content(" ".join(given[1:]))
    known = all(any(word.same(other) for other in content(text)) for word in rest)
    return given[0] if rest and known and is_count(old) and is_count(given[0]) else new


def _all_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    return all(alike(left, right) for left, right in zip(one, other, strict=False))


def _same(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    return len(one) == len(other) and all(a.same(b) for a, b in zip(one, other, strict=True))
