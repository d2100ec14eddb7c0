"""What a conversation's facts change in the memory as it is: nothing, an addition, an update.

Each fact is told once and with its date. Known facts are left alone, whichever way they were said;
a fact that contradicts another takes its place; what is forgotten is the one fact that the words
mean. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, time

from vaultmind.consolidate.ground import share_of, words_of
from vaultmind.consolidate.talk import Talk
from vaultmind.consolidate.types import Candidate, Dropped, Extraction
from vaultmind.index.when import with_dates
from vaultmind.language.words import SOFT, content
from vaultmind.memory.contradictions import contradicts, covers, denies
from vaultmind.memory.match import find, same_fact
from vaultmind.types import Fact

UPDATED = 5.0
"""What the correction of a known fact weighs."""
ALIKE = 0.9
"""Share of its words in which a fact says no more than another."""


def merge(
    found: Iterable[Candidate], talk: Talk, brain: Sequence[Fact], max_facts: int
) -> Extraction:
    """Return what is new to a brain, the most important first, and what was dropped.

    `brain`: its facts and those of its archive, as visible to the agent. A DELETE names the
    fact that it means by its words and block.
    """
    single, dropped = _once(found)
    kept: list[Candidate] = []
    known = [fact for fact in brain if not fact.until]
    for one in (_dated(fact, talk) for fact in single):
        if one.category != "DELETE":
            merged = _told(one, known)
        elif meant := find(known, one.text).found:
            fact = known[meant[0]]
            merged = replace(one, text=fact.text, block=fact.block, section=fact.section)
        else:
            merged = Dropped(one.text, "not in memory", one.evidence, "DELETE")
        if isinstance(merged, Dropped):
            dropped.append(merged)
        else:
            kept.append(merged)
    kept.sort(key=lambda one: (not one.asked, -one.weight))
    most = max(max_facts, sum(one.asked for one in kept))  # what was asked for is never too much
    dropped += [Dropped(one.text, "too many", one.evidence, one.category) for one in kept[most:]]
    return Extraction(tuple(sorted(kept[:most], key=lambda one: -one.weight)), tuple(dropped))


def _once(found: Iterable[Candidate]) -> tuple[list[Candidate], list[Dropped]]:
    """Return facts, each once: what was said again has more evidence."""
    kept: list[Candidate] = []
    dropped: list[Dropped] = []
    for one in found:
        at = next((at for at, other in enumerate(kept) if _alike(one, other)), None)
        if at is None:
            kept.append(one)
            continue
        lesser, fuller = sorted((kept[at], one), key=lambda it: len(it.text))
        kept[at] = replace(
            fuller,
            evidence=tuple(dict.fromkeys((*kept[at].evidence, *one.evidence))),
            weight=max(one.weight, kept[at].weight),
            asked=one.asked or kept[at].asked,
            doubt=one.doubt and kept[at].doubt,
        )
        dropped.append(Dropped(lesser.text, "said twice", lesser.evidence, lesser.category))
    return kept, dropped


def _alike(one: Candidate, other: Candidate) -> bool:
    """Tell whether one fact says no more than another."""
    if (one.category == "DELETE") != (other.category == "DELETE"):
        return False
    few = min(len(words_of(one.text)), len(words_of(other.text)))
    return same_fact(one.text, other.text) or (few > 1 and share_of(one.text, other.text) >= ALIKE)


def _dated(one: Candidate, talk: Talk) -> Candidate:
    """Return the fact of a statement with the date of its `tomorrow`."""
    if one.category == "DELETE":
        return one
    days = [talk.days[key] for key in one.evidence if key in talk.days]
    text = one.text[:1].upper() + one.text[1:]
    now = datetime.combine(max(days), time()) if days else None
    return replace(one, text=with_dates(text, now) if now else text)


def _told(one: Candidate, brain: Sequence[Fact]) -> Candidate | Dropped:
    for fact in brain:
        if is_known(one.text, fact.text):
            return Dropped(one.text, "already known", one.evidence, one.category)
    old = next((fact for fact in brain if contradicts(one.text, fact.text)), None)
    if old is None:
        return one
    section, weight = old.section or one.section, max(UPDATED, one.weight)
    found = replace(one, category="UPDATE", section=section, weight=weight)
    return replace(found, replaces=old.text, block=old.block)


def is_known(new: str, old: str) -> bool:
    """Tell whether an old fact says all that a new one does."""
    if same_fact(new, old):
        return True
    words = tuple(word for word in content(new) if word.folded not in SOFT)
    return bool(words) and covers(words, content(old)) and denies(new) == denies(old)
