"""What a server says of its own trouble, as far as it may stand in a log, a note or on a screen.

It may hold anything: the key, the conversation that it was sent, orders to a terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from vaultmind.redact import mask
from vaultmind.types import Prompt

MOST_CHARACTERS = 200
RUN = 8
"""Letters and digits that follow one another in what was sent, too: a quotation of it."""
NAME_FROM = 3
"""Letters of a name or a number that stands in what was sent, too."""
LOOKED_AT = 4000
CUT = "[…]"
_FIELDS = ("error", "detail", "message", "msg", "type", "code")
"""Where servers say what is wrong. What else an answer holds may be the question itself."""
_WORD = re.compile(r"\w+")
_OPENING = " [({<:=,;\"'“„«`"
_QUOTED = re.compile(r"""["'“„«`]([^"'”»`]+)""")
_TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*\x07?)")
"""Orders to a terminal: colours, a window's title."""
_ESCAPE = re.compile(r"(?<!\\)\\+u([0-9a-fA-F]{4})")


def said(answer: Any) -> str:  # noqa: ANN401
    """Return the words of a refusal, wherever in the answer they stand."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):
        return "; ".join(filter(None, map(said, answer[:3])))
    if not isinstance(answer, dict):
        return ""
    return next((words for name in _FIELDS if (words := said(answer.get(name)))), "")


def shown(words: str, prompt: Prompt | None, key: str = "") -> str:
    """Return what of a server's words may be repeated: one printable line without secrets.

    It ends where it begins to quote what the server was sent.
    """
    words = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), words[:LOOKED_AT])
    if key:
        words = words.replace(key, CUT)
    words = _TERMINAL.sub(" ", words)
    line = " ".join("".join(map(_printable, words)).split())
    line = mask(line).text
    end = _quoted_from(line, [turn.text for turn in prompt.turns] if prompt else ())
    if end < len(line):
        line = f"{line[:end].rstrip(_OPENING)} {CUT}".strip()
    return line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"


def _printable(char: str) -> str:
    if char.isspace() or unicodedata.category(char) == "Cc":
        return " "
    return char if char.isprintable() else ""


def _quoted_from(line: str, sent: Iterable[str]) -> int:
    """Return where a line begins to say what was sent; its length where it does not."""
    text = "\n".join(sent)
    words = {word for word in _WORD.findall(text) if len(word) >= NAME_FROM and _names(word)}
    letters = "".join(_WORD.findall(text.casefold()))
    runs = {letters[at : at + RUN] for at in range(len(letters) - RUN + 1)}
    found = [(match.start(), match[0]) for match in _WORD.finditer(line)]
    folded = [word.casefold() for _, word in found]
    following = ""
    for number in range(len(found) - 1, -1, -1):
        following = (folded[number] + following)[: RUN + len(folded[number])]
        word = found[number][1]
        quotes = any(following[start : start + RUN] in runs for start in range(len(folded[number])))
        folded[number] = "quoted" if quotes or (number and word in words) else ""
    ends = [at for (at, _), mark in zip(found, folded, strict=True) if mark]
    ends += [
        match.start()
        for match in _QUOTED.finditer(line)
        if "".join(_WORD.findall(match[1].casefold())) in letters
    ]
    return min(ends, default=len(line))


def _names(word: str) -> bool:
    """Tell whether a word may be a name or a number."""
    return word != word.lower() or any(map(str.isdigit, word))
