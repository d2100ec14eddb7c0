"""A memory file as a model reads it: no front matter, no comments, no block ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.redact import mask
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.properties import front_matter

Shows = Callable[[str, Caller], bool]
"""Tells whether a caller may see a vault-relative path: the outlet's filter."""
Hides = Callable[[str, str, str], bool]
"""Tells whether a part of a record (agent, record, block) said what was forgotten."""

_COMMENT = re.compile(
    r"^%%.*?%%[ \t]*\n?"  # a block: any later %% closes it
    r"|(?:(?<![ \t])[ \t]+)?%%(?:(?!\n[ \t]*(?:\n|[-*+>] |\d+[.)] |#)).)*?%%",  # inline
    re.DOTALL | re.MULTILINE,
)
_UNTIL = re.compile(r"%%[^%\n]*\buntil (\d{4}-\d{2}-\d{2})%%")
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]+$")
_BLANK_LINES = re.compile(r"\n{3,}")
_HEADING = re.compile(r"(#{1,6})(?: |$)")


def plain_text(text: str) -> str:
    """Return a memory file's text as a model should read it; empty headings are left out.

    And so are secrets and private passages, which a person may have typed there.
    """
    found = front_matter(text)
    body = text[found.body_start :] if found else text
    body = _COMMENT.sub("", _UNTIL.sub(r"(until \1)", body.replace("\r\n", "\n")))
    lines = [_BLOCK_ID.sub("", line.rstrip()).rstrip() for line in body.split("\n")]
    plain = _BLANK_LINES.sub("\n\n", "\n".join(_without_empty_headings(lines))).strip()
    return mask(plain).text


def read_text(reader: VaultReader, path: str) -> tuple[str, str]:
    """Return (a file's sound lines, why it could not be read whole); a missing file is empty."""
    try:
        return reader.read(path).text, ""
    except NotFound:
        return "", ""
    except PathRefused as error:
        return "", error.reason
    except UnreadableNote as error:
        with suppress(VaultMindError):
            lines = reader.read_broken(path).split("\n")
            return "\n".join("" if "\0" in line else line for line in lines), error.reason
        return "", error.reason


def _without_empty_headings(lines: list[str]) -> list[str]:
    """Drop each heading with nothing under it before the next of its level or above."""
    kept: list[str] = []
    below = 0
    """Level of the nearest heading further down."""
    for line in reversed(lines):
        level = _level(line)
        if level and (not below or level >= below) and not _has_body(kept):
            continue
        below = level or below
        kept.append(line)
    return kept[::-1]


def _has_body(kept: list[str]) -> bool:
    """Tell whether the line kept last, blanks aside, is there and no heading."""
    last = next((line for line in reversed(kept) if line.strip()), "")
    return bool(last) and not _level(last)


def _level(line: str) -> int:
    """Return a heading's level; 0 for any other line."""
    match = _HEADING.match(line)
    return len(match[1]) if match else 0
