"""A model says what was folded: late, line by line, and never over what anybody meant otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from tests.session.summary.talks import DECISIONS, message, talk
from tests.session.talk.room import SESSION, Room
from tests.session.talk.test_folding import in_file
from tests.waiting import until
from vaultmind.session.summary import Told, ToldLine, shown
from vaultmind.session.summary.rolling import Line
from vaultmind.session.summary.told import MOST_TOOLS
from vaultmind.session.talk.means import ToolCall
from vaultmind.session.talk.talks import Talks
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta

SHED = ToldLine("They will build the shed from larch wood, as decided.", ("m2",), "decision")
QUIET = ToldLine("The rest was about a quiet morning.", ("m1", "m3"))


class Scripted:
    """Implements Teller: says what a test wants, when it wants it."""

    def __init__(self) -> None:
        self.is_ready, self.fails = True, False
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.asked: list[list[str]] = []
        self.earlier: list[str] = []
        self.calls: list[list[ToolCall]] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.lines_of: Callable[[Sequence[Message]], Told] = lambda _: Told((), "tiny")

    def ready(self) -> bool:
        return self.is_ready

    def lines(self, messages: Sequence[Message], earlier: str, language: str) -> Told | None:
        self.asked.append([one.block for one in messages])
        self.earlier.append(earlier)
        assert self.may_answer.wait(10)
        self.meanwhile()
        return None if self.fails else self.lines_of(messages)

    def tools(self, calls: Sequence[ToolCall], language: str) -> Told | None:
        self.calls.append(list(calls))
        lines = [
            ToldLine(f"{one.name} was run: {one.result}, it says.", (one.source,)) for one in calls
        ]
        return None if self.fails else Told(tuple(lines), "tiny")


def says(*lines: ToldLine, doubted: Sequence[str] = ()) -> Callable[[Sequence[Message]], Told]:
    """Return what gives those of some lines that are of the messages asked about."""

    def lines_of(messages: Sequence[Message]) -> Told:
        there = {one.block for one in messages}
        return Told(
            tuple(one for one in lines if there.issuperset(one.sources)), "tiny", tuple(doubted)
        )

    return lines_of


@pytest.fixture
def teller() -> Scripted:
    return Scripted()


@pytest.fixture
def told(room: Room, teller: Scripted) -> Iterator[Talks]:
    """Return the conversations with a model behind them."""
    talks = room.again()
    talks.tell_with(teller)
    yield talks
    teller.may_answer.set()
    talks.close()


def settled(room: Room, talks: Talks) -> list[Line]:
    """Fold what is due, wait for the model, and return the lines of the summary."""
    room.fold(talks)
    assert talks.telling is not None
    assert talks.telling.settle(10)
    view = room.view(talks)
    assert view.rolling == in_file(room)
    return list(view.rolling.lines)


def texts(lines: Sequence[Line]) -> list[str]:
    return [one.text for one in lines]


def test_a_models_lines_take_the_place_of_what_they_say(
    room: Room, told: Talks, teller: Scripted
) -> None:
    teller.lines_of = says(SHED, QUIET)
    room.write(talk(60))
    lines = settled(room, told)
    assert [len(one) for one in teller.asked] == [24, 12]
    assert in_file(room).told == "m36"
    assert SHED.text in texts(lines)
    assert QUIET.text in texts(lines)
    assert DECISIONS["en"][0] not in texts(lines)  # the model's line says it
    assert set(DECISIONS["en"][1:]) <= set(texts(lines))  # it overlooked these
    assert {one.kind for one in lines if one.source in {f"m{n}" for n in range(1, 25)}} <= {
        "decision",
        "fact",
        "other",
    }
    (shed,) = [one for one in lines if one.text == SHED.text]
    assert (shed.by, shed.source, shed.kind) == ("tiny", "m2", "decision")
    again = room.again()
    assert SHED.text in texts(room.view(again).rolling.lines)
    assert teller.earlier[0]


def test_who_asks_never_waits_for_the_model(room: Room, told: Talks, teller: Scripted) -> None:
    teller.may_answer.clear()
    teller.lines_of = says(SHED)
    room.write(talk(60))
    assert DECISIONS["en"][0] in shown(room.fold(told).rolling)
    until(lambda: teller.asked)
    room.add(*talk(80)[60:])
    assert room.fold(told).rolling.messages == 60  # folded while the model is at it
    teller.may_answer.set()
    assert told.telling is not None
    assert told.telling.settle(10)
    assert SHED.text in shown(room.view(told).rolling)
    assert in_file(room).told == "m60"


def test_a_running_conversation_is_told_as_it_is_folded(
    room: Room, told: Talks, teller: Scripted
) -> None:
    said = talk(80)
    room.write(said[:60])
    settled(room, told)
    room.add(*said[60:72])
    settled(room, told)
    assert teller.asked[2:] == [[f"m{n}" for n in range(37, 49)]]
    room.talks.close()
    room.add(*said[72:])
    again = room.again()
    again.tell_with(teller)
    settled(room, again)
    again.close()
    assert teller.asked[3:] == [[f"m{n}" for n in range(49, 61)]]


@pytest.mark.parametrize("how", ["fails", "not ready", "says nothing"])
def test_without_an_answer_the_summary_is_as_without_a_model(
    room: Room, told: Talks, teller: Scripted, how: str
) -> None:
    room.write(talk(60))
    before = room.fold().rolling.lines
    room.rolling().unlink()
    teller.fails, teller.is_ready = how == "fails", how != "not ready"
    assert tuple(settled(room, told)) == before
    assert in_file(room).told == ("m36" if how == "says nothing" else "")
    asked = len(teller.asked)
    room.fold(told)
    assert len(teller.asked) == asked  # not again before more is folded
    teller.fails, teller.is_ready = False, True
    teller.lines_of = says(SHED)
    room.add(*talk(66)[60:])
    assert (SHED.text in texts(settled(room, told))) == (how != "says nothing")


def test_what_the_model_says_wrong_of_a_message_leaves_its_own_words_there(
    room: Room, told: Talks, teller: Scripted
) -> None:
    room.write(talk(60))
    little = [one for one in room.fold().rolling.lines if one.kind == "other"]
    early = [one for one in little if one.at <= 24]
    doubted, passed_over = early[0], early[-1]
    assert doubted.source != passed_over.source
    room.rolling().unlink()
    teller.lines_of = says(SHED, doubted=[doubted.source])
    lines = settled(room, told)
    assert SHED.text in texts(lines)
    assert doubted in lines
    assert passed_over not in lines


def test_words_of_a_message_are_no_models_words(room: Room, told: Talks, teller: Scripted) -> None:
    teller.lines_of = says(ToldLine("we decided to build the shed from larch", ("m2",)), QUIET)
    room.write(talk(60))
    lines = settled(room, told)
    (shed,) = [one for one in lines if "larch" in one.text]
    assert (shed.text, shed.by) == (DECISIONS["en"][0], "")


def test_a_decision_stands_under_decisions_only_where_the_sources_decide(
    room: Room, told: Talks, teller: Scripted
) -> None:
    teller.lines_of = says(
        ToldLine("They spoke about quiet mornings and kettles.", ("m1",), "decision"),
        ToldLine("Larch is the wood that the shed gets.", ("m2",), "decision"),
        ToldLine("They spoke about lanterns at length.", ("m3",), "question"),
    )
    room.write(talk(60))
    kinds = {one.text.split()[-1]: one.kind for one in settled(room, told) if one.by}
    assert kinds == {"kettles.": "other", "gets.": "decision", "length.": "other"}


def test_a_models_lines_count_within_the_summarys_tokens(
    room: Room, told: Talks, teller: Scripted
) -> None:
    long = "They went on at great length about number {} of the many matters before them, it seems."
    teller.lines_of = lambda asked: Told(
        tuple(ToldLine(long.format(one.block), (one.block,), "fact") for one in asked), "tiny"
    )
    room.write(talk(250))
    lines = settled(room, told)
    assert sum(one.by == "tiny" for one in lines) > 5
    assert 300 < int(room.rolling().read_text().partition("tokens: ")[2].split()[0]) <= 500


def test_a_person_has_the_last_word_on_every_line(
    room: Room, told: Talks, teller: Scripted
) -> None:
    """What they changed, typed or deleted while the model was thinking stays that way."""
    teller.lines_of = says(
        ToldLine("The budget has an upper limit of 4,200 euros.", ("m5",)),
        ToldLine("Marta is the one who paints the door on 14 March.", ("m8",)),
        SHED,
    )
    room.write(talk(60))
    room.fold()
    line = next(one for one in room.rolling().read_text().splitlines() if "Marta" in one)

    def by_hand() -> None:
        room.edit("4,200 euros", "4,300 euros", room.rolling())
        room.edit(f"{line}\n", "- A line of mine.\n", room.rolling())
        teller.meanwhile = lambda: None

    teller.meanwhile = by_hand
    lines = texts(settled(room, told))
    assert "The budget is 4,300 euros, not a cent more." in lines
    assert "A line of mine." in lines
    assert SHED.text in lines
    assert not any("4,200" in one or "Marta" in one for one in lines)


@pytest.mark.parametrize("how", ["forgotten", "deleted", "reworded", "private"])
def test_a_line_goes_with_any_of_the_messages_that_it_was_made_of(
    room: Room, told: Talks, teller: Scripted, how: str
) -> None:
    both = ToldLine("Larch for the shed, and a ceiling for the costs.", ("m2", "m5"))
    teller.lines_of = says(both)
    room.write(talk(60))
    assert both.text in texts(settled(room, told))
    text = DECISIONS["en"][1]
    if how == "forgotten":
        room.forget("m5")
    elif how == "deleted":
        room.edit(f"> {text}", "> ")
    elif how == "private":
        room.edit(text, f"<private>{text}</private>")
    else:
        room.edit("4,200", "4,100")
    assert both.text not in shown(room.view(told).rolling)
    if how != "forgotten":
        told.heard("main", SESSION)
        until(lambda: both.text not in room.rolling().read_text("utf-8"))


def test_what_is_forgotten_while_the_model_thinks_is_not_said(
    room: Room, told: Talks, teller: Scripted
) -> None:
    teller.lines_of = says(SHED, QUIET)
    teller.meanwhile = lambda: room.forget("m2")
    room.write(talk(60))
    room.fold(told)
    assert told.telling is not None
    assert told.telling.settle(10)
    assert SHED.text not in room.rolling().read_text("utf-8")
    assert QUIET.text in shown(room.view(told).rolling)


@pytest.mark.parametrize("why", ["level 0", "imported", "ended"])
def test_no_model_is_asked_about_what_is_not_ours_to_tell(
    room: Room, told: Talks, teller: Scripted, why: str
) -> None:
    meta = SessionMeta(SESSION, "main", started="2026-03-01T00:00:00+01:00")
    if why == "level 0":
        room.gate.readonly.add("main")
    elif why == "imported":
        meta = replace(meta, source="claude.json", state="ended")
    else:
        meta = replace(meta, ended="2026-03-01T02:00:00+01:00", state="ended")
    room.write(talk(60), meta)
    room.fold(told)
    assert told.telling is not None
    assert told.telling.settle(10)
    assert not teller.asked


def test_an_end_does_not_wait_for_a_model_and_nothing_is_written_after_it(
    room: Room, told: Talks, teller: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vaultmind.session.talk.told.CLOSE_SECONDS", 0.0)
    teller.may_answer.clear()
    teller.lines_of = says(SHED)
    room.write(talk(60))
    room.fold(told)
    until(lambda: teller.asked)
    told.close()
    teller.may_answer.set()
    assert told.telling is not None
    thread = told.telling._thread
    assert thread is not None
    thread.join(10)
    assert in_file(room).told == ""


def test_a_file_whose_front_matter_a_person_broke_is_not_told_over_and_over(
    room: Room, told: Talks, teller: Scripted
) -> None:
    room.write(talk(60))
    room.fold()
    room.edit("session: ", "session: [", room.rolling())
    room.fold(told)
    assert told.telling is not None
    assert told.telling.settle(10)
    assert len(teller.asked) <= 1


# --- tools ----------------------------------------------------------------------------------


def worked(length: int, every: int = 5) -> list[Message]:
    """Return a conversation in which each so-many-th message is a tool's."""
    said = talk(length)
    for number in range(every, length + 1, every):
        called = "(called)" if number % (2 * every) == 0 else f"{number} tests passed"
        said[number - 1] = message(number, called, "tool", "Bash")
    return said


