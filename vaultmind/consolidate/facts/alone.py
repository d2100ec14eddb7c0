"""Whether a statement says something by itself, long after the talk that it comes from.

A brain is read without the talk around it. What announces a list, points at what stands elsewhere,
says what nobody knows the subject of, names things without saying anything of them, or only tells
in which language the talk goes on, is left out.
"""

from __future__ import annotations

import re

from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.own import GAP
from vaultmind.memory.words import content, fold
from vaultmind.redact import MARK

FEWEST_THINGS = 3
"""Things named one after the other from which a statement without a verb is a mere list, ..."""
MOST_WORDS = 5
"""... of so many words each."""
FEWEST = 2
"""Content words that must be left of a statement of which something was taken out."""
_COMMA = re.compile(r",\s+(?:(?:and|or|i|oraz|и)\s+)?")
_CLAUSE = re.compile(
    r"[,;]\s+(?:(?:and|but|so|i|a|ale|и|а|но)\s+)?|\s[-–—]\s|\s(?:and|but|oraz|ale|и|но)\s"
)
_GONE = re.compile(rf"{MARK.pattern}|{GAP}")
_LISTED = re.compile(r":\s+\S+(?:\s+\S+)")
"""What follows the colon of `two rules: no phones at table`."""


def without_gaps(text: str) -> str:
    """Return a statement without the clauses of which something was taken out; empty if none says
    anything without it."""
    if not _GONE.search(text):
        return text
    kept = [part.strip() for part in _CLAUSE.split(text) if part and not _GONE.search(part)]
    left = max(kept, key=lambda part: len(content(part)), default="")
    return left[:1].upper() + left[1:] if len(content(left)) >= FEWEST else ""


def is_gap(text: str) -> bool:
    """Tell whether nothing is left of a text but what stands for what was taken out of it."""
    return GAP in text and not any(char.isalnum() for char in text)


def shown_gaps(text: str) -> str:
    """Return a text as a person reads it: an ellipsis stands for what was taken out of it."""
    return text.replace(GAP, "…")


def says_itself(text: str) -> bool:
    """Tell whether a statement can be understood, and holds, without the talk around it."""
    folded = fold(" ".join(text.split()))
    aside = begins(folded, "aside")
    if aside and not says(folded[aside.end() :], "standing"):
        return False
    if begins(folded, "announces") and not _LISTED.search(folded):
        return False
    return not begins(folded, "dangles") and not _only_names(folded)


def _only_names(folded: str) -> bool:
    """Tell whether a statement names things, one after the other, and says nothing of them.

    A condition of the last of them may have a verb: `and Mum if she can`.
    """
    if ":" in folded:
        return False
    if not says(folded, "verb"):
        return _is_list(folded)
    condition = says(folded, "condition")
    named = folded[: condition.start()].rstrip(" ,") if condition else ""
    return not says(named, "verb") and _is_list(named)


def _is_list(folded: str) -> bool:
    things = _COMMA.split(folded)
    cues = features(cyrillic=bool(CYRILLIC.search(folded)))
    of_them = any(cues[name].search(folded) for name in ("health", "pet"))
    short = all(len(thing.split()) <= MOST_WORDS for thing in things)
    return len(things) >= FEWEST_THINGS and short and not of_them
