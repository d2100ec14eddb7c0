"""Conversations are followed in the background, and a model may write their summaries."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of
from tests.session.room import WINDOW, Room
from tests.session.talks import talk
from tests.session.test_conversation import in_file
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.session import conversation, conversations
from vaultmind.session.conversation import View
from vaultmind.session.conversations import Conversations
from vaultmind.session.parts import BuildRequest
from vaultmind.session.summary import Line, ModelLine, ModelLines, Window, shown
from vaultmind.types import PERSON, Message

LONG = "The lighthouse keeper wrote every night about the storm over the northern sea."
NOW = "2026-03-01T12:00:00+01:00"


@contextmanager
def house(folder: Path, embedder: HashEmbedder | None) -> Iterator[App]:
    (folder / "vault").mkdir(exist_ok=True)
    config = config_of(folder)
    name = "use" if embedder else "none"
    config = replace(config, index=replace(config.index, embedder=name, debounce_ms=10))
    app = open_app(config, clock=lambda: datetime.fromisoformat(NOW), embedder=embedder)
    app.start()
    try:
        assert app.index.wait_ready(30, vectors=True)
        yield app
    finally:
        app.close()


def said(text: str, number: int) -> Message:
    role = "user" if number % 2 else "assistant"
    return Message(role, text, NOW, id=f"t:{number}")


def view_of(app: App) -> View:
    view = app.talks.view("main")
    assert view is not None
    return view


def test_vectors_that_never_came_are_there_after_indexing_again(tmp_path: Path) -> None:
    with house(tmp_path, None) as app:
        app.sessions.log("main", said(LONG, 1))
        view = view_of(app)
        assert view.index.vector_of("t:1") is None
        assert view.index.search("lighthouse keeper").hits
    with house(tmp_path, HashEmbedder()) as app:
        until(lambda: view_of(app).index.vector_of("t:1") is not None)


def test_what_is_forgotten_leaves_the_conversation_at_once(tmp_path: Path) -> None:
    with house(tmp_path, HashEmbedder()) as app:
        said_ = [replace(one, time=NOW, block="") for one in talk(40)]
        for one in said_:
            app.sessions.log("main", one)
        view = app.talks.fold(view_of(app), Window())
        assert "larch" in shown(view.rolling)
        app.requests.remember(PERSON, "main", "We decided to build the shed from larch.")
        assert app.index.wait_ready(30)
        app.requests.forget(PERSON, "main", "We decided to build the shed from larch.")
        view = view_of(app)
        assert "larch" not in shown(view.rolling)
        assert not any("larch" in one.text for one in view.messages)
        assert not any("larch" in one.text for one in view.index.messages())


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let no fold come past its 20th batch before the event is set."""
    go, fold, batches = threading.Event(), conversation.fold, [0]

    def held(*rest: object, **named: object) -> object:
        batches[0] += 1
        if batches[0] > 20:
            assert go.wait(30)
        return fold(*rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(conversation, "fold", held)
    monkeypatch.setattr(conversation, "FOLDED_AT_ONCE", 60)
    monkeypatch.setattr(conversations, "FOLDED_BY_ASKER", 60)
    return go


def test_what_is_closed_in_the_middle_of_a_long_fold_is_gone_on_with(
    room: Room, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.write(talk(800))
    assert room.talks.fold(room.view(), WINDOW).behind
    until(lambda: room.view().rolling.messages == 120)
    closing = threading.Thread(target=room.talks.close)
    closing.start()
    until(room.talks._stopping.is_set)
    slow.set()
    closing.join(30)
    assert 120 <= in_file(room).messages < 780
    assert room.fold(room.again()).rolling.messages == 780


def test_the_notes_of_a_context_say_how_far_the_summary_is(
    tmp_path: Path, slow: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path, None) as app:
        app.sessions.log_many("main", talk(800))
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        (note,) = (one for one in built.notes if "summary" in one)
        assert re.fullmatch(r"The summary covers \d+ of \d+ messages so far\.", note)
        slow.set()
        assert app.talks.settle(30)
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        assert not any("summary" in one for one in built.notes)


SHED = ModelLine("They will build the shed from larch wood, as decided.", ("m2",), "decision")
QUIET = ModelLine("The rest was about a quiet morning.", ("m1", "m3"))


class Scripted:
    """Implements Teller: says what a test wants, when it wants it."""

    def __init__(self) -> None:
        self.is_ready, self.fails = True, False
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.asked: list[list[str]] = []
        self.earlier: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.lines_of: Callable[[Sequence[Message]], ModelLines] = lambda _: ModelLines((), "tiny")

    def ready(self) -> bool:
        return self.is_ready

    def lines(self, messages: Sequence[Message], earlier: str, language: str) -> ModelLines | None:
        self.asked.append([one.block for one in messages])
        self.earlier.append(earlier)
        assert self.may_answer.wait(10)
        self.meanwhile()
        return None if self.fails else self.lines_of(messages)


def says(
    *lines: ModelLine, doubted: Sequence[str] = ()
) -> Callable[[Sequence[Message]], ModelLines]:
    """Return what gives those of some lines that are of the messages asked about."""

    def lines_of(messages: Sequence[Message]) -> ModelLines:
        there = {one.block for one in messages}
        return ModelLines(
            tuple(one for one in lines if there.issuperset(one.sources)), "tiny", tuple(doubted)
        )

    return lines_of


@pytest.fixture
def teller() -> Scripted:
    return Scripted()


@pytest.fixture
def told(room: Room, teller: Scripted) -> Iterator[Conversations]:
    """Return the conversations with a model behind them."""
    talks = room.again()
    talks.model = teller
    yield talks
    teller.may_answer.set()
    talks.close()


def settled(room: Room, talks: Conversations) -> list[Line]:
    """Fold what is due, wait for the model, and return the lines of the summary."""
    room.fold(talks)
    assert talks.settle(10)
    view = room.view(talks)
    assert view.rolling == in_file(room)
    return list(view.rolling.lines)


def texts(lines: Sequence[Line]) -> list[str]:
    return [one.text for one in lines]


def test_a_decision_stands_under_decisions_only_where_the_sources_decide(
    room: Room, told: Conversations, teller: Scripted
) -> None:
    teller.lines_of = says(
        ModelLine("They spoke about quiet mornings and kettles.", ("m1",), "decision"),
        ModelLine("Larch is the wood that the shed gets.", ("m2",), "decision"),
        ModelLine("They spoke about lanterns at length.", ("m3",), "question"),
    )
    room.write(talk(60))
    kinds = {one.text.split()[-1]: one.kind for one in settled(room, told) if one.by}
    assert kinds == {"kettles.": "other", "gets.": "decision", "length.": "other"}


def test_a_models_lines_count_within_the_summarys_tokens(
    room: Room, told: Conversations, teller: Scripted
) -> None:
    long = "They went on at great length about number {} of the many matters before them, it seems."
    teller.lines_of = lambda asked: ModelLines(
        tuple(ModelLine(long.format(one.block), (one.block,), "fact") for one in asked), "tiny"
    )
    room.write(talk(250))
    lines = settled(room, told)
    assert sum(one.by == "tiny" for one in lines) > 5
    assert 300 < int(room.rolling().read_text().partition("tokens: ")[2].split()[0]) <= 500


def test_what_is_forgotten_while_the_model_thinks_is_not_said(
    room: Room, told: Conversations, teller: Scripted
) -> None:
    teller.lines_of = says(SHED, QUIET)
    teller.meanwhile = lambda: room.forget("m2")
    room.write(talk(60))
    room.fold(told)
    assert told.settle(10)
    assert SHED.text not in room.rolling().read_text("utf-8")
    assert QUIET.text in shown(room.view(told).rolling)
