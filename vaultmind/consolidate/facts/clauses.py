"""What the clauses of a sentence are to one another: asked, announced, put right at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vaultmind.consolidate.facts.cues import begins, says
from vaultmind.consolidate.facts.seen import values
from vaultmind.consolidate.facts.statement import unled
from vaultmind.consolidate.types import Reason
from vaultmind.memory.words import fold

FEW = 4
"""Words of a clause in which the right name follows a slip."""
_NAMED = re.compile(r"(?<=\w )[^\W\d_a-zа-яąćęłńóśźż][^\W\d_]{2,}")


def announces(sentence: str, stop: int) -> bool:
    """Tell whether a clause ends in a colon behind which stands what a task is about."""
    announced = fold(sentence[:stop])
    told_to_keep = says(announced, "remember") or says(announced, "decided")
    return sentence[stop : stop + 1] == ":" and bool(says(announced, "task")) and not told_to_keep


def is_for_a_text(sentence: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a sentence begins by asking for a text: what follows is to stand in it.

    `Write me a silly dating bio, I'm a millionaire with a yacht`.
    """
    first = unled(fold(sentence[slice(*spans[0])]))
    return bool(begins(first, "request") and says(first, "voice"))


def repaired(
    sentence: str, spans: Sequence[tuple[int, int]], faults: list[Reason | None]
) -> list[Reason | None]:
    """Return the faults of clauses; what the same sentence puts right at once is taken back.

    `We fly on the 9th, no, hang on, the 16th`: the first clause is the one that does not hold.
    """
    found = list(faults)
    for at, (start, stop) in enumerate(spans[1:], 1):
        if not begins(fold(sentence[start:stop]), "repair"):
            continue
        before, after = sentence[slice(*spans[at - 1])], sentence[start:]
        other = values(before) and values(after) - values(before)
        named = _NAMED.search(before) and _NAMED.search(" ".join(after.split()[:FEW]))
        if other or named:
            found[at - 1] = found[at - 1] or "taken back"
    return found


def is_question(clause: str, *, asks: bool, first: bool, last: bool) -> bool:
    """Tell whether a clause asks something; `asks`: whether its sentence does."""
    if (asks or first) and begins(clause, "polite") and says(clause, "standing"):
        return False
    if asks:
        cued = begins(clause, "question") or begins(clause, "conditional")
        return last or bool(cued or begins(clause, "request"))
    return first and bool(begins(clause, "question")) and not begins(clause, "conditional")
