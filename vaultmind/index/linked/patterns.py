"""What a line of a `.gitignore` means (gitignore(5)), as a regular expression of whole paths."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

MAX_WILDCARDS = 8
"""In one line: more would take too long on a long name."""
_CASE = re.IGNORECASE if sys.platform in ("darwin", "win32") else 0
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "digit": "0-9", "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~", "space": r"\s", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_PART = re.compile(
    r"(?P<star>\*+)|(?P<one>\?)|\\(?P<taken>.)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\]){0,255})\]|(?P<plain>.)",
    re.DOTALL,
)
_CLASS = re.compile(r"\[:([a-z]+):\]")


class UnusablePattern(ValueError):
    """A line that means nothing, or would take too long."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line. `expression` is of paths relative to the folder of its file, without end slash."""

    expression: re.Pattern[str]
    ignores: bool
    """Or takes back what an earlier line ignores."""
    folders_only: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether it speaks of a path itself, and not of a folder that this lies in."""
        if self.folders_only and not is_folder:
            return False
        return self.expression.fullmatch(path) is not None


def pattern_of(line: str) -> Pattern | None:
    """Return what a line means; None for a comment or nothing. Raises UnusablePattern."""
    line = _without_end_spaces(line.rstrip("\r\n"))
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    body = line if ignores else line[1:]
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    rooted = "/" in body
    body = body.removeprefix("/")
    if not body:
        return None
    if len(re.findall(r"\*+|\?+", body)) > MAX_WILDCARDS:
        raise UnusablePattern(f"more than {MAX_WILDCARDS} wildcards")
    source = _source(body.split("/"))
    try:
        expression = re.compile(source if rooted else f"(?:.*/)?{source}", _CASE | re.DOTALL)
    except re.error as error:
        raise UnusablePattern(str(error)) from error
    return Pattern(expression, ignores, folders_only)


def _source(parts: list[str]) -> str:
    """Return the expression of a path's parts; `**` alone stands for any number of folders."""
    made = ""
    joint = ""
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        if part == "**" and is_last:
            made += f"{joint}.+"
        elif part == "**":
            made += "(?:.*/)?" if not made else "/(?:.*/)?" if joint else ""
            joint = ""
        else:
            made += joint + _name(part)
            joint = "/"
    return made


def _name(part: str) -> str:
    return "".join(_piece(match) for match in _PART.finditer(part))


def _piece(match: re.Match[str]) -> str:
    if match["star"]:
        return "[^/]*"
    if match["one"]:
        return "[^/]"
    if match["set"]:
        body = "".join(_members(match["set"]))
        return f"(?!/)[{'^' if match['not'] else ''}{body}]"
    return re.escape(match["taken"] or match["plain"] or match.group())


def _members(text: str) -> list[str]:
    """Return what stands in brackets, as an expression has it."""
    made = []
    for part in re.split(r"(\[:[a-z]+:\]|\\.)", text):
        if named := _CLASS.fullmatch(part):
            if named[1] not in _CLASSES:
                raise UnusablePattern(f"no such class: {part}")
            made.append(_CLASSES[named[1]])
        elif part.startswith("\\"):
            made.append(re.escape(part[1:]))
        else:
            made.append(re.sub(r"([\[\]^&~|])", r"\\\1", part))
    return made


def _without_end_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    if stripped.endswith("\\") and stripped != line:
        return f"{stripped} "
    return stripped
