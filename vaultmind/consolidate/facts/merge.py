"""What a talk's facts change in the memory as it is: nothing, an addition, an update, a removal.

Known facts are left alone, whichever way they were said; a fact that contradicts another takes
its place; what is forgotten is the one fact that the words mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features
from vaultmind.consolidate.facts.own import pieces
from vaultmind.consolidate.types import Candidate, Dropped
from vaultmind.memory.contradictions.alike import covers
from vaultmind.memory.match import find, same_fact
from vaultmind.memory.words import SOFT, content, fold
from vaultmind.types import Fact

_LINK = re.compile(r"^(?:and|but|so|i|a|ale|и|но|а)\s+", re.I)
_FIRST = re.compile(r"[^\W\d_]+")
_THE_USER = frozenset({"user", "uzytkownik", "uzytkowniczka", "пользователь", "the", "i", "a"})
UPDATED = 5.0
"""What the correction of a known fact weighs."""


def merge(
    candidates: Iterable[Candidate], brain: Sequence[Fact], max_facts: int = 8
) -> tuple[list[Candidate], list[Dropped]]:
    """Return what is new to a brain, the most important first, and what was dropped.

    `brain`: its facts and those of its archive, as visible to the agent. A DELETE names the
    fact that it means by its words and block.
    """
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    brain = [fact for fact in brain if not fact.until]
    for one in candidates:
        merged = _forgotten(one, brain) if one.category == "DELETE" else _told(one, brain)
        if isinstance(merged, Dropped):
            dropped.append(merged)
        else:
            kept.append(merged)
    kept.sort(key=lambda one: -one.weight)
    dropped += [
        Dropped(one.text, "too many", one.evidence, one.category) for one in kept[max_facts:]
    ]
    return kept[:max_facts], dropped


def _forgotten(one: Candidate, brain: Sequence[Fact]) -> Candidate | Dropped:
    found = find(brain, one.text).found
    if not found:
        return Dropped(one.text, "not in memory", one.evidence, "DELETE")
    fact = brain[found[0]]
    return replace(one, text=fact.text, block=fact.block, section=fact.section)


def _told(one: Candidate, brain: Sequence[Fact]) -> Candidate | Dropped:
    from vaultmind.memory.contradictions.contradict import relation

    for fact in brain:
        if is_known(one.text, fact.text):
            return Dropped(one.text, "already known", one.evidence, one.category, fact.text)
    for fact in brain:
        how = relation(one.text, fact.text)
        if how == "same":
            return Dropped(one.text, "already known", one.evidence, one.category, fact.text)
        if how == "contradicts":
            return replace(
                one,
                category="UPDATE",
                replaces=fact.text,
                block=fact.block,
                section=fact.section or one.section,
                weight=max(UPDATED, one.weight),
            )
    parts = next((fact for fact in brain if _contradicts_a_part(one.text, fact.text)), None)
    if parts is not None and not one.doubt:
        return replace(one, doubt=f"It contradicts a part of what is known: {parts.text}")
    return one


def _contradicts_a_part(new: str, old: str) -> bool:
    """Tell whether a fact contradicts one clause of an old one that says more than that.

    Whether a clause of its own says so is asked too: `I don't live there any more, I moved here`.
    """
    from vaultmind.memory.contradictions.contradict import relation

    def parts(text: str) -> list[str]:
        spans = list(pieces(text))
        return [_LINK.sub("", text[a:b]).strip() for a, b in spans] if len(spans) > 1 else []

    mine = [new, *parts(new)]
    return any(relation(n, o) == "contradicts" for o in parts(old) for n in mine)


def is_known(new: str, old: str) -> bool:
    """Tell whether an old fact says all that a new one does."""
    if same_fact(new, old):
        return True
    if _of_another(new, old):
        return False
    words = tuple(word for word in content(new) if word.folded not in SOFT)
    return bool(words) and covers(words, content(old)) and _same_side(new, old)


def _of_another(new: str, old: str) -> bool:
    """Tell whether an old fact is about somebody whom a new one of the person does not name."""
    if not begins(fold(new), "speaks"):
        return False
    told = fold(old)
    kin = features(cyrillic=bool(CYRILLIC.search(told)))["kin"]
    said = content(new)
    named = [found.group() for found in kin.finditer(told)]
    first = _FIRST.match(old)
    if first and not begins(told, "speaks") and fold(first.group()) not in _THE_USER:
        named.append(
            first.group() if old[first.end() :].startswith((" is ", " has ", " ma ")) else ""
        )
    return any(
        name and not any(word.same(w) for w in said) for name in named for word in content(name)
    )


def _same_side(new: str, old: str) -> bool:
    from vaultmind.memory.contradictions.claims import read

    return read(new).negative == read(old).negative and read(new).poles == read(old).poles
