"""Half letters: surrogates without their other half, which JSON can spell and UTF-8 cannot hold.

A JavaScript client that cuts an emoji in two sends one. On the way in each becomes `�`, before
anything reads the message: MCP, HTTP and the daemon's socket all pass here. On the way out it does
too, since a file may hold one and one would end the connection.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"
_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole letter
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_HALF = re.compile("[\ud800-\udfff]")


def whole_json(raw: bytes) -> bytes:
    """Return JSON with `\\ufffd` for each escape that is half a letter; of the same length."""
    if _SUSPECT.search(raw) is None:
        return raw
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], raw)


def whole_text(text: str) -> str:
    """Return a text with `�` for each half letter."""
    return text if text.isascii() else _HALF.sub(REPLACEMENT, text)
