"""Fences: recalled text is data, and no text can close its own fence."""

from __future__ import annotations

import os


def new_mark() -> str:
    """Return a fresh random mark; one for each answer."""
    return os.urandom(4).hex()


def fence(text: str, source: str, mark: str) -> str:
    """Return the text between two lines that carry the mark and name the source.

    The mark is random, so a note cannot hold the closing line; where it does all the same,
    it is taken out.
    """
    inside = text.replace(mark, "")
    where = " ".join(source.replace(mark, "").split())
    where = where.replace("<<", "< <").replace(">>", "> >")
    return f"<<recalled {mark} from {where}>>\n{inside}\n<<end {mark}>>"
