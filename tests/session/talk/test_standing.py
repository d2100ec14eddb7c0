"""What a person takes out of a session's file leaves its summaries, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.session.summary.talks import DECISIONS, folded, message, talk
from tests.session.talk.room import Room
from tests.waiting import until
from vaultmind.session.summary import Rolling, TopicMark, astray, shown
from vaultmind.types import Message
from vaultmind.vault.transcript import render_message, render_segment

SECRET = "We decided that the clinic gets 4000 euros for Zofia on Friday."


def told(length: int = 60) -> list[Message]:
    """Return a conversation whose third message is to be taken out."""
    said = talk(length)
    said[2] = message(3, SECRET)
    return said


def by_hand(room: Room, how: str) -> None:
    """Take the third message out of the file as a person may."""
    whole = render_message(message(3, SECRET))
    if how == "deleted":
        room.edit(whole, "")
    elif how == "private":
        room.edit(SECRET, f"<private>{SECRET}</private>")
    else:
        room.edit("4000 euros for Zofia", "a cake")


def test_the_background_takes_it_out_of_the_file_that_a_search_reads(room: Room) -> None:
    room.write(told())
    room.fold()
    by_hand(room, "deleted")
    room.talks.heard("main", "2026-03-01_001")
    until(lambda: "4000" not in room.rolling().read_text("utf-8"))
    room.write([])
    room.talks.heard("main", "2026-03-01_001")
    until(lambda: "larch" not in room.rolling().read_text("utf-8"))


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
    by_hand(room, "private")
    room.fold()
    assert "4000" not in room.rolling().read_text("utf-8")
    assert "larch" in room.rolling().read_text("utf-8")


def test_an_agent_for_which_nothing_is_written_forgets_it_too(room: Room) -> None:
    room.gate.readonly.add("main")
    room.write(told())
    assert "4000" in shown(room.fold().rolling)
    by_hand(room, "deleted")
    assert "4000" not in shown(room.fold().rolling)


@pytest.mark.parametrize("language", DECISIONS)
def test_every_line_of_a_summary_is_found_in_what_was_said(language: str) -> None:
    said = [
        replace(one, text=f"- *{one.text}*  \n\n1. [ ] {one.text} ((({number * 7} … 30%%\u200b")
        for number, one in enumerate(talk(200, language))
    ]
    said[100] = replace(said[100], text="We decided " + "that it costs 5 euros, and " * 60)
    rolling = folded(said, language)
    assert rolling.lines
    assert not astray(rolling, said)
    assert len(astray(rolling, ())) == len({one.block for one in rolling.lines})


def test_a_topic_goes_with_the_last_message_that_says_its_words() -> None:
    said = [message(1, "The CLINIC wants euros."), message(2, "The clinic again.")]
    rolling = Rolling(topics=(TopicMark("clinic, euros", "m1", 1), TopicMark("clinic", "m2", 2)))
    assert not astray(rolling, said)
    assert astray(rolling, said[1:]) == {"t-m1"}
