"""A topic gets its heading in the session's file: once, before its first words, nothing torn."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.session.summary.talks import message
from tests.session.talk.room import SESSION, Room, SomeVectors, texts
from tests.session.test_topics import SUBJECTS
from tests.waiting import until
from vaultmind.session.talk.talks import Talks
from vaultmind.types import PERSON, Message
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import SessionMeta, parse_session, render_segment

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


def test_a_new_topic_is_headed_where_it_began(room: Room, turned: list[Message]) -> None:
    follow(room)
    ((label, block),) = heads(room)
    assert block == "m15"
    assert set(label.split(", ")) <= set(BOATS)
    assert texts(room.view()) == [one.text for one in turned]
    assert room.gate.reasons == ["a topic begins"]


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


def test_a_restart_at_any_message_heads_no_topic_twice(room: Room) -> None:
    said = [*about(BREAD, 14), *about(BOATS, 12, 15), *about(BREAD, 12, 27, seed=5)]
    room.write(said[:1])
    for one in said[1:]:
        room.add(one)
        follow(room, room.again())
    assert [block for _, block in heads(room)] == ["m15", "m27"]
    assert texts(room.view()) == [one.text for one in said]


def test_a_restart_that_has_vectors_now_heads_none_beside_the_old_one(paths: VaultPaths) -> None:
    said = [*about(BREAD, 14), *about(BOATS, 12, 15)]
    room = Room(paths)
    room.write(said)
    follow(room)
    before = heads(room)
    room.vectors = SomeVectors({one.block: one.text for one in said})
    again = room.again()
    follow(room, again)
    assert heads(room) == before
    room.talks.close()


def test_a_heading_that_could_not_be_written_is_written_later(
    room: Room, turned: list[Message]
) -> None:
    room.gate.full = True
    follow(room)
    assert headings(room) == []
    room.gate.full = False
    follow(room)
    follow(room)
    assert len(heads(room)) == 1


def test_a_persons_own_heading_is_enough(room: Room, turned: list[Message]) -> None:
    text = room.file.read_text("utf-8")
    at = parse_session(text).messages[14].start
    room.file.write_text(f"{text[:at]}### The boat at last\n\n{text[at:]}", "utf-8")
    follow(room)
    assert headings(room) == []


def test_a_heading_that_a_person_took_out_stays_out(room: Room, turned: list[Message]) -> None:
    follow(room)
    room.edit(f"{headings(room)[0]}\n\n", "")
    room.add(*about(BOATS, 8, 21))
    follow(room)
    assert headings(room) == []


def test_a_heading_a_person_wrote_anew_stays_as_it_is(room: Room, turned: list[Message]) -> None:
    follow(room)
    room.edit(headings(room)[0], "## The boat, at last")
    room.add(*about(BOATS, 8, 21))
    follow(room)
    follow(room, room.again())
    assert headings(room) == ["## The boat, at last"]


@pytest.mark.parametrize(
    "meta",
    [
        SessionMeta(SESSION, "main", "2026-03-01T00:00:00+01:00", source="conv-1"),
        SessionMeta(SESSION, "main", "2026-03-01T00:00:00+01:00", state="ended"),
    ],
    ids=["imported", "ended"],
)
def test_a_conversation_that_is_over_gets_no_headings(
    room: Room, turned: list[Message], meta: SessionMeta
) -> None:
    room.write(turned, meta)
    follow(room)
    assert headings(room) == []


def test_where_nothing_may_be_written_no_heading_is(room: Room, turned: list[Message]) -> None:
    room.gate.readonly.add("main")
    before = room.file.read_bytes()
    follow(room)
    assert room.file.read_bytes() == before


def test_a_segment_is_heard_by_itself(room: Room) -> None:
    room.write(about(BREAD, 14))
    follow(room)
    room.gate.append(room.view().path, render_segment(2, "2026-03-01T10:00:00+01:00"))
    room.add(*about(BOATS, 14, 15))
    follow(room)
    assert len(headings(room)) == 1  # the segment's
    room.add(*about(BREAD, 8, 29))
    follow(room)
    assert [block for _, block in heads(room)] == ["m15", "m29"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_heading_has_the_files_line_ends(
    room: Room, turned: list[Message], newline: str
) -> None:
    raw = room.file.read_bytes().replace(b"\n", newline.encode())
    room.file.write_bytes(b"\xef\xbb\xbf" + raw)
    follow(room)
    after = room.file.read_bytes()
    ((label, _),) = [(line, 0) for line in after.split(newline.encode()) if line[:3] == b"## "]
    assert after.replace(label + newline.encode() * 2, b"", 1) == b"\xef\xbb\xbf" + raw


def test_a_new_topic_is_new_for_a_while(room: Room) -> None:
    room.write(about(BREAD, 2))
    assert room.view().topic_is_new
    room.write(about(BREAD, 14))
    follow(room)
    assert not room.view().topic_is_new
    room.add(*about(BOATS, 1, 15))
    follow(room)
    assert room.view().topic_is_new
    room.add(*about(BOATS, 8, 16))
    follow(room)
    assert not room.view().topic_is_new


def test_topics_wait_for_vectors_but_not_for_ever(paths: VaultPaths) -> None:
    said = [*about(BREAD, 14), *about(BOATS, 6, 15)]
    said = [replace(one, text=f"{one.text} {one.text}") for one in said]
    vectors = SomeVectors({one.block: one.text for one in said})
    vectors.late = {"m20"}
    room = Room(paths, vectors)
    room.write(said)
    room.talks.heard("main", SESSION)
    until(lambda: vectors.asked)
    assert headings(room) == []
    vectors.late, vectors.vector_state = set(), 1
    until(lambda: heads(room))
    assert [block for _, block in heads(room)] == ["m15"]
    room.talks.close()


def test_nothing_is_torn_while_messages_come_and_a_person_edits(room: Room) -> None:
    rounds = [*about(BREAD, 14)]
    for n in range(4):
        words = (BOATS, BREAD)[n % 2]
        rounds += about(words, 12, 15 + 12 * n, seed=n)
    room.write(rounds[:10])
    errors: list[Exception] = []

    def log() -> None:
        try:
            for one in rounds[10:]:
                room.add(one)
                room.talks.heard("main", SESSION)
        except Exception as error:  # shown by the test
            errors.append(error)

    def edit() -> None:
        for number in range(12):
            room.gate.save(
                room.paths.session("main", SESSION),
                lambda file, n=number: f"{file.text}A note of mine, {n}.\n\n" if file else None,
                PERSON,
                "an edit",
            )

    threads = [threading.Thread(target=log), threading.Thread(target=edit)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert errors == []
    follow(room)
    room.talks.close()
    text = room.file.read_text("utf-8")
    transcript = parse_session(text)
    assert [one.message for one in transcript.messages] == rounds
    assert transcript.faults == ()
    assert text.count("A note of mine") == 12
    assert len({block for _, block in heads(room)}) == len(headings(room)) >= 1
