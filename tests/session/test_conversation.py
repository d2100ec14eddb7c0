"""A conversation in memory is what its file says now; its summary follows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.session.room import SESSION, Room
from tests.session.talks import folded, message, talk
from tests.waiting import until
from vaultmind.errors import UnreadableNote, WriteFailed
from vaultmind.session.summary import Rolling, parse_rolling, shown, still_said
from vaultmind.types import Message
from vaultmind.vault.transcript import render_message, render_segment


def test_a_file_that_cannot_be_read_says_so(room: Room) -> None:
    room.write(talk(3))
    room.file.write_bytes(room.file.read_bytes() + b"\xff\xff\xff not text")
    with pytest.raises(UnreadableNote):
        room.talks.view("main", SESSION)


def test_what_is_read_on_from_where_it_ended_is_what_is_read_anew(room: Room) -> None:
    said = talk(9)
    room.write(said[:3])
    for step in (
        lambda: room.add(said[3], said[4]),
        lambda: room.gate.append(room.paths.session("main", SESSION), render_segment(2, "")),
        lambda: room.add(said[5]),
        lambda: room.edit(said[1].text, "We build it from oak."),
        lambda: room.add(said[6]),
        lambda: room.hide("m4"),
        lambda: room.add(said[7], said[8]),
    ):
        room.view()
        step()
        on, anew = room.view(), Room(room.paths).view()
        assert (on.messages, on.segment, on.said) == (anew.messages, anew.segment, anew.said)


def in_file(room: Room, segment: int = 1) -> Rolling:
    return parse_rolling(room.rolling(segment).read_text("utf-8"))


def test_a_full_disk_costs_no_conversation_and_the_summary_is_saved_later(room: Room) -> None:
    room.write(talk(60))
    room.gate.full = True
    with pytest.raises(WriteFailed):
        room.fold()
    assert not room.view().rolling.messages
    room.gate.full = False
    assert room.fold().rolling.messages == in_file(room).messages == 36


SECRET = "We decided that the clinic gets 4000 euros for Zofia on Friday."


def told() -> list[Message]:
    """Return a conversation whose third message is to be taken out."""
    said = talk(60)
    return [*said[:2], message(3, SECRET), *said[3:]]


def test_what_a_person_deleted_leaves_the_file_that_a_search_reads(room: Room) -> None:
    room.write(told())
    room.fold()
    room.edit(render_message(message(3, SECRET)), "")
    room.fold()
    assert "4000" not in room.rolling().read_text("utf-8")
    room.write([])
    room.fold()
    assert "larch" not in room.rolling().read_text("utf-8")


def test_what_is_forgotten_leaves_the_conversation_at_once(room: Room) -> None:
    room.write(told())
    assert "4000" in shown(room.fold().rolling)
    room.hide("m3")
    view = room.view()
    assert "4000" not in shown(view.rolling) and "larch" in shown(view.rolling)
    assert not any("4000" in one.text for one in (*view.messages, *view.said))


def test_the_summary_of_an_earlier_segment_loses_it_too(room: Room) -> None:
    said = told()
    room.write(said)
    room.fold()
    room.gate.append(
        room.paths.session("main", "2026-03-01_001"), render_segment(2, "2026-03-02T00:00:00Z")
    )
    later = [replace(one, id=f"u:{one.id}", block=f"m{n}") for n, one in enumerate(said, 61)]
    room.add(*later[3:])
    room.fold()
    assert "4000" in room.rolling().read_text("utf-8")
    room.edit(SECRET, f"<private>{SECRET}</private>")
    room.fold()
    assert "4000" not in room.rolling().read_text("utf-8")
    assert "larch" in room.rolling().read_text("utf-8")


def test_every_line_of_a_summary_is_found_in_what_was_said() -> None:
    said = [
        replace(one, text=f"- *{one.text}*  \n\n1. [ ] {one.text} ((({number * 7} … 30%%\u200b")
        for number, one in enumerate(talk(200))
    ]
    said[100] = replace(said[100], text="We decided " + "that it costs 5 euros, and " * 60)
    rolling = folded(said)
    assert rolling.lines
    assert still_said(rolling, said) == rolling
    assert not still_said(rolling, ()).lines


def test_the_background_follows_what_is_heard_of(room: Room) -> None:
    room.write(talk(60))
    room.talks.heard("main", "2020-01-01_001")  # of none it knows
    room.talks.heard("main", SESSION)
    until(lambda: room.rolling().exists())
    room.talks.close()
    room.talks.heard("main", SESSION)
