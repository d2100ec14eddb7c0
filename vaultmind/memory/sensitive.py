"""Whether a fact is sensitive: health, money, beliefs, sex, other people's data, whereabouts.

Known by words that are rarely about anything else, in English, Polish and Russian (`words.toml`).
It errs on both sides: it raises caution, it does not guard secrets (`redact` does).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from vaultmind.language.words import fold
from vaultmind.memory.sections import tables

Kind = Literal["health", "money", "beliefs", "sex", "others", "whereabouts"]
KINDS: tuple[Kind, ...] = ("health", "money", "beliefs", "sex", "others", "whereabouts")


@lru_cache(maxsize=16)
def _cues(name: str) -> re.Pattern[str]:
    joined = fold("|".join(tables()["sensitive"][name])).replace("*", r"[\w-]*")
    return re.compile(rf"\b(?:{joined})(?!\w)")


def sensitive(text: str) -> frozenset[Kind]:
    """Return the kinds of sensitive matter that a fact touches; empty for none.

    `others`: someone the person knows is named by their tie, with something private: any other
    kind, a number, an address, a birthday, a divorce.
    """
    folded = _cues("harmless").sub(" ", fold(" ".join(text.split())))
    found: set[Kind] = {one for one in KINDS if one != "others" and _cues(one).search(folded)}
    private = re.compile(tables()["sensitive"]["personal"])
    if _cues("kin").search(folded) and (found or private.search(folded)):
        found.add("others")
    return frozenset(found)
