"""What is known about what a person said, and which one fact they mean to forget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vaultmind.index.words.terms import roots
from vaultmind.language.text import fold_word
from vaultmind.language.words import NEGATIONS, SOFT, Word, content
from vaultmind.memory.brain import own_paragraphs, parse_brain
from vaultmind.memory.contradictions import alike, denies, is_liking, superseded, told
from vaultmind.memory.match import NEAREST, asked_about
from vaultmind.memory.wording import section_of
from vaultmind.types import Caller, Fact, Hit, Kind
from vaultmind.vault.bullets import bullets, plain

SURE, MEANT = 0.45, 0.6
"""Score from which a fact answers a question by its meaning; below it is only the closest."""
MOST = 0.6
"""Part of the words asked with that must stand in a fact, where it is not all of them."""
MARGIN = 0.2
"""How much nearer than any other a fact must be that is to be forgotten."""
SHORT, ALIKE = 2, 5
"""Letters of a word that differs in its last vowel alone; and from which words of one beginning
are taken for one (`allergic`, `allergy`)."""
_ME = """
    me myself mnie mną mi mój moja moje moim mego меня мне мной моя mich mir mí moi
"""
ME = frozenset(_ME.split())
"""Words of a recall that mean everything about the person."""
Near = Callable[[str, str, Caller, Kind], Sequence[Hit]]
"""Finds facts of an agent, or notes, by some words, as a caller may see them, best first."""

_VOWELS = frozenset("aeiouyаеиоуыюя")
_MEMORY = re.compile(
    r"\b(?:(?:from|out of|of|z|ze|из|в)\s+)?(?:(?:your|my|twoj\w*|swoj\w*|сво\w+|тво\w+)\s+)?"
    r"(?:memor\w+|brain|remember\w*|you know|knowledge|notes?(?= (?:about|on|that)|$)|facts?|"
    r"pamiec\w*|pamieta\w*|wiesz|notat\w*|fakt\w*|wpis\w*|"
    r"памят\w*|помнишь|знаешь|заметк\w*|факт\w*|запис[ьи]\w*)\b"
)
_EMPTY_WORDS = """
    name names imie imiona имя имена thing things rule fact info preference decision plan plans
    part stuff note entry like want anymore longer please now was were zasada zasadzie
    informacja informacje decyzja decyzji wpis plan juz gdzie kiedy jak правило правиле решение
    запись план планы больше уже где когда как мою свою нашу нашего
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words that only say that a fact is meant."""


@dataclass(frozen=True, slots=True)
class Known:
    """An answer to what is known."""

    facts: tuple[Fact, ...]
    lines: tuple[str, ...]
    """The facts with their days, what the person typed beside them, else notes."""
    names: tuple[str, ...]
    """The names of what to say before them."""


def recalled(brain: str, archive: str, words: str, near: Callable[[Kind], Sequence[Hit]]) -> Known:
    """Return what brain, archive and, where they say nothing, the notes say about some words.

    Facts that hold the words; else those that mean the same; else the closest, as no more. `near`
    finds what is near in meaning, of a kind. Of facts that exclude each other the newer is told.
    """
    words = words.strip(" ?!.").lower()
    is_all = not words or words in ME
    facts = parse_brain(brain).all()
    names: tuple[str, ...] = ("known",)
    if not is_all:
        facts = (*parse_brain(archive).all(), *facts)  # of one day the later in the list is newer
        found = [facts[at] for at in asked_about(facts, words)]
        if not found and not _typed(brain, words):
            # a name that only notes hold is no fact's that is spelt alike: Marek, Darek
            asked = [word for word in content(words) if word.folded not in SOFT]
            said = [hit for hit in near("note") if _holds_all(content(hit.text), asked)]
            if asked and said:
                lines = tuple(f"{hit.path}: {hit.text}" for hit in said[:NEAREST])
                return Known((), lines, ("known",))
        if not found:
            close = near("fact") if facts else ()
            scored = [(hit.score, fact) for hit in close if (fact := _fact_of(facts, hit))]
            found = [fact for score, fact in scored if score >= MEANT]
            if not found:
                found, names = [fact for _, fact in scored[:NEAREST]], ("nothing_known", "nearest")
        facts = tuple(found)
    old = superseded([(fact.text, fact.written) for fact in facts])
    facts = tuple(fact for at, fact in enumerate(facts) if at not in old)
    typed = _typed(brain, "" if is_all else words)
    typed = [one for one in typed if all(one != fact.text for fact in facts)]
    if typed and names[0] != "known":
        facts, names = (), ("known",)
    if (not facts and not typed) or names[0] != "known":
        notes = [f"{hit.path}: {hit.text}" for hit in near("note") if hit.score >= SURE]
        if notes and not is_all:
            return Known((), tuple(notes[:NEAREST]), ("known",))
        names = ("nothing_known", "nearest") if facts else ("nothing_known",)
    return Known(facts, (*map(told, facts), *typed), names)


def _holds_all(text: Sequence[Word], asked: Sequence[Word]) -> bool:
    return all(any(word.same(one) for one in text) for word in asked)


def _fact_of(facts: Sequence[Fact], hit: Hit) -> Fact | None:
    named = (fact for fact in facts if fact.block and hit.anchor == f"#^{fact.block}")
    same = (fact for fact in facts if fact.text == hit.text)
    return next(named, None) or next(same, None)


def _typed(brain: str, words: str) -> list[str]:
    """Return what a person typed that is about some words, by its own or by its heading."""
    paragraphs = own_paragraphs(brain)
    pieces = [(title, plain("\n".join(lines))[0]) for title, lines in paragraphs]
    pieces += [(one.heading, one.text) for one in bullets(brain) if not section_of(one.heading)]
    about = [Fact(f"{title}: {text}", None) for title, text in pieces]
    return [pieces[at][1] for at in (asked_about(about, words) if words else range(len(pieces)))]


# --- which fact is meant ------------------------------------------------------------------


def meant(facts: Sequence[Fact], words: str) -> Fact | None:
    """Return the fact that words to forget something mean; None where it is none or several.

    It is told by the words that stand in it and in no other fact; where two are as near, or the
    words deny what it says, none is meant.
    """
    asked = _asked(words)
    shares = [(_share(asked, fact), fact) for fact in facts if denies(fact.text) == denies(words)]
    shares.sort(key=lambda one: -one[0])
    if not shares:
        return None
    (best, fact), near = shares[0], shares[1][0] if len(shares) > 1 else 0.0
    sure = best == 1 > near or (best >= MOST and best - near >= MARGIN and len(asked) > 1)
    return fact if sure else None


def strays(fact: Fact, facts: Sequence[Fact], words: str) -> bool:
    """Tell whether a fact has none of some words, and another one has."""
    asked = _asked(words)
    return not _share(asked, fact) and any(_share(asked, one) for one in facts)


def _share(asked: Sequence[Word], fact: Fact) -> float:
    """Return how much of some words stands in a fact, from 0 to 1."""
    said = content(fact.text)
    held = sum(any(_same(one, other) for other in said) for one in asked)
    return held / max(1, len(asked))


def _asked(words: str) -> list[Word]:
    return [
        one
        for one in content(_MEMORY.sub(" ", fold_word(words)))
        if one.folded[0].isalnum()
        and one.folded not in SOFT | NEGATIONS | _EMPTY
        and not is_liking(one.folded)
    ]


def _same(one: Word, other: Word) -> bool:
    a, b = one.folded, other.folded
    if alike(one, other) or not (a.isalpha() and b.isalpha()):
        return alike(one, other)
    short = min(len(a), len(b)) > SHORT and a[:-1] == b[:-1] and {a[-1], b[-1]} <= _VOWELS
    begin = len(a) >= ALIKE and a[:ALIKE] == b[:ALIKE]
    return short or begin or bool({*roots(a)} & {*roots(b)})
