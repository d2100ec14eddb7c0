"""What a conversation's facts change in the memory as it is: nothing, an addition, an update.

Known facts are left alone, whichever way they were said; a fact that contradicts another takes
its place; what is forgotten is the one fact that the words mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from vaultmind.consolidate.types import Candidate, Dropped
from vaultmind.language.words import SOFT, content
from vaultmind.memory.contradictions import contradicts, covers, denies
from vaultmind.memory.match import find, same_fact
from vaultmind.types import Fact

UPDATED = 5.0
"""What the correction of a known fact weighs."""


def merge(
    candidates: Iterable[Candidate], brain: Sequence[Fact], max_facts: int
) -> tuple[list[Candidate], list[Dropped]]:
    """Return what is new to a brain, the most important first, and what was dropped.

    `brain`: its facts and those of its archive, as visible to the agent. A DELETE names the
    fact that it means by its words and block.
    """
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    known = [fact for fact in brain if not fact.until]
    for one in candidates:
        if one.category != "DELETE":
            merged = _told(one, known)
        elif found := find(known, one.text).found:
            fact = known[found[0]]
            merged = replace(one, text=fact.text, block=fact.block, section=fact.section)
        else:
            merged = Dropped(one.text, "not in memory", one.evidence, "DELETE")
        if isinstance(merged, Dropped):
            dropped.append(merged)
        else:
            kept.append(merged)
    kept.sort(key=lambda one: -one.weight)
    asked = sum(one.asked for one in kept)  # what the person asked for is never too much
    most = max(max_facts, asked)
    kept.sort(key=lambda one: not one.asked)
    dropped += [Dropped(one.text, "too many", one.evidence, one.category) for one in kept[most:]]
    return sorted(kept[:most], key=lambda one: -one.weight), dropped


def _told(one: Candidate, brain: Sequence[Fact]) -> Candidate | Dropped:
    for fact in brain:
        if is_known(one.text, fact.text):
            return Dropped(one.text, "already known", one.evidence, one.category, fact.text)
    for fact in brain:
        if contradicts(one.text, fact.text):
            return replace(
                one,
                category="UPDATE",
                replaces=fact.text,
                block=fact.block,
                section=fact.section or one.section,
                weight=max(UPDATED, one.weight),
            )
    return one


def is_known(new: str, old: str) -> bool:
    """Tell whether an old fact says all that a new one does."""
    if same_fact(new, old):
        return True
    words = tuple(word for word in content(new) if word.folded not in SOFT)
    if not words or not covers(words, content(old)):
        return False
    return denies(new) == denies(old)
