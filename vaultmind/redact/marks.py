"""What stands in a text in the place of what was taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

PRIVATE = "private passage"
OWN = "own pattern"
KINDS = (
    "private key",
    "api key",
    "token",
    "password",
    "PIN",
    "card number",
    "bank account",
    PRIVATE,
    OWN,
)
MARK = re.compile("‹(?:" + "|".join(KINDS) + ")›")

Put = Callable[[str], Callable[[re.Match[str]], str]]
"""Takes a kind, returns what replaces a match by the kind's mark and notes the kind."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and the kinds of what was taken out, each once."""

    text: str
    kinds: tuple[str, ...]
