"""A topic gets its heading in the session's file: once, before its first words, nothing torn."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.session.summary.talks import message
from tests.session.talk.room import SESSION, Room
from tests.session.test_topics import SUBJECTS
from tests.waiting import until
from vaultmind.session.talk.talks import Talks
from vaultmind.types import Message
from vaultmind.vault.transcript import parse_session

BREAD, BOATS = SUBJECTS["en"]


def about(words: Sequence[str], length: int, first: int = 1, seed: int = 3) -> list[Message]:
    rng = random.Random(seed)
    return [message(first + n, " ".join(rng.sample(words, 5)) + ".") for n in range(length)]


def headings(room: Room) -> list[str]:
    return [line for line in room.file.read_text("utf-8").split("\n") if line.startswith("## ")]


def follow(room: Room, talks: Talks | None = None) -> None:
    """Follow the session to its end, as the background does."""
    talks = talks or room.talks
    talks._follow(room.talk(talks))


def heads(room: Room) -> list[tuple[str, str]]:
    """Return each heading with the block id of the message that follows it."""
    text = room.file.read_text("utf-8")
    messages = parse_session(text).messages
    found = []
    for one in messages:
        above = text[: one.start].rstrip().rpartition("\n")[2]
        if above.startswith("## "):
            found.append((above[3:], one.message.block))
    return found


@pytest.fixture
def turned(room: Room) -> list[Message]:
    """Write a conversation that turns to boats with its message 15; return it."""
    said = [*about(BREAD, 14), *about(BOATS, 6, 15)]
    room.write(said)
    return said


def test_the_background_follows_what_is_heard_of(room: Room, turned: list[Message]) -> None:
    room.talks.heard("main", SESSION)
    until(lambda: heads(room))
    room.talks.heard("main", "2020-01-01_001")  # of none it knows
    room.add(*about(BOATS, 6, 21), *about(BREAD, 20, 27))
    room.talks.heard("main", SESSION)
    until(lambda: room.rolling().exists())
    until(lambda: len(heads(room)) == 2)
    room.talks.close()
    room.talks.heard("main", SESSION)
