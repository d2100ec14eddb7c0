"""A conversation in memory is what its file says now, without what was forgotten."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.fakes import HashEmbedder
from tests.session.summary.talks import message, talk
from tests.session.talk.room import SESSION, Room, SomeVectors, texts
from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.session.recall.segment import Query, Scope
from vaultmind.session.talk.talks import HELD
from vaultmind.types import Message
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import render_message, render_segment

LARCH = "We decided to build the shed from larch."


def found(room: Room, query: str) -> list[str]:
    answer = room.view().index.search(Query(query), Scope())
    return [hit.message.key for hit in answer.hits if hit.relevance > 0]


def test_there_is_no_conversation_before_the_first_word(room: Room) -> None:
    assert room.talks.view("main") is None
    assert room.talks.view("main", SESSION) is None
    with pytest.raises(BadArgument):
        room.talks.view("main", "../secrets")


def test_it_grows_with_its_file(room: Room) -> None:
    said = talk(30)
    room.write(said[:20])
    before = room.view()
    assert (before.session, before.segment, before.path) == (
        SESSION,
        1,
        room.paths.session("main", SESSION),
    )
    assert before.messages == tuple(said[:20])
    room.add(*said[20:])
    after = room.view()
    assert after.messages == tuple(said)
    assert before.messages == tuple(said[:20])
    assert after.index is before.index
    assert len(after.index) == 30


def test_nothing_is_parsed_twice_where_nothing_changed(room: Room) -> None:
    said = talk(400)
    room.write(said[:300])
    first = room.view()
    os.utime(room.file, (1, 1))
    assert room.view() is first  # another stamp and the same bytes
    assert room.talk().reading.parsed == 300
    for one in said[300:]:
        room.add(one)
        room.view()
    assert room.talk().reading.parsed == 300 + 3 * 100
    assert texts(room.view()) == [one.text for one in said]


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


def test_what_a_person_edited_is_read_anew(room: Room) -> None:
    room.write(talk(40))
    assert "m2" in [one.block for one in room.view().messages]
    assert found(room, "larch shed") != []
    room.edit(LARCH, "We decided to build the boat from cedar.")
    assert "We decided to build the boat from cedar." in texts(room.view())
    assert found(room, "larch shed") == []
    assert "t:2" in found(room, "cedar boat")
    assert len(room.view().index) == 40


def test_an_edit_of_the_last_words_keeps_the_rest_of_the_index(room: Room) -> None:
    room.write([*talk(40), message(41, "The code word is heron.")])
    index = room.view().index
    room.edit("The code word is heron.", "The code word is bittern.")
    assert room.view().index is index
    assert found(room, "heron") == []
    assert "t:41" in found(room, "bittern")


@pytest.mark.parametrize("name", ["m2", "t:2"])
def test_a_forgotten_message_is_nowhere_and_a_lifted_one_is_back(room: Room, name: str) -> None:
    room.write(talk(40))
    assert "t:2" in found(room, "larch shed")
    room.forget(name)
    assert LARCH not in texts(room.view())
    assert "t:2" not in found(room, "larch shed")
    assert LARCH not in [one.text for one in room.view().index.messages()]
    room.add(message(41, "Something else about the river."))
    assert LARCH not in texts(room.view())
    room.forget(name, lifted=True)
    assert LARCH in texts(room.view())
    assert "t:2" in found(room, "larch shed")


def test_tombstones_of_other_sessions_change_nothing(room: Room) -> None:
    room.write(talk(10))
    before = room.view()
    path = room.paths.tombstones("main", "other")
    room.gate.append(
        path, '{"time":"2026-03-02T00:00:00Z","session":"2020-01-01_001","block":"m2"}\n'
    )
    assert room.view() is before


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


def test_a_segment_begins_with_nothing_and_recall_still_knows_the_others(room: Room) -> None:
    room.write(talk(12))
    room.gate.append(room.view().path, render_segment(2, "2026-03-01T10:00:00+01:00"))
    view = room.view()
    assert (view.segment, view.messages, len(view.index)) == (2, (), 12)
    assert view.topic_is_new
    room.add(message(13, "Let us talk about the lighthouse keeper."))
    view = room.view()
    assert (view.segment, len(view.messages), len(view.index)) == (2, 1, 13)
    assert view.index.search(Query("lighthouse")).hits[0].message.segment == 2


def test_tools_have_their_place_and_are_not_found(room: Room) -> None:
    room.write([*talk(10), Message("tool", "Grep: walrus, walrus", "", "x", block="m11")])
    assert texts(room.view())[-1] == "Grep: walrus, walrus"
    assert found(room, "walrus") == []


def test_messages_that_a_person_typed_without_ids_are_found(room: Room) -> None:
    room.write(talk(4))
    room.gate.append(room.view().path, "> [!user] Anna\n> The walrus sleeps.\n\n> [!user]\n> Ox.\n")
    view = room.view()
    assert texts(view)[-2:] == ["The walrus sleeps.", "Ox."]
    assert len(view.index) == 6
    assert view.index.search(Query("walrus")).hits[0].message.key == "n5"


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


def test_another_embedder_gives_its_own_vectors_to_a_running_conversation(
    paths: VaultPaths,
) -> None:
    said = [
        message(n, f"A long line about matter number {n}, told at night.") for n in range(1, 31)
    ]
    vectors = SomeVectors({one.block: one.text for one in said})
    room = Room(paths, vectors)
    room.write(said)
    before = room.view().index
    old = before.vector_of("t:2")
    assert old is not None and len(old) == 256
    other = HashEmbedder(64, "hash-2")
    vectors.use(other)
    index = room.view().index
    new = index.vector_of("t:2")
    assert new is not None and len(new) == 64
    query = Query("matter number 2 at night", vector=other.embed_query(said[1].text))
    assert "t:2" in {hit.message.key for hit in index.search(query, Scope()).hits}
    assert before.search(query, Scope()).hits, "who holds the old one is answered by words"
    room.talks.close()


def test_short_messages_and_tools_ask_for_no_vector(paths: VaultPaths) -> None:
    vectors = SomeVectors({})
    room = Room(paths, vectors)
    long = "A long line about the lighthouse keeper and the storm that came over the sea at night."
    room.write(
        [
            message(1, "Ok, thanks."),
            message(2, long),
            replace(message(3, long), role="tool"),
            replace(message(4, long), role="system"),
        ]
    )
    room.view()
    assert vectors.asked == [{"m2"}]
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


def test_only_a_few_conversations_are_held(room: Room) -> None:
    room.write(talk(3))
    for number in range(2, 2 * HELD):
        other = room.paths.root / room.paths.session("main", f"2026-03-01_{number:03d}")
        other.write_bytes(room.file.read_bytes())
        assert room.talks.view("main", other.stem) is not None
    assert len(room.talks._held) == HELD


def test_a_large_paste_emoji_and_other_scripts_are_taken(room: Room) -> None:
    paste = "All work and no play. " * 50_000
    room.write([message(1, "Zażółć 🎉"), message(2, paste), message(3, "שלום עולם")])
    room.add(message(4, "Дальше."))
    assert texts(room.view()) == ["Zażółć 🎉", paste, "שלום עולם", "Дальше."]


def test_line_ends_and_a_byte_order_mark_are_a_persons_own(room: Room) -> None:
    said = talk(6)
    room.write(said[:5])
    raw = room.file.read_bytes().replace(b"\n", b"\r\n")
    room.file.write_bytes(b"\xef\xbb\xbf" + raw)
    assert room.view().messages == tuple(said[:5])
    room.gate.append(room.view().path, render_message(said[5], "\r\n"))
    assert room.view().messages == tuple(said)
    assert room.talk().reading.parsed < 5 + 5
