"""index/sync/erasing: what a file no longer says is in no byte of the state folder either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.serve.vaults import config_of, open_vault
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.index import vectors
from vaultmind.types import Message
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

CONTEXT = "VaultMind/agents/main/memory/active_context.md"
SECRET = "Talked about the lighthouse trip."
EMBEDDER = HashEmbedder()


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.setattr(vectors, "QUIET_SECONDS", 0.05)
    with open_vault(tmp_path, EMBEDDER) as app:
        yield app


def stored(app: App) -> Path:
    """Return Chroma's folder once it holds all vectors."""
    embedding = app.index._embedding
    until(lambda: embedding._stored == embedding._wanted)
    with embedding._storing:
        return next((app.config.state_dir / "chroma").rglob("chroma.sqlite3")).parent


def holding(folder: Path, needle: bytes) -> list[str]:
    """Return the files below a folder that hold some bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if needle in path.read_bytes())


def erase(app: App) -> None:
    (app.paths.root / CONTEXT).write_text("Nothing.\n", "utf-8")
    scrubbed = app.index.erasing.scrub([CONTEXT])
    assert scrubbed.faults == ()


def test_no_byte_of_an_erased_text_is_left_and_nothing_is_embedded_anew(app: App) -> None:
    state, seen = app.config.state_dir, EMBEDDER.texts_seen
    vector = EMBEDDER.embed([SECRET])[0].astype("<f4").tobytes()[:64]
    assert holding(state, b"lighthouse trip") and holding(stored(app), vector)
    erase(app)
    assert holding(state, b"lighthouse trip") == holding(state, vector) == []
    assert app.index.wait_ready(30, vectors=True)
    assert holding(stored(app), vector) == [] and holding(state / "chroma", vector) == []
    told = app.index.state()
    assert told.vectors == told.embeddable > 1
    assert EMBEDDER.texts_seen == seen + 2  # this test's own, and "Nothing.", which is new


def test_what_means_the_same_is_listed_nearest_first(app: App) -> None:
    near = app.index.erasing.nearest_to(["Babcia piekła chałkę w każdy piątek."], 5)
    assert near and near[0][0].path == "Notes/Piec.md" and near[0][1] > 0.5
    assert app.index.erasing.nearest_to([], 5) == []
    assert app.index.erasing.nearest_to(["qqq zzz"], 5) == []


def test_without_an_embedder_the_old_folder_of_vectors_goes_too(app: App, tmp_path: Path) -> None:
    assert stored(app)
    app.close()
    config = config_of(tmp_path)
    config = replace(config, index=replace(config.index, embedder="none"))
    wordy = open_app(config)
    wordy.start()
    try:
        assert wordy.index.wait_ready(30, vectors=True)
        assert wordy.index.erasing.scrub([CONTEXT]).faults == ()
        assert not (config.state_dir / "chroma").exists()
        assert wordy.index.erasing.nearest_to(["lighthouse"], 5) is None
    finally:
        wordy.close()


def test_a_scrub_that_a_kill_prevented_is_done_at_the_next_start(tmp_path: Path) -> None:
    with open_vault(tmp_path, EMBEDDER) as app:
        app.index.erasing.begin()
        (app.paths.root / CONTEXT).write_text("Nothing.\n", "utf-8")
    again = open_app(config_of(tmp_path), embedder=EMBEDDER)
    again.start()
    try:
        until(lambda: again.index._database.get("erasure_begun") == "", 30)
        vector = EMBEDDER.embed([SECRET])[0].astype("<f4").tobytes()
        assert holding(again.config.state_dir, b"lighthouse trip") == []
        assert holding(again.config.state_dir, vector) == []
    finally:
        again.close()


TIME = "2026-02-20T10:00:00+01:00"


def say(app: App, agent: str, *said: str) -> Path:
    """Write a session as another program would: the index is not told."""
    text = render_header(SessionMeta("2026-02-20_777", agent, TIME))
    for at, one in enumerate(said, 1):
        text += render_message(Message("user", one, TIME, f"D1:{at}", "Anna", block=f"m{at}"))
    file = app.paths.root / app.paths.sessions(agent) / "2026-02-20_777.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def test_messages_are_found_whole_and_of_that_agent_whatever_the_index_knows(app: App) -> None:
    long = "I am allergic to nuts. " + "And so on and so forth, much more is said here. " * 40
    file = say(app, "main", "Nice weather", long, "Nut allergies run in the family")
    found = app.index.erasing.messages_about("main", "is allergic to nuts", 50)
    assert {(ref.agent, ref.block, ref.id) for ref, _ in found} >= {
        ("main", "m2", "D1:2"),
        ("main", "m3", "D1:3"),
    }
    assert len(next(text for ref, text in found if ref.block == "m2")) > 1500
    assert app.index.erasing.messages_about("other", "is allergic to nuts", 50) == []
    say(app, "main", "Nice weather", "The heron is allergic to frogs")
    (one,) = app.index.erasing.messages_about("main", "allergic to frogs", 50)
    assert one[1] == "The heron is allergic to frogs"
    file.unlink()
    assert app.index.erasing.messages_about("main", "allergic to frogs", 50) == []
