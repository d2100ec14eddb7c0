"""A model says what was folded: late, line by line, and never over what anybody meant otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.session.summary.talks import message, talk
from tests.session.talk.room import SESSION, Room
from tests.session.talk.test_folding import in_file
from tests.waiting import until
from vaultmind.session.summary import Told, ToldLine, shown
from vaultmind.session.summary.rolling import Line
from vaultmind.session.summary.told import MOST_TOOLS
from vaultmind.session.talk.means import ToolCall
from vaultmind.session.talk.talks import Talks
from vaultmind.types import Message

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


# --- tools ----------------------------------------------------------------------------------


def worked(length: int, every: int = 5) -> list[Message]:
    """Return a conversation in which each so-many-th message is a tool's."""
    said = talk(length)
    for number in range(every, length + 1, every):
        called = "(called)" if number % (2 * every) == 0 else f"{number} tests passed"
        said[number - 1] = message(number, called, "tool", "Bash")
    return said


def test_a_line_on_a_tool_goes_with_what_the_tool_said(
    room: Room, told: Talks, teller: Scripted
) -> None:
    room.write(worked(120))
    settled(room, told)
    room.edit("25 tests passed", "all is well")
    told.heard("main", SESSION)
    until(lambda: "25 tests" not in room.rolling().read_text("utf-8"))
    assert "15 tests" in room.rolling().read_text("utf-8")


def test_a_conversation_keeps_the_newest_lines_on_tools(
    room: Room, told: Talks, teller: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_TOOLS >= 100
    monkeypatch.setattr("vaultmind.session.summary.told.MOST_TOOLS", 5)
    room.write(worked(120))
    settled(room, told)
    assert [one.source for one in in_file(room).tools] == ["m55", "m65", "m75", "m85", "m95"]
