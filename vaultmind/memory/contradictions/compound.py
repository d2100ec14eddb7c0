"""What a contradicted fact says besides: replacing it would lose that.

`Lives in Gdańsk with two cats`, when the home is another now, still holds the cats. A fact is
read clause by clause: where a new fact contradicts one clause, whatever the others say, and
the new fact does not, is left over. What only adds to the contradicted clause (since when, near
what, in which country) goes with it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vaultmind.memory.contradictions import relations as rel
from vaultmind.memory.contradictions.alike import without
from vaultmind.memory.contradictions.claims import read
from vaultmind.memory.contradictions.contradict import relation
from vaultmind.memory.contradictions.lexicon import entry
from vaultmind.memory.words import Word, fold

_JOINTS = re.compile(
    r"\s{0,6}[;,()]\s*|(?<=\w{3})\.\s+|\s{1,6}[-–—]\s+|\s{1,6}(?=(?:without|bez|без)\s)"
    r"|\s{1,6}(?:and|but|with|as|who|which|oraz|ale|lecz|jako|któr\w+|котор\w+|"
    r"i|a|z|ze|и|но|а|с|со)\s+",
    re.IGNORECASE,
)
_ADDS = rel.pattern(
    r"""since|from|because|near|until|till|for|by|around|at|in|on|so|when|where|if|not|than|
    od|bo|koło|obok|do|dopóki|w|we|na|przy|ponieważ|gdzie|gdy|kiedy|żeby|nie|niż|
    потому|около|возле|от|до|в|во|на|у|где|когда|чтобы|не|чем"""
)
"""How a clause begins that says more of the one before."""
_PLACES = frozenset({"residence", "employer"})


def left_over(new: str, old: str) -> str:
    """Return what an old fact that a new one contradicts says besides; empty for nothing."""
    clauses = _clauses(old)
    if len(clauses) == 1:
        return ""
    denied = [clause for clause in clauses if relation(new, clause) == "contradicts"]
    if not denied:  # what is contradicted is the whole
        return ""
    rest = [
        clause
        for place, clause in enumerate(clauses)
        if clause not in denied and _stands_alone(clause, clauses[:place], denied, new)
    ]
    return ", ".join(rest)


@lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[str, ...]:
    return tuple(part.strip(" .!?") for part in _JOINTS.split(text) if part.strip(" .!?"))


def _stands_alone(clause: str, before: tuple[str, ...], denied: list[str], new: str) -> bool:
    """Tell whether a clause says something that neither the new fact nor a denied clause says."""
    if before and _ADDS.match(fold(clause)):
        return False
    said = read(clause)
    topic = without(said.topic, read(new).words)
    for one in denied:
        topic = without(topic, read(one).words)
    if _is_place(topic, denied) or _is_name(clause, denied, before):
        return False
    return bool(topic) or _takes_side(clause, denied)


def _is_place(topic: tuple[Word, ...], denied: list[str]) -> bool:
    """Tell whether all that is left is the country of a home that is left."""
    home = any(claim.slot in _PLACES for one in denied for claim in read(one).claims)
    known = all(entry("country", word.folded) or entry("city", word.folded) for word in topic)
    return home and bool(topic) and known


def _is_name(clause: str, denied: list[str], before: tuple[str, ...]) -> bool:
    """Tell whether a clause is a bare name right after the place it belongs to: `Brno, Moravia`."""
    home = bool(before) and before[-1] in denied
    home = home and any(claim.slot in _PLACES for claim in read(before[-1]).claims)
    return home and all(word[:1].isupper() for word in clause.split())


def _takes_side(clause: str, others: list[str]) -> bool:
    sides = {name for one in others for name, _ in read(one).poles}
    return bool({name for name, _ in read(clause).poles} - sides)
