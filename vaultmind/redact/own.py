"""The person's own patterns: what else is taken out, from their own config file.

Python's `re` cannot be stopped once it runs, and a clumsy pattern may run for ever. So a pattern
that repeats a repetition is refused when it is read, and so is one of many repetitions; and it
sees a window of `2 * REACH_CHARS` at a time, so that what a text costs grows with its length only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vaultmind.redact.marks import MARK, OWN, Put

REACH_CHARS = 120
"""A match of up to so many characters is found wherever it stands."""
MAX_PATTERN_CHARS = 500
REPETITIONS = 3
"""How often a pattern may say `*`, `+` or the like: each multiplies what a piece costs."""
MANY = 50
"""`{1,50}` counts as no more than a few; from there on it is a repetition without an end."""
FEW = 10

_BRACES = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]")


class BadPattern(ValueError):
    """A pattern that cannot be used, and why."""


class _Own:
    """The patterns in use in this process, which serves one configuration."""

    patterns: tuple[re.Pattern[str], ...] = ()


def use_patterns(patterns: Iterable[str]) -> None:
    """Take out from now on what these patterns match, in place of those in use before.

    Raises BadPattern.
    """
    _Own.patterns = tuple(checked(one) for one in patterns)


def take_own(text: str, put: Put) -> str:
    """Return the text with what the person's own patterns match replaced by a mark.

    Of a pattern with a group named `value` that group alone is replaced.
    """
    for pattern in _Own.patterns:
        done: list[str] = []
        end = 0
        for match in _matches(pattern, text):
            done += [text[end : match.start()], put(OWN)(match)]
            end = match.end()
        text = "".join([*done, text[end:]])
    return text


def checked(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; raise BadPattern for one that is wrong or may run for ever."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise BadPattern(f"it is longer than {MAX_PATTERN_CHARS} characters")
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"it is no regular expression ({error})") from error
    if compiled.search("") or compiled.fullmatch(" "):
        raise BadPattern("it matches an empty text or a mere space, and so it would everywhere")
    found = _Scan(pattern)
    if found.nested:
        raise BadPattern("it repeats a group that holds a repetition or a choice, as `(a+)+` does")
    if found.repetitions > REPETITIONS:
        raise BadPattern(f"it says `*`, `+` or the like more than {REPETITIONS} times")
    return compiled


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches between a text's marks, window by window."""
    end = 0
    for mark in MARK.finditer(text):
        yield from _windows(pattern, text, end, mark.start())
        end = mark.end()
    yield from _windows(pattern, text, end, len(text))


def _windows(pattern: re.Pattern[str], text: str, at: int, stop: int) -> Iterator[re.Match[str]]:
    """Yield the matches of a stretch; one that starts late in a window is the next one's."""
    while at < stop:
        late = at + REACH_CHARS
        for match in pattern.finditer(text, at, min(stop, late + REACH_CHARS)):
            if match.start() >= late:
                break
            if match.group():
                yield match
                late = max(late, match.end())
        at = late


@dataclass(slots=True)
class _Group:
    repeats: bool = False
    chooses: bool = False


class _Scan:
    """What a pattern repeats, read from its text. In doubt it counts as repeated."""

    def __init__(self, pattern: str) -> None:
        self.repetitions = 0
        self.nested = False
        self._open = [_Group()]
        self._closed: _Group | None = None
        at = 0
        while at < len(pattern):
            at = self._take(pattern, at)

    def _take(self, pattern: str, at: int) -> int:
        """Read what stands at a place; return the next place."""
        char = pattern[at]
        closed, self._closed = self._closed, None
        if char == "\\":
            return at + 2
        if char == "[" and (found := _CLASS.match(pattern, at)):
            return found.end()
        if char == "(":
            self._open.append(_Group())
        elif char == ")" and len(self._open) > 1:
            self._closed = self._open.pop()
            self._open[-1].repeats |= self._closed.repeats
        elif char == "|":
            self._open[-1].chooses = True
        elif char in "*+":
            self._repeat(closed, MANY + 1)
        elif char == "{" and (found := _BRACES.match(pattern, at)):
            self._repeat(closed, _most(*found.groups()))
            return found.end()
        return at + 1

    def _repeat(self, group: _Group | None, most: int) -> None:
        if most > MANY:
            self.repetitions += 1
        if most > FEW:
            self.nested |= bool(group and (group.repeats or group.chooses))
            self._open[-1].repeats = True


def _most(low: str, comma: str, high: str) -> int:
    """Return how often `{low,high}` repeats at most."""
    if not comma:
        return 1  # always as often: nothing to try
    return int(high) if high else MANY + 1
