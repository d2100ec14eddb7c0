"""A conversation in memory is what its file says now, without what was forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.session.summary.talks import message, talk
from tests.session.talk.room import SESSION, Room, SomeVectors, texts
from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.session.recall.segment import Query, Scope
from vaultmind.vault.paths import VaultPaths


def found(room: Room, query: str) -> list[str]:
    answer = room.view().index.search(Query(query), Scope())
    return [hit.message.key for hit in answer.hits if hit.relevance > 0]


def test_there_is_no_conversation_before_the_first_word(room: Room) -> None:
    assert room.talks.view("main") is None
    assert room.talks.view("main", SESSION) is None
    with pytest.raises(BadArgument):
        room.talks.view("main", "../secrets")


def test_the_newest_session_is_meant_where_none_is_named(room: Room) -> None:
    room.write(talk(3))
    assert room.talks.view("main") == room.view()
    later = room.paths.root / room.paths.session("main", "2026-03-02_001")
    later.write_bytes(room.file.read_bytes())
    newest = room.talks.view("Main")
    assert newest is not None
    assert newest.session == "2026-03-02_001"
    later.unlink()
    assert room.talks.view("main") == room.view()


def test_erased_messages_and_words_of_requests_are_no_part_of_it(room: Room) -> None:
    said = talk(12)
    said[3] = replace(said[3], erased=True, text="")
    said[4] = replace(said[4], asked="remember", text="Remember the zebra finch.")
    room.write(said)
    view = room.view()
    assert [one.block for one in view.messages] == [
        f"m{n}" for n in range(1, 13) if n not in (4, 5)
    ]
    assert len(view.index) == 10
    assert found(room, "zebra finch") == []


@pytest.mark.parametrize(("language", "told"), [("en", "en"), ("pl", "pl"), ("ru", "ru")])
def test_it_tells_the_language(room: Room, language: str, told: str) -> None:
    room.write(talk(20, language))
    assert room.view().language == told


def test_vectors_come_when_the_index_has_them(paths: VaultPaths) -> None:
    said = [
        message(n, f"A long line about matter number {n}, told at night.") for n in range(1, 31)
    ]
    vectors = SomeVectors({one.block: one.text for one in said})
    room = Room(paths, vectors)
    vectors.late = {"m29"}
    room.write(said)
    room.view()
    assert room.view().index.vector_of("t:2") is not None
    assert room.view().index.vector_of("t:29") is None
    asked = len(vectors.asked)
    room.view()
    assert len(vectors.asked) == asked
    vectors.late, vectors.vector_state = set(), 1
    lacking = vectors.asked[-1]
    assert room.view().index.vector_of("t:29") is not None
    assert "m2" in vectors.asked[0]
    assert "m2" not in vectors.asked[-1]
    assert vectors.asked[-1] <= lacking
    room.talks.close()


def test_a_file_that_is_gone_is_no_conversation_and_one_that_comes_back_is(room: Room) -> None:
    said = talk(5)
    room.write(said)
    room.view()
    room.file.unlink()
    assert room.talks.view("main", SESSION) is None
    room.write(said[:3])
    assert texts(room.view()) == [one.text for one in said[:3]]


def test_a_file_that_cannot_be_read_says_so(room: Room) -> None:
    room.write(talk(3))
    room.file.write_bytes(room.file.read_bytes() + b"\xff\xff\xff not text")
    with pytest.raises(UnreadableNote):
        room.talks.view("main", SESSION)
