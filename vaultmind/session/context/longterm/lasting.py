"""The words around what lasting memory brings, in the conversation's language."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vaultmind.types import Neighbour

_FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Words:
    """One language's."""

    memory: str
    associations: str
    link: str
    backlink: str
    tag: str
    meaning: str

    def way(self, near: Neighbour, x: str) -> str:
        """Return how something came to mind with `x`."""
        form: str = getattr(self, near.tie)
        return form.format(x=x, tag=near.name)


@cache
def words_in(language: str) -> Words:
    """Return a language's words; those of English for a language that has none."""
    known = tomllib.loads(_FILE.read_text("utf-8"))
    return Words(**known[language if language in known else "en"])


def link_to(path: str, anchor: str) -> str:
    """Return a link that Obsidian opens and that can be fetched."""
    return f"[[{path.removesuffix('.md')}{anchor}]]"


def name_of(path: str, anchor: str) -> str:
    """Return what a person calls a place: a note by its name, a block with its id."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    return stem + anchor if anchor.startswith("#^") else stem
