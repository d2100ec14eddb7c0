"""What stands in a text in the place of what was taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

PRIVATE = "private passage"
KEY = "private key"
OWN = "own pattern"
KINDS = (
    KEY,
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
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Put = Callable[[str], Callable[[re.Match[str]], str]]
"""Takes a kind, returns what replaces a match by the kind's mark and notes the kind."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and the kinds of what was taken out, each once."""

    text: str
    kinds: tuple[str, ...]


def blanked(passage: str, kind: str) -> str:
    """Return a passage of blanks, as long and of as many lines.

    Its mark stands on the first line that has room for it.
    """
    mark = f"‹{kind}›"
    lines = _LINES.findall(passage)
    room = next((at for at, line in enumerate(lines) if len(line.rstrip()) >= len(mark)), None)
    return "".join(
        (mark if at == room else "").ljust(len(line.rstrip("\r\n")))
        + line[len(line.rstrip("\r\n")) :]
        for at, line in enumerate(lines)
    )


def unmarked(text: str) -> str:
    """Return a text with blanks for its marks: every offset stays, and code can be read."""
    return MARK.sub(lambda mark: " " * len(mark.group()), text) if "‹" in text else text
