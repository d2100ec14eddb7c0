"""Conversations are followed in the background, and a model may write their summaries."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
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
from vaultmind.session import conversation
from vaultmind.session.conversation import View
from vaultmind.session.parts import BuildRequest
from vaultmind.session.summary import Window, shown
from vaultmind.types import PERSON, MemoryWrite, Message

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
        decision = "We decided to build the shed from larch."
        app.requests.ask(MemoryWrite("remember", "main", PERSON, decision))
        assert app.index.wait_ready(30)
        app.requests.ask(MemoryWrite("forget", "main", PERSON, decision))
        view = view_of(app)
        assert "larch" not in shown(view.rolling)
        assert not any("larch" in one.text for one in view.messages)
        assert not any("larch" in one.text for one, _ in view.index.held)


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
    monkeypatch.setattr(conversation, "FOLDED_BY_ASKER", 60)
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
        with monkeypatch.context() as patch:  # the background must not be first
            patch.setattr(app.talks, "heard", lambda *_: None)
            app.sessions.log_many("main", talk(800))
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        (note,) = (one for one in built.notes if "summary" in one)
        assert re.fullmatch(r"The summary covers \d+ of \d+ messages so far\.", note)
        slow.set()
        assert app.talks.settle(30)
        built = app.builder.build(BuildRequest("main", pending=("And the larch?",)), PERSON)
        assert not any("summary" in one for one in built.notes)
