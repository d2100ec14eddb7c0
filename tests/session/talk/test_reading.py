"""Only what was added to a session's file is read again, and the outcome is the same."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.summary.talks import talk
from vaultmind.session.talk.reading import Reading
from vaultmind.types import Message
from vaultmind.vault.files import FileStat
from vaultmind.vault.transcript import (
    SessionMeta,
    render_header,
    render_message,
)

STAMP = FileStat(1, 1, 1)
META = SessionMeta("2026-03-01_001", "main", started="2026-03-01T00:00:00+01:00")


def take(reading: Reading, text: str) -> int:
    return reading.take("session.md", text.encode(), STAMP)


def file_of(messages: list[Message], newline: str = "\n") -> str:
    return render_header(META, newline) + "".join(render_message(m, newline) for m in messages)


def state(reading: Reading) -> tuple[list[Message], list[int], int, list[int], int]:
    starts = list(reading._starts)
    return reading.messages, list(reading.segments), reading.segment, starts, reading.headed()


def fresh(text: str) -> Reading:
    reading = Reading()
    take(reading, text)
    return reading


PIECES = st.sampled_from(
    [
        '## Segment 2 %%{"segment":2}%%\n\n',
        "## dough, flour\n\n",
        "A person's own line.\n",
        "> [!note] Not a message\n> of theirs\n\n",
        "> [!user] Typed by hand\n> Hello.\n\n",
        "> a quotation\n",
        "^m3\n\n",
        "\n",
        "%% a comment",
        "<private>",
        "ć🎉",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.sampled_from(["add", "put", "cut", "tail"]), st.integers(0, 10_000), PIECES),
        max_size=8,
    ),
    seed=st.integers(0, 5),
)
def test_reading_on_gives_what_reading_anew_gives(
    changes: list[tuple[str, int, str]], seed: int
) -> None:
    rng = random.Random(seed)
    said = talk(40, seed=seed)
    text = file_of(said[:6])
    reading, number = Reading(), 6
    take(reading, text)
    for kind, where, piece in changes:
        at = len(text) - where % min(len(text), 700) if where % 3 else where % len(text)
        if kind == "add":
            text += "".join(render_message(one) for one in said[number : number + where % 4])
            number = min(39, number + where % 4)
        elif kind == "put":
            at = text.find("\n", at) + 1
            text = text[:at] + piece + text[at:]
        elif kind == "cut":
            text = text[:at] + text[at + rng.randrange(60) :]
        else:
            text += piece
        take(reading, text)
        assert state(reading) == state(fresh(text))
