"""The days of an imported conversation: in a file of several, each begins under its date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vaultmind.types import Message
from vaultmind.vault.transcript import render_message

DAY_BYTES = len("### 2026-02-20\r\n\r\n")
"""What a date adds to a file at most."""


def callouts(messages: Sequence[Message], first: int, newline: str = "\n", before: str = "") -> str:
    """Return messages as a session file holds them, with the block ids m<first> and on.

    Where they are of several days, or of others than the message `before` them (its time), a date
    stands where a day begins: a heading of the third level, which is neither a segment nor a
    topic.
    """
    return "".join(_callouts(messages, first, newline, before[:10]))


def _callouts(messages: Sequence[Message], first: int, newline: str, day: str) -> Iterator[str]:
    several = len({day, *(message.time[:10] for message in messages)} - {""}) > 1
    for number, message in enumerate(messages, first):
        if several and message.time[:10] not in ("", day):
            day = message.time[:10]
            yield f"### {day}{newline}{newline}"
        yield render_message(replace(message, block=f"m{number}"), newline)
