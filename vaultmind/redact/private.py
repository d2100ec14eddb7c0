"""Passages that a person marked `<private>…</private>`: they are never stored.

In doubt it is private: a tag that is never closed reaches to the end of the text, and one that
was never opened (the beginning was cut off, or mistyped) reaches back to its start.
"""

from __future__ import annotations

import re

from vaultmind.redact.marks import PRIVATE, blanked

_OPEN = r"(?:<|&lt;)\s*private(?:\s[^<>]*)?(?:>|&gt;)"
_CLOSE = r"(?:<|&lt;)\s*/\s*private\s*(?:>|&gt;)"
_TAG = re.compile(f"(?P<open>{_OPEN})|{_CLOSE}", re.IGNORECASE)


def has_private(text: str) -> bool:
    """Tell whether a text may hold a private passage: cheap, asked of every text."""
    return ("<" in text or "&lt;" in text) and "private" in text.lower()


def spans(text: str) -> list[tuple[int, int]]:
    """Return where private passages stand, tags included. Passages within one are part of it."""
    found: list[tuple[int, int]] = []
    start, depth = 0, 0
    for tag in _TAG.finditer(text):
        if tag["open"]:
            start = start if depth else tag.start()
            depth += 1
        elif depth > 1:
            depth -= 1
        elif depth == 1:
            found.append((start, tag.end()))
            depth = 0
        else:
            found = [(0, tag.end())]
    if depth:
        found.append((start, len(text)))
    return found


def take_private(text: str) -> str:
    """Return the text with each private passage replaced by a mark."""
    return _with_instead(text, f"‹{PRIVATE}›")


def without_private(text: str) -> str:
    """Return the text without its private passages, and without a mark in their place."""
    return _with_instead(text, "") if has_private(text) else text


def _with_instead(text: str, mark: str) -> str:
    done: list[str] = []
    end = 0
    for start, stop in spans(text):
        done += [text[end:start], mark]
        end = stop
    return "".join([*done, text[end:]])


def blank_private(text: str) -> str:
    """Return the text with each private passage blanked: every offset and line stays as it was.

    The mark stands on the first line of a passage that has room for it.
    """
    if not has_private(text):
        return text
    done: list[str] = []
    end = 0
    for start, stop in spans(text):
        done += [text[end:start], blanked(text[start:stop], PRIVATE)]
        end = stop
    return "".join([*done, text[end:]])