def test_what_tools_did_is_told_every_fifty_messages_a_few_calls_at_once(
    room: Room, told: Talks, teller: Scripted
) -> None:
    said = worked(160, 3)
    room.write(said[:60])
    settled(room, told)
    assert not teller.calls  # 36 folded: too few
    room.add(*said[60:120])
    lines = settled(room, told)
    assert [len(one) for one in teller.calls] == [8, 8]
    call = teller.calls[0][0]
    assert (call.name, call.result, call.source) == ("Bash", "3 tests passed", "m3")
    assert call.before == said[1].text
    rolling = in_file(room)
    assert rolling.tools_upto == "m96"
    assert len(rolling.tools) == 16
    assert rolling.tools[0].text == "Bash was run: 3 tests passed, it says."
    assert not any("Bash" in one.text for one in lines)
    assert "Bash" not in shown(rolling)
    text = room.rolling().read_text("utf-8")
    assert text.count("\n## Tool calls\n") == 1
    assert "\n- Bash was run: 3 tests passed, it says. %%" in text
    room.add(*said[120:])
    settled(room, told)
    assert len(teller.calls) == 2


def test_lines_on_tools_survive_folding_edits_and_a_restart(
    room: Room, told: Talks, teller: Scripted
) -> None:
    said = worked(200)
    room.write(said[:100])
    settled(room, told)
    room.edit("5 tests passed, it", "five tests of mine passed, it", room.rolling())
    room.add(*said[100:])
    lines = settled(room, told)
    texts_ = [one.text for one in in_file(room).tools]
    assert "Bash was run: five tests of mine passed, it says." in texts_
    assert "Bash was run: 15 tests passed, it says." in texts_
    assert "Bash was run: 105 tests passed, it says." in texts_
    assert not any("Bash" in one.text for one in lines)
    assert room.rolling().read_text("utf-8").count("## Tool calls") == 1


