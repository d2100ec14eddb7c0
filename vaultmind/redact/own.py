"""The person's own patterns: what else is taken out, from their own config file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vaultmind.redact.marks import MARK, OWN, Put


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
    """Return the text, between its marks, with what the person's own patterns match replaced.

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


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches between a text's marks."""
    start = 0
    for mark in [*MARK.finditer(text), None]:
        found = pattern.finditer(text, start, mark.start() if mark else len(text))
        yield from (match for match in found if match.group())
        start = mark.end() if mark else start


def checked(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; raise BadPattern for one that is wrong or matches everywhere."""
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"it is no regular expression ({error})") from error
    if compiled.search("") or compiled.fullmatch(" "):
        raise BadPattern("it matches an empty text or a mere space, and so it would everywhere")
    return compiled
