"""What a correction puts in which fact's place: "No, it's Thursday, not Tuesday".

The new words are laid over the fact: what both say beside the correction tells where it belongs.
Nothing is changed that is not certain: where the words may mean another fact, somebody else, or
would lose what the fact says besides, no change is made and the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from vaultmind.index.when import spans
from vaultmind.language.words import SOFT, Word, content, fold
from vaultmind.memory.contradictions import is_count
from vaultmind.memory.match import find
from vaultmind.types import Fact

FRAGMENT = 3
"""Fewer words alone say nothing without the fact they belong to."""
SHORT = 4
"""Words of "no, it's on Thursday", which gives but another value."""
LONGER = 2
"""So many words more than the old ones say more than what was wrong."""
Words = Sequence[re.Match[str]]
WORD = re.compile(r"\w+(?:[-'’:.,/]\w+)*")
_SELF = frozenset({"i", "i'm", "i've", "i'd", "im", "ja", "я", "ich", "je", "j'ai", "yo"})
_OWNED_WORDS = """
    my our his her their moj moja moje mojego mojej nasz nasza jego jej ich мои моя мое моего
    моеи мою наш наша его ее их mein meine unser mi mis mon ma mes
"""
_OWNED = frozenset(_OWNED_WORDS.split())
"""Words, folded, after which it is said who or what a sentence is about: "my daughter"."""


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
        return Change(fact, _put(fact.text, said, old, new))
    if that is not None and (text := _laid_over(that.text, new) or _other_value(that.text, new)):
        return None if _is_anothers(that, said, old, new) else Change(that, text)
    return Change(None, new) if len(WORD.findall(new)) >= FRAGMENT else None


def _meant(found: Sequence[Fact], said: str, that: Fact | None) -> Fact | None:
    """Return the fact that most of a correction is about; of several the one touched last."""
    hard = [word for word in content(said) if word.folded not in SOFT]
    shares = [sum(_is_in(word, content(one.text)) for word in hard) for one in found]
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
    words, spans = list(WORD.finditer(text)), _spans(text, old)
    if len(spans) != 1:
        return ""
    if counts := is_count(old):  # "4 cats", for what is counted may be another
        new += re.split(r"[,;.!?]", said[said.find(new) + len(new) :])[0].rstrip()
    (start, end), given = spans[0], list(WORD.finditer(new))
    sizes = range(len(given) - 1, 0, -1)
    lead = next((n for n in sizes if _alike(words[max(0, start - n) : start], given[:n])), 0)
    sizes = range(len(given) - lead - 1, 0, -1)
    trail = next((n for n in sizes if _alike(words[end : end + n], given[-n:])), 0)
    core = given[lead : len(given) - trail]
    rest = content(text[: words[start].start()]) + content(text[words[end - 1].end() :])
    own = content(new[core[0].start() : core[-1].end()])
    longer = len(core) - (end - start)
    if not rest or longer > LONGER or any(_is_in(word, rest) for word in own):
        return ""
    if counts and (longer or not is_count(core[0].group())):
        return ""
    return _replaced(text, words[start:end], new, core)


def _laid_over(text: str, new: str) -> str:
    """Return a fact with as many of its words replaced as new words say otherwise, after words
    that both say; empty where they have none in common that tell anything.
    """
    words, given = list(WORD.finditer(text)), list(WORD.finditer(new))
    for lead in range(len(given) - 1, 0, -1):
        for start in range(lead, len(words)):
            if _alike(words[start - lead : start], given[:lead]):
                there, said = words[start : start + len(given) - lead], given[lead:]
                many = next(n for n in range(1, len(said) + 1) if _alike(there[n:], said[n:]))
                shared = [one.group() for one in (*given[:lead], *said[many:])]
                if content(" ".join(shared)) and len(there) == len(said):
                    return _replaced(text, there[:many], new, said[:many])
    return ""


def _other_value(text: str, new: str) -> str:
    """Return a fact with its one time, or its one number, replaced: "No, it's the 5th"."""
    if len(WORD.findall(new)) > SHORT:
        return ""
    for values in (_times, _numbers):
        mine, theirs = values(text), values(new)
        if len(mine) == len(theirs) == 1:
            return text.replace(mine[0], theirs[0], 1)
    return ""


def _times(text: str) -> list[str]:
    return [one.text for one in spans(text, "", datetime(2026, 1, 1))]


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d[\w:.,/-]*\w|\d", text)


def _replaced(text: str, wrong: Words, new: str, right: Words) -> str:
    said = new[right[0].start() : right[-1].end()]
    return f"{text[: wrong[0].start()]}{said}{text[wrong[-1].end() :]}"


def _alike(ones: Words, others: Words) -> bool:
    """Tell whether words are the same in some form; small words by their first letter."""

    def same(one: str, other: str) -> bool:
        left, right = content(one), content(other)
        if not left and not right:
            return one[0].casefold() == other[0].casefold()
        return _same(left, right)

    pairs = zip(ones, others, strict=False)
    return len(ones) == len(others) and all(same(a.group(), b.group()) for a, b in pairs)


def _spans(text: str, old: str) -> list[tuple[int, int]]:
    """Return which words of a fact, from one to before another, say the old words in any form."""
    words = [content(word) for word in WORD.findall(text)]
    wanted = [content(word) for word in WORD.findall(old)]
    while wanted and not wanted[0]:
        del wanted[0]  # a preposition in front, which the fact may lack
    places = range(len(words) - len(wanted) + 1) if wanted else ()
    spans = ((first, first + len(wanted)) for first in places)
    return [(a, b) for a, b in spans if all(map(_same, words[a:b], wanted))]


def _same(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    return len(one) == len(other) and all(a.same(b) for a, b in zip(one, other, strict=True))


def _is_in(word: Word, others: Sequence[Word]) -> bool:
    return any(word.same(other) for other in others)