def test_a_line_on_a_tool_goes_with_what_the_tool_said(
    room: Room, told: Talks, teller: Scripted
) -> None:
    room.write(worked(120))
    settled(room, told)
    room.edit("25 tests passed", "all is well")
    told.heard("main", SESSION)
    until(lambda: "25 tests" not in room.rolling().read_text("utf-8"))
    assert "15 tests" in room.rolling().read_text("utf-8")


def test_where_the_model_fails_on_tools_they_are_told_the_next_time(
    room: Room, told: Talks, teller: Scripted
) -> None:
    said = worked(140)
    room.write(said[:100])
    room.fold(told)
    assert told.telling is not None
    assert told.telling.settle(10)
    room.edit("tools_upto: m78\n", "", room.rolling())
    teller.fails = True
    room.add(*said[100:120])
    settled(room, told)
    assert in_file(room).tools_upto == ""
    teller.fails = False
    room.add(*said[120:])
    settled(room, told)
    assert in_file(room).tools_upto == "m120"
    assert len(in_file(room).tools) == 12


def test_a_conversation_keeps_the_newest_lines_on_tools(
    room: Room, told: Talks, teller: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_TOOLS >= 100
    monkeypatch.setattr("vaultmind.session.summary.told.MOST_TOOLS", 5)
    room.write(worked(120))
    settled(room, told)
    assert [one.source for one in in_file(room).tools] == ["m55", "m65", "m75", "m85", "m95"]
