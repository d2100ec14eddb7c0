"""The brain's size: which facts move to the archive, and how one comes back.

Pure: texts in, texts out. Only lines that stand exactly as we wrote them move, and they move
whole, with provenance and block id; a line that a person typed, ticked, indented, continued or
nested something under stays where it is. Write the archive before the brain: a crash between
the two then leaves a fact twice, never not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from vaultmind.errors import DamagedMemory
from vaultmind.memory.audit import FOUND
from vaultmind.memory.brain import (
    PlacedFact,
    add_fact,
    block_ids,
    parse_brain,
    remove_fact,
    render_fact,
)
from vaultmind.memory.words import fold
from vaultmind.redact import blank_private
from vaultmind.tokens import count
from vaultmind.types import Fact, Section
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.properties import front_matter

SECTION_WEIGHT: dict[Section | None, float] = {
    "user": 3.0,
    "decisions": 2.5,
    "preferences": 2.0,
    None: 1.0,
    "current": 0.5,
}
"""What a fact is worth by where it stands; the rest adds 0 to about 3."""
LASTING_DAYS = 180.0
CURRENT_DAYS = 30.0
"""After so many days a fact's freshness is a third of what it was."""
REPEATED_WEIGHT = 0.7
ASKED_WEIGHT = 1.5
"""What it adds that the person asked in words to have a fact kept: nothing that was only found
in a conversation pushes it out of its place."""
SLACK = 0.15
"""Room that moving facts leaves, as a share of what lies between the limit and the target: two
facts or so."""

CORE_WEIGHT = 1.0
"""What it adds that a fact says who the user is or what they do for a living."""
_WHO = re.compile(
    r"(?:(?:my|user's) (?:name|job|profession)|(?:(?:i|he|she|user) )?(?:translates?|teach(?:es)?|"
    r"works? (?:as|at|for|in)|runs? (?:a|my|his|her|the|an)|writes? for|farms?|lives? in)|"
    r"(?:i am|i'm|he is|she is|user is) an? (?:\w+ ){1,4}(?:by (?:trade|profession)|for|at|in)|"
    r"(?:[\w,]+ ){0,4}(?:translator|teacher|nurse|engineer|developer|doctor|lawyer|designer|writer|"
    r"editor|student|architect|accountant|manager|scientist|researcher|programmer|electrician)|"
    r"nazywam sie|mam na imie|jestem z zawodu|pracuj\w+|tlumacz\w+|ucze|uczy|prowadze|prowadzi|"
    r"studiuj\w+|mieszka\w*|меня зовут|(?:я )?(?:работа\w+|перевожу|переводит|преподаю|"
    r"преподает|учусь|живу|живет))(?!\w)"
)
"""How a fact, folded, begins that says so, in English, Polish and Russian."""

_COMMENT = re.compile(r"(?:(?<![ \t])[ \t]+)?%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n+")


@dataclass(frozen=True, slots=True)
class Use:
    """How often a fact was said again, and when it was said last."""

    repeated: int = 0
    last: str = ""
    """ISO date."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tokens a brain may have, and down to how many it shrinks at most."""

    max_tokens: int = 500
    target_tokens: int = 300


@dataclass(frozen=True, slots=True)
class Weighing:
    """How big a brain may be, and what the weighing of its facts needs to know."""

    paths: VaultPaths
    agent: str
    today: date
    language: str = "en"
    """For headings, where the files do not say."""
    sizes: Sizes = field(default_factory=Sizes)
    uses: Callable[[], Mapping[str, Use]] = dict
    """Returns the use of facts by block id; asked for where a brain is too big."""
    keep: Collection[str] = ()
    """Block ids that stay: what was written or asked for just now."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Both texts after a move, and the facts that moved, as they read in their new place."""

    brain: str
    archive: str
    facts: tuple[Fact, ...] = ()


def brain_tokens(text: str) -> int:
    """Return the tokens a model reads of a brain: no front matter, comments, block ids."""
    found = front_matter(text)
    body = (text[found.body_start :] if found else text).replace("\r\n", "\n")
    body = _BLOCK_ID.sub("", _COMMENT.sub("", body))
    return count(_BLANK_LINES.sub("\n\n", body).strip())


def shrink(brain: str, archive: str, weighing: Weighing) -> Moved:
    """Move the least important facts of an oversized brain to the archive.

    Stops a `SLACK` below the limit, so that the next fact does not move one again, and never
    goes below the target: one fact that is new makes few others move. What only a person could
    shorten stays over the limit. Raises DamagedMemory for an archive that cannot take them.
    """
    if brain_tokens(brain) <= weighing.sizes.max_tokens or parse_brain(brain).damaged:
        return Moved(brain, archive)
    chosen = sorted(_chosen(brain, weighing), key=lambda one: one.start)
    moved: list[Fact] = []
    for placed in chosen:
        archive, fact = put(archive, placed.fact, weighing)
        moved.append(fact)
    return Moved(without(brain, chosen), archive, tuple(moved))


