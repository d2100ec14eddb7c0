"""What may go wrong with a task, and how much: by its words, and by the files it touches. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from vaultmind.index.words.terms import fold
from vaultmind.planner.intent.cues import Found, common, lexicon
from vaultmind.planner.intent.kinds import words_before
from vaultmind.planner.intent.text import Text
from vaultmind.planner.types import Risk, TaskKind

HIGH, MEDIUM = 3.0, 1.0
"""Least sums of a high and of a medium risk."""
HARMLESS = 0.4
"""Factor of what only reads or writes prose: research and writing."""
GRAVE = 3.0
"""What an incident adds."""

_NAMES = {
    "auth": "sign-in and rights",
    "payment": "payment",
    "secrets": "secrets",
    "migration": "a migration",
    "deletion": "deletion",
    "production": "production",
    "security": "security",
    "personal": "personal data",
}
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")


def risk_of(text: Text, cues: Sequence[Found], kind: TaskKind) -> tuple[Risk, tuple[str, ...]]:
    """Return how risky a task is, and why in words."""
    strongest: dict[str, tuple[float, str]] = {}
    for found in cues:
        if not _is_spared(text, found):
            said = " ".join(text.words[found.first : found.last + 1])
            held = strongest.get(found.cue.name, (0.0, ""))
            strongest[found.cue.name] = max(held, (found.cue.weight, said))
    total = sum(weight for weight, _ in strongest.values())
    total *= HARMLESS if kind in ("research", "writing") else 1.0
    total += GRAVE if kind == "incident" else 0.0
    risk: Risk = "high" if total >= HIGH else "medium" if total >= MEDIUM else "low"
    said = ", ".join(f"{_NAMES[name]} (“{word}”)" for name, (_, word) in strongest.items())
    if kind == "incident":
        said = ", ".join(filter(None, (said, "an incident")))
    return risk, (f"{risk} risk: {said}",) if said else ()


def _is_spared(text: Text, found: Found) -> bool:
    """Tell whether a task says that it leaves alone what is at risk.

    That something fails takes no risk back: `не проходит оплата`, `payment does not work`.
    """
    before, known = words_before(text, found), lexicon()
    if not known.without.isdisjoint(before):
        return True
    denied = [at for at, word in enumerate(before) if word in known.negations]
    return bool(denied) and any(word.startswith(known.touching) for word in before[denied[0] :])


@lru_cache(maxsize=50_000)
def risk_of_path(path: str) -> float:
    """Return how critical a file is by its path, from 0 to 1: sign-in and payment most."""
    parts = [fold(part) for part in _PART.findall(path)]
    weights: dict[str, float] = common()["paths"]
    found = max(
        (weights.get(part, weights.get(part.removesuffix("s"), 0.0)) for part in parts), default=0.0
    )
    harmless = not set(parts).isdisjoint(common()["harmless"]["paths"].split())
    return round(float(found) * (0.5 if harmless else 1.0), 3)
