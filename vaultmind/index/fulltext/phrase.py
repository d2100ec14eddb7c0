"""What full text looks for: FTS5's phrases, each with a score of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """What is looked for as one."""

    expression: str
    """As FTS5 writes it."""
    token: str = ""
    """Where that is a single token among the stems: that token."""
    in_title: bool = True
    """Whether a title counts, too, that has the token."""
