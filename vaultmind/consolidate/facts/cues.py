"""Cues: the words by which a sentence shows what it is, in English, Polish and Russian.

Each language is a file in `cues/`. Rules (a question, a joke, a secret) decide; features only
count for the linear model. A sentence is met by the cues of every language in its script, since
people change languages within a talk; of other languages nothing is known.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from vaultmind.memory.contradictions.relations import pattern

FOLDER = Path(__file__).parent / "cues"
LANGUAGES = ("en", "pl", "ru")
Rule = Literal[
    "question",
    "request",
    "hypothetical",
    "conditional",
    "joke",
    "laugh",
    "order",
    "told",
    "task",
    "fiction",
    "retract",
    "undo",
    "agree",
    "lead",
    "tail",
    "secret",
    "remember",
    "polite",
    "standing",
    "forget",
    "ended",
    "off",
    "role",
    "unrole",
    "decided",
    "persona",
    "change",
    "stranger",
    "voice",
    "speaks",
    "correct",
    "kidding",
    "repair",
    "announces",
    "dangles",
    "aside",
    "verb",
    "condition",
    "denies",
    "retreats",
]

CYRILLIC = re.compile(r"[\u0400-\u052f]")


def says(folded: str, rule: Rule) -> re.Match[str] | None:
    """Return where a folded text first holds a cue."""
    return rules(rule, cyrillic=bool(CYRILLIC.search(folded))).search(folded)


def begins(folded: str, rule: Rule) -> re.Match[str] | None:
    """Return the cue that a folded text begins with."""
    return rules(rule, cyrillic=bool(CYRILLIC.search(folded))).match(folded)


@cache
def rules(rule: Rule, *, cyrillic: bool) -> re.Pattern[str]:
    """Return the pattern of a rule's cues, for one script."""
    return _joined("rules", rule, cyrillic=cyrillic)


@cache
def features(*, cyrillic: bool) -> dict[str, re.Pattern[str]]:
    """Return the patterns of all features, by name; the names are the same in every language."""
    names = list(_language("en")["features"])
    return {name: _joined("features", name, cyrillic=cyrillic) for name in names}


def _joined(kind: str, name: str, *, cyrillic: bool) -> re.Pattern[str]:
    codes = ("ru",) if cyrillic else ("en", "pl")
    return pattern("|".join(_language(code)[kind][name] for code in codes))


@cache
def _language(code: str) -> dict[str, dict[str, str]]:
    data: dict[str, dict[str, str]] = tomllib.loads((FOLDER / f"{code}.toml").read_text("utf-8"))
    return data
