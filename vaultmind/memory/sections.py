"""The sections of a brain, their headings in every language, and where a new fact belongs."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from vaultmind.language.words import fold
from vaultmind.types import SECTIONS, Section

LANGUAGES = ("en", "pl", "ru")

_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


@lru_cache(maxsize=1)
def tables() -> dict[str, Any]:
    """Return what `words.toml` holds: what is said in each language, and what is listened for."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def heading(section: Section, language: str) -> str:
    """Return a section's heading in a language; in English for one we do not write."""
    names = tables()["headings"].get(language, tables()["headings"]["en"])
    return str(names[SECTIONS.index(section)])


def section_of(title: str) -> Section | None:
    """Return the section that a heading names, in any language; None for one we do not know."""
    return _known().get(_key(title))


def language_of(titles: tuple[str, ...]) -> str:
    """Return the language most of the headings are written in; empty when none says."""
    keys = [_key(title) for title in titles]
    names = {language: set(map(_key, each)) for language, each in tables()["headings"].items()}
    votes = {language: sum(key in names[language] for key in keys) for language in LANGUAGES}
    best = max(LANGUAGES, key=lambda one: votes[one])
    return best if votes[best] else ""


def pick(text: str) -> Section:
    """Return the section of a new fact by its words: a taste, a rule, a project, else `user`."""
    folded, cues = fold(text), tables()["cues"]
    known = (one for one in SECTIONS if one in cues and re.search(cues[one], folded))
    return next(known, "user")


def _key(title: str) -> str:
    return _EDGES.sub("", fold(" ".join(title.split())))


@lru_cache(maxsize=1)
def _known() -> dict[str, Section]:
    known: dict[str, Section] = {}
    for section in SECTIONS:
        names = (section, *(heading(section, one) for one in LANGUAGES))
        also = tables()["also"][section].split("|")
        known.update((_key(name), section) for name in (*names, *also))
    return known
