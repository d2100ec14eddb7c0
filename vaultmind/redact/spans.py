"""Places in a text that must not be shown, and the marks that stand there instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

PRIVATE = "private passage"
KEY = "private key"
OWN = "own pattern"
KINDS = (KEY, "api key", "token", "password", "PIN", "card number", "bank account", PRIVATE, OWN)
MARK = re.compile(f"‹(?:{'|'.join(KINDS)})›")

Span = tuple[int, int, str]
"""Start, end and kind of a secret."""


def merge(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one of the kind that starts first."""
    done: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if done and start < done[-1][1]:
            done[-1] = (done[-1][0], max(end, done[-1][1]), done[-1][2])
        else:
            done.append((start, end, kind))
    return done


def replace(text: str, spans: Iterable[Span], instead: Callable[[str, str], str]) -> str:
    """Return the text with what `instead` makes of each passage and its kind in their place."""
    done: list[str] = []
    at = 0
    for start, end, kind in spans:
        done += [text[at:start], instead(text[start:end], kind)]
        at = end
    return "".join([*done, text[at:]])


def blank(passage: str, kind: str) -> str:
    """Return blanks as long and of as many lines; the mark stands on the first with room for it."""
    mark = f"‹{kind}›"
    blanks = re.sub(r"[^\r\n]", " ", passage)
    return re.sub(f" {{{len(mark)}}}", mark, blanks, count=1)


def unmarked(text: str) -> str:
    """Return a text with blanks for its marks: every offset stays, and code can be read."""
    return MARK.sub(lambda mark: " " * len(mark.group()), text) if "‹" in text else text
