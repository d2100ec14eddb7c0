"""What has left the window is in the summary: once, whenever it is folded, and kept in its file."""

from __future__ import annotations

from tests.session.summary.talks import talk
from tests.session.talk.room import WINDOW, Room
from vaultmind.session.summary import Rolling, parse_rolling
from vaultmind.types import Message


def in_file(room: Room, segment: int = 1) -> Rolling:
    return parse_rolling(room.rolling(segment).read_text("utf-8"))


def at_once(room: Room, said: list[Message]) -> Rolling:
    """Return the summary of a conversation that is folded when all of it was said."""
    room.rolling().unlink(missing_ok=True)
    room.write(said)
    return room.fold(room.again()).rolling


def test_nothing_is_due_within_the_window(room: Room) -> None:
    room.write(talk(25))
    view = room.view()
    assert room.talks.fold(view, WINDOW) is view
    assert not room.rolling().exists()


def test_a_full_disk_costs_no_answer_and_the_summary_is_saved_later(room: Room) -> None:
    said = talk(100)
    room.write(said[:60])
    room.gate.full = True
    assert room.fold().rolling.messages == 36
    assert room.view().rolling.messages == 36
    assert not room.rolling().exists()
    room.gate.full = False
    room.add(*said[60:])
    assert room.fold().rolling.messages == 78
    assert in_file(room).messages == 78
    assert in_file(room) == at_once(room, said)
