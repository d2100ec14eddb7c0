"""The conversation in memory in the whole house: what is logged is found, by words and meaning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of
from tests.session.summary.talks import talk
from tests.session.test_topics import SUBJECTS, about
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.session.recall.segment import Query, Scope
from vaultmind.session.summary import Window, shown
from vaultmind.session.talk.view import View
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


def test_what_is_logged_is_found_by_a_meaning_that_was_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder(128)
    with house(tmp_path, embedder) as app:
        for number, text in enumerate((LONG, "Ok.", f"Only the gulls know. {LONG}"), 1):
            app.sessions.log("main", said(text, number))
        until(lambda: view_of(app).index.vector_of("t:3") is not None)
        view = view_of(app)
        assert view.index.vector_of("t:1") is not None
        assert view.index.vector_of("t:2") is None
        seen = embedder.texts_seen
        vector = embedder.embed_query(LONG)
        hits = view.index.search(Query("lighthouse storm", vector), Scope()).hits
        assert {hit.message.key for hit in hits[:2]} == {"t:1", "t:3"}
        assert embedder.texts_seen == seen + 1  # the question

        long = " ".join(f"Sentence {n} says something about matter {n * 7}." for n in range(120))
        ref = app.sessions.log("main", said(long, 4))
        assert app.index.wait_ready(30, vectors=True)
        vectors = app.index.message_vectors
        found = vectors.message_vectors(view.path, {ref.block})
        assert set(found) == {ref.block}
        assert abs(float(np.linalg.norm(found[ref.block])) - 1) < 1e-5
        assert float(found[ref.block] @ embedder.embed_query(long)) > 0.9  # the mean of its pieces
        assert vectors.message_vectors(view.path, set()) == {}
        many = {f"m{n}" for n in range(900)}
        assert set(vectors.message_vectors(view.path, many)) == {"m1", "m3", "m4"}


def test_vectors_that_never_came_are_there_after_indexing_again(tmp_path: Path) -> None:
    with house(tmp_path, None) as app:
        app.sessions.log("main", said(LONG, 1))
        view = view_of(app)
        assert view.index.vector_of("t:1") is None
        assert view.index.search(Query("lighthouse keeper")).hits
    with house(tmp_path, HashEmbedder()) as app:
        until(lambda: view_of(app).index.vector_of("t:1") is not None)


def test_a_conversation_gets_headings_and_a_summary_while_it_goes_on(tmp_path: Path) -> None:
    bread, boats = SUBJECTS["en"]
    with house(tmp_path, HashEmbedder(2048)) as app:
        for one in (*about(bread, 14), *about(boats, 20, 15)):
            app.sessions.log("main", replace(one, time=NOW, block=""))
        session = tmp_path / "vault" / view_of(app).path
        rolling = tmp_path / "vault" / app.paths.rolling("main", view_of(app).session)
        until(lambda: rolling.exists() and "\n## " in session.read_text("utf-8"))
        assert len(view_of(app).messages) == 34
        ref = app.sessions.log("main", Message("user", "And one more word.", NOW, id="last"))
        assert ref.block == "m35"
    assert session.read_text("utf-8").count("\n## ") == 1


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
