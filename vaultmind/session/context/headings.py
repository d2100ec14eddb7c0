"""What stands above the parts of a context, in the conversation's language."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("headings.toml")


@dataclass(frozen=True, slots=True)
class Headings:
    """One language's headings. Identity and brain have their own, in their files."""

    active: str
    summary: str
    window: str
    history: str


@cache
def headings(language: str) -> Headings:
    """Return a language's headings; those of English for a language that has none."""
    known = tomllib.loads(_FILE.read_text("utf-8"))
    return Headings(**known[language if language in known else "en"])
