"""What has left the window is in the summary: once, whenever it is folded, and kept in its file."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.session.summary.talks import DECISIONS, message, talk
from tests.session.talk.room import WINDOW, Room, texts
from tests.session.test_topics import SUBJECTS
from vaultmind.session.summary import Rolling, Window, parse_rolling, shown
from vaultmind.session.talk import folding, talks
from vaultmind.session.talk.means import Means, TalkSettings
from vaultmind.session.talk.talk import Talk
from vaultmind.types import Message, Progress
from vaultmind.vault.transcript import SessionMeta, render_segment

BUDGET = Window(max_tokens=300)


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


def test_what_left_the_window_is_folded_and_survives_a_restart(room: Room) -> None:
    said = talk(60)
    room.write(said)
    view = room.fold()
    assert (view.rolling.upto, view.rolling.messages) == ("t:36", 36)
    assert in_file(room) == view.rolling
    saves = room.gate.saves
    again = room.again()
    assert room.view(again).rolling == view.rolling
    assert room.talks.fold(room.view(), WINDOW) is room.view()
    assert room.gate.saves == saves


@pytest.mark.parametrize("language", DECISIONS)
def test_a_first_fold_of_thousands_is_as_good_as_folding_as_they_come(
    room: Room, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talks, "LONG_BACKLOG", 2000)  # at once, to see each step
    said = talk(1250 if language == "en" else 300, language)
    room.write(said)
    steps: list[Progress] = []
    view = room.talks.fold(room.view(), WINDOW, steps.append)
    most = 6 * ((len(said) - 20) // 6)
    assert (view.rolling.messages, view.language) == (most, language)
    for planted in DECISIONS[language]:
        assert planted.split()[-1] in shown(view.rolling)
    assert [one.done for one in steps] == [*range(6, most + 1, 6)]
    assert {one.total for one in steps} == {most}
    assert room.gate.saves == (2 if language == "en" else 1)  # the first 1,200, and all


@pytest.mark.parametrize("pause", [1, 7])
def test_folding_as_messages_come_gives_the_same_as_at_once(room: Room, pause: int) -> None:
    said = talk(110)
    room.write(said[:1])
    for one in said[1:]:
        room.add(one)
        if int(one.block[1:]) % pause == 0:
            room.fold()
    live = room.fold().rolling
    assert live == at_once(room, said)
    assert in_file(room) == live


def test_a_fold_that_is_cut_short_is_gone_on_with(room: Room) -> None:
    said = talk(500)
    room.write(said)
    stop_after = iter(range(40))
    settings = TalkSettings()
    means = Means(
        room.reader,
        room.gate,
        room.tombstones.hidden,
        room.vectors,
        settings,
        lambda: next(stop_after, -1) < 0,
    )
    torn = Talk("main", room.view().session, means)
    folding.fold_due(torn, WINDOW)
    assert in_file(room).messages == 41 * 6
    view = room.fold()
    assert view.rolling.messages == 480
    assert view.rolling == at_once(room, said)


def test_a_full_window_is_folded_but_for_its_last_messages(room: Room) -> None:
    long = "A rather long line about the harbour, the mast and the keel of the old boat. " * 4
    room.write([message(n, f"{long} Number {n}.") for n in range(1, 13)])
    view = room.fold(window=BUDGET)
    assert view.rolling.upto == "t:8"
    assert room.fold(window=BUDGET) is room.view()


def test_where_nothing_may_be_written_the_summary_is_in_memory_alone(room: Room) -> None:
    room.gate.readonly.add("main")
    room.write(talk(60))
    view = room.fold()
    assert view.rolling.messages == 36
    assert room.view().rolling == view.rolling
    room.add(*talk(70)[60:])
    assert room.fold().rolling.messages == 48
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


def test_forgotten_lines_are_not_shown_and_forgotten_messages_never_folded(room: Room) -> None:
    said = talk(100)
    room.write(said[:60])
    assert "larch" in shown(room.fold().rolling)
    room.forget("m2")
    assert "larch" not in shown(room.view().rolling)
    assert "larch" in room.rolling().read_text("utf-8")  # an undo shows it again
    said[69] = replace(said[69], text="We decided to sell the walrus for 7,700 crowns.")
    room.add(*said[60:])
    room.forget("m70")
    assert "walrus" not in shown(room.fold().rolling)
    assert "walrus" not in room.rolling().read_text("utf-8")
    room.forget("m2", lifted=True)
    assert "larch" in shown(room.view().rolling)


@pytest.mark.parametrize("gone", ["forgotten", "deleted"])
def test_nothing_is_folded_twice_where_the_last_folded_message_is_gone(
    room: Room, gone: str
) -> None:
    said = talk(60)
    room.write(said)
    assert room.fold().rolling.upto == "t:36"
    if gone == "forgotten":
        room.forget("m36")
    else:
        room.write([*said[:35], *said[36:]])
    assert room.fold() is room.view()
    assert room.view().rolling.messages == 36


def test_a_part_of_a_summary_that_is_hidden_is_not_shown(room: Room) -> None:
    room.write(talk(60))
    room.fold()
    text = room.rolling().read_text("utf-8") + "\nMarta likes herons. ^pp1\n\nAnd owls.\n"
    room.rolling().write_text(text, "utf-8")
    assert "Marta likes herons." in room.view().rolling.notes
    record = room.paths.rolling("main", room.view().session).removesuffix(".md")
    line = f'{{"time":"2026-03-02T00:00:00Z","summary":"{record}","block":"pp1"}}\n'
    room.gate.append(room.paths.tombstones("main", "here"), line)
    view = room.view()
    assert not any("herons" in note for note in view.rolling.notes)
    assert "And owls." in view.rolling.notes
    assert "larch" in shown(view.rolling)


def test_a_persons_edits_of_the_summary_stay(room: Room) -> None:
    said = talk(120)
    room.write(said[:60])
    room.fold()
    text = room.rolling().read_text("utf-8")
    planted = next(line for line in text.split("\n") if "larch" in line)
    text = text.replace(planted, "- The door is blue, says Marta.")
    room.rolling().write_text(text, "utf-8")
    assert "larch" not in shown(room.view().rolling)
    room.add(*said[60:])
    view = room.fold()
    assert view.rolling.messages == 96
    assert "The door is blue, says Marta." in shown(view.rolling)
    assert "larch" not in shown(view.rolling)


def test_an_edit_between_reading_and_saving_is_folded_on(room: Room) -> None:
    said = talk(120)
    room.write(said[:60])
    room.fold()
    room.add(*said[60:])
    room.view()
    own = "- A line that a person typed meanwhile.\n"
    save = room.gate.save

    def edited_first(relative: str, *rest: object) -> object:
        path = room.paths.root / relative
        path.write_text(path.read_text("utf-8") + f"\n## Facts\n\n{own}", "utf-8")
        room.gate.save = save  # type: ignore[method-assign]
        return save(relative, *rest)  # type: ignore[arg-type]

    room.gate.save = edited_first  # type: ignore[method-assign,assignment]
    view = room.fold()
    assert view.rolling.messages == 96
    assert "A line that a person typed meanwhile." in shown(view.rolling)
    assert "larch" in shown(view.rolling)


@pytest.mark.parametrize("how", ["erased", "forgotten"])
def test_an_erasure_while_a_summary_is_made_is_not_undone_by_saving_it(
    room: Room, how: str
) -> None:
    said = talk(60)
    room.write(said)
    room.view()
    save = room.gate.save

    def erased_first(relative: str, *rest: object) -> object:
        room.gate.save = save  # type: ignore[method-assign]
        if how == "forgotten":
            room.forget("m2")
        else:
            room.write([said[0], replace(said[1], text="", erased=True), *said[2:]])
        return save(relative, *rest)  # type: ignore[arg-type]

    room.gate.save = erased_first  # type: ignore[method-assign,assignment]
    view = room.fold()
    assert (view.rolling.upto, view.rolling.messages) == ("t:36", 36)
    assert "larch" not in shown(view.rolling)
    assert "larch" not in room.rolling().read_text("utf-8")
    assert "4,200" in shown(view.rolling)


def test_broken_front_matter_of_a_summary_is_left_alone_and_nothing_folded_for_ever(
    room: Room,
) -> None:
    said = talk(120)
    room.write(said[:60])
    room.fold()
    room.edit("session:", "session: [", room.rolling())
    room.fold()
    saves = room.gate.saves
    room.fold()
    assert room.gate.saves == saves
    assert room.rolling().read_text("utf-8").startswith("---\nsession: [")


def test_each_segment_has_its_own_summary(room: Room) -> None:
    said = talk(60)
    room.write(said)
    first = room.fold().rolling
    room.gate.append(room.view().path, render_segment(2, "2026-03-02T00:00:00+01:00"))
    view = room.view()
    assert (view.segment, view.rolling.messages, view.rolling.lines) == (2, 0, ())
    later = [message(60 + n, f"The walrus number {n} swam to the ice.") for n in range(1, 41)]
    room.add(*later)
    view = room.fold()
    assert (view.rolling.messages, view.rolling.upto) == (18, "t:78")
    assert in_file(room, 1) == first
    assert in_file(room, 2) == view.rolling
    assert "larch" not in shown(view.rolling)
    assert texts(view) == [one.text for one in later]


def test_the_summary_of_an_imported_session_is_kept_too(room: Room) -> None:
    meta = SessionMeta(
        "2026-03-01_001", "main", "2026-03-01T00:00:00+01:00", source="conv-1", state="ended"
    )
    room.write(talk(60), meta)
    assert room.fold().rolling.messages == 36
    assert in_file(room).messages == 36


def test_a_summary_knows_the_topics_that_are_over(room: Room) -> None:
    subjects = SUBJECTS["en"]
    said: list[Message] = []
    start = datetime.fromisoformat("2026-03-01T10:00:00+01:00")
    for block in range(4):
        words = subjects[block % 2]
        for n in range(14):
            number = len(said) + 1
            chosen = " ".join(words[(n * 3 + k * (1 + n % 3)) % 10] for k in range(5))
            time = (start + timedelta(minutes=number)).isoformat()
            said.append(replace(message(number, f"{chosen} {number}."), time=time))
    room.write(said)
    rolling = room.fold().rolling
    assert len(rolling.topics) >= 1
    assert set(rolling.topics[0].label.split(", ")) <= set(subjects[0])
    assert [one.at for one in rolling.topics] == sorted({one.at for one in rolling.topics})
