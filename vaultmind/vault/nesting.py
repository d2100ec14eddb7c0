"""How a message's words nest in a session file, whatever they hold, and come out the same.

Each line is quoted. What could open an Obsidian comment (`%%`) or steal a message's block id
(`^m3` at the end of a line) gets one backslash, which reading takes off again; control
characters are shown, not kept.
"""

from __future__ import annotations

import json
import re
from typing import Any

from vaultmind.vault.oneline import one_line

SPEAKER_SHOWN = 80
"""Characters of a speaker's name in a callout's title; the whole name is in its comment."""

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_IN_TITLE = re.compile(r"[%\[\]<>#^|`]")
_COMMENT_MARK = re.compile(r"%(\\*)(?=%)")
_ESCAPED_MARK = re.compile(r"%\\(\\*)(?=%)")
_BLOCK_AT_END = re.compile(r"(?<![^ \t\n])(\\*)(?=\^m\d+[ \t]*$)", re.MULTILINE)
_ESCAPED_BLOCK = re.compile(r"(?<![^ \t\n])\\(\\*)(?=\^m\d+[ \t]*$)", re.MULTILINE)
_NEXT_LINE = "\x85"
_DELETE = "\x7f"
_PICTURES = 0x2400
ERASED_SOURCE = "(erased)"
"""Stands for the erased name of the conversation that a session was imported from."""
_ERASED = "%%erased%%"
_ERASED_WORDS = {"en": "Erased on {}.", "pl": "Wymazano {}.", "ru": "Стёрто {}."}


def safe(text: str) -> str:
    """Return the text as a session stores it: newlines as `\\n`, control characters visible.

    NUL and its kin become control pictures (`␀`), so that no file, database or terminal
    chokes on them; half surrogates, which UTF-8 cannot hold, become `�`.
    """
    if _UNSAFE.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(_NEXT_LINE, "\n")
    return _UNSAFE.sub(_visible, text)


def quote(text: str) -> list[str]:
    """Return the quoted lines of a message's words; none for an empty one."""
    if not text:
        return []
    text = safe(text)
    if "%" in text:
        text = _COMMENT_MARK.sub(r"%\1\\", text)
    if "^m" in text:
        text = _BLOCK_AT_END.sub(r"\1\\", text)
    return [f"> {line}" if line else ">" for line in text.split("\n")]


def unquote(lines: list[str]) -> str:
    """Return the words of quoted lines, their `> ` already taken off."""
    text = "\n".join(lines)
    if "^m" in text:
        text = _ESCAPED_BLOCK.sub(r"\1", text)
    return _ESCAPED_MARK.sub(r"%\1", text) if "%" in text else text


def erased_line(date: str, language: str = "en") -> str:
    """Return the quoted line that stands for a message whose words were erased.

    No message can forge it: a comment's mark in what somebody says is escaped.
    """
    words = _ERASED_WORDS.get(language, _ERASED_WORDS["en"]).format(date)
    return f"> *{words}* {_ERASED}"


def is_erased(lines: list[str]) -> bool:
    """Tell whether quoted lines, their `> ` taken off, are the mark of an erased message."""
    return len(lines) == 1 and lines[0].rstrip().endswith(_ERASED)


def shown_speaker(speaker: str) -> str:
    """Return a name as a title can show it: one line, no markup, nothing invisible."""
    return one_line(_NOT_IN_TITLE.sub("", safe(speaker)))[:SPEAKER_SHOWN].strip()


def comment(values: dict[str, Any]) -> str:
    """Return values as JSON in an Obsidian comment that no value can close."""
    raw = json.dumps(values, separators=(",", ":")).replace("%", "\\u0025")
    return f"%%{raw}%%"


def yaml_string(text: str) -> str:
    """Return a text as a double-quoted YAML string on one line."""
    return f'"{"".join(_yaml_letter(letter) for letter in safe(text))}"'


def _visible(match: re.Match[str]) -> str:
    letter = match.group()
    if letter == _DELETE:
        return "\u2421"
    return chr(_PICTURES + ord(letter)) if letter < " " else "\ufffd"


def _yaml_letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
