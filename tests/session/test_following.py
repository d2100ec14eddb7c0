"""Conversations are followed in the background, and a model may write their summaries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of
from tests.session.talks import talk
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.session.conversation import View
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
        assert view.index.lacking
        assert view.index.search("lighthouse keeper").hits
    with house(tmp_path, HashEmbedder()) as app:
        until(lambda: not view_of(app).index.lacking)


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
        assert not any("larch" in one.text for one in view.index.held)