def restore(brain: str, archive: str, block: str, weighing: Weighing) -> Moved | None:
    """Bring an archived fact of ours back; None where the archive has no such line."""
    for placed in parse_brain(archive).facts:
        if placed.fact.block == block and _ours(placed, archive, weighing.paths):
            back, fact = put(brain, replace(placed.fact, until=""), weighing)
            return Moved(back, remove_fact(archive, placed), (fact,))
    return None


def put(text: str, fact: Fact, weighing: Weighing) -> tuple[str, Fact]:
    """Return a text with a fact in its section, under a block id that is free there.

    An empty text becomes an archive. Raises DamagedMemory for one that can take nothing.
    """
    brain = parse_brain(text)
    if brain.damaged:
        raise DamagedMemory(f"Facts of {weighing.agent} cannot move: {brain.damaged}.")
    if fact in brain.all():
        return text, fact
    taken = block_ids(text)
    tries = (fact.block, *(f"{fact.block}{number}" for number in range(2, len(taken) + 3)))
    fact = replace(fact, block=next(one for one in tries if one not in taken))
    line = render_fact(fact, weighing.paths)
    text = text or f"# {weighing.agent.capitalize()} - Archive\n"
    return add_fact(text, line, fact.section or "user", weighing.language), fact


def without(text: str, places: Collection[PlacedFact]) -> str:
    """Return the text without some facts; from the last one up, so that offsets hold."""
    end = len(text) + 1
    for place in sorted(places, key=lambda one: one.start, reverse=True):
        anew = place
        if place.tree_end > end:  # it holds one that was removed: read its end anew
            facts = parse_brain(blank_private(text)).facts
            anew = next(one for one in facts if one.start == place.start)
        text = remove_fact(text, anew)
        end = place.start
    return text


def importance(fact: Fact, use: Use, today: date) -> float:
    """Return what a fact is worth keeping: section, who wanted it, freshness, use, repetition.

    One that was found in a conversation is as fresh as the message that says it, whenever that
    was read: an import of old ones must not push out what is new.
    """
    found = fact.how in FOUND
    again = not found or use.repeated
    days = _days_since(max(fact.written, use.last) if again else fact.written, today)
    span = CURRENT_DAYS if fact.section == "current" else LASTING_DAYS
    fresh = math.exp(-days / span)
    used = REPEATED_WEIGHT * math.log1p(use.repeated)
    core = CORE_WEIGHT if fact.section == "user" and _WHO.match(fold(fact.text)) else 0.0
    return SECTION_WEIGHT[fact.section] + core + fresh + used + (0.0 if found else ASKED_WEIGHT)


def _chosen(brain: str, weighing: Weighing) -> list[PlacedFact]:
    """Return the facts to move, least important first, as many as it takes."""
    floor = min(weighing.sizes.target_tokens, weighing.sizes.max_tokens)
    goal = weighing.sizes.max_tokens - round((weighing.sizes.max_tokens - floor) * SLACK)
    chosen: list[PlacedFact] = []
    size = brain_tokens(brain)
    for placed in _ranked(brain, weighing):
        if size <= goal:
            break
        smaller = brain_tokens(without(brain, [*chosen, placed]))
        if size <= weighing.sizes.max_tokens and smaller < floor:
            continue
        chosen.append(placed)
        size = smaller
    return chosen


def _ranked(brain: str, weighing: Weighing) -> list[PlacedFact]:
    kept = blank_private(brain)  # a line that a person put between private tags stays there
    places = [
        one
        for one in parse_brain(brain).facts
        if _ours(one, brain, weighing.paths)
        and one.fact.block not in weighing.keep
        and kept[one.start : one.end] == brain[one.start : one.end]
    ]

    uses = weighing.uses()

    def worth(one: PlacedFact) -> tuple[float, str, int]:
        use = uses.get(one.fact.block, Use())
        return importance(one.fact, use, weighing.today), one.fact.written, one.start

    return sorted(places, key=worth)


def _ours(placed: PlacedFact, text: str, paths: VaultPaths) -> bool:
    """Tell whether a bullet stands as we wrote it, with nothing of a person's in it."""
    fact = placed.fact
    if not ((fact.written or fact.until) and fact.block) or placed.tree_end != placed.end:
        return False
    line = text[placed.start : placed.end].rstrip("\r")
    return line == f"- {render_fact(fact, paths)}"


def _days_since(written: str, today: date) -> int:
    try:
        return max(0, (today - date.fromisoformat(written)).days)
    except ValueError:
        return 0
