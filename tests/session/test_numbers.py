"""A session's number is used once: what named a deleted session never means another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes import HashEmbedder
from tests.session.samples import Files
from vaultmind.app import App, open_app
from vaultmind.config import Flags, load_config
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
from vaultmind.session.imports.imports import Importer
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.session.records.numbers import numbers_used
from vaultmind.types import Message, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import parse_session

DAY = "2026-02-20"
NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)
TIME = NOON.isoformat()
OWN = "0b9d9b52-4a3e-4c59-9f0e-3f6b6a3c1d2e"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "vault").mkdir()
    env = {
        "VAULTMIND_STATE_DIR": str(tmp_path / "state"),
        "VAULTMIND_CONFIG": str(tmp_path / "none.toml"),
    }
    config = load_config(Flags(vault=str(tmp_path / "vault")), env=env)
    opened = open_app(config, clock=lambda: NOON, embedder=HashEmbedder())
    yield opened
    opened.close()


def _said(text: str, id: str = "") -> Message:
    return Message("user", text, TIME, id=id)


def _put(paths: VaultPaths, relative: str, text: str) -> None:
    path = paths.root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_a_number_whose_file_was_deleted_is_never_used_again(app: App) -> None:
    first = app.sessions.log("main", _said("The weather is fine.")).session
    (app.paths.root / app.paths.session("main", first)).unlink()
    second = app.sessions.log("main", _said("The boat is sold.")).session
    assert (first, second) == (f"{DAY}_001", f"{DAY}_002")


@pytest.mark.parametrize(
    ("relative", "text"),
    [
        ("main/memory/tombstones-x.jsonl", '{"session": "2026-02-20_007", "block": "m2"}\n'),
        ("main/memory/audit-x.jsonl", '{"hidden": ["main/2026-02-20_007#^m2"]}\n'),
        ("main/memory/brain.md", "- a %%[[V/agents/main/memory/sessions/2026-02-20_007#^m1]]%%\n"),
        ("main/memory/summaries/rolling/2026-02-20_007-2.md", "- a\n"),
        ("second/memory/brain.md", "- a %%[[V/agents/main/memory/sessions/2026-02-20_007]]%%\n"),
    ],
)
def test_whatever_names_a_session_keeps_its_number_taken(
    paths: VaultPaths, files: Files, reader: VaultReader, relative: str, text: str
) -> None:
    _put(paths, f"{paths.agents}/{relative}", text)
    log = SessionLog(files, reader, paths, lambda: NOON, 30)
    assert log.log("main", _said("Hello.")).session == f"{DAY}_008"
    assert numbers_used(paths, "second")[DAY] == 0


def test_words_that_only_look_like_a_number_take_none(paths: VaultPaths) -> None:
    _put(paths, paths.brain("main"), "- [[sessions/2026-02-20_999999]] and 2026-02-20_5555555\n")
    _put(paths, paths.tombstones("main", "x"), "\udcff{]".encode("utf-8", "replace").decode())
    assert not numbers_used(paths, "main")


def test_an_import_takes_no_number_that_was_used_and_keeps_erased_what_was_erased(
    paths: VaultPaths, files: Files, reader: VaultReader, tmp_path: Path
) -> None:
    told = tmp_path / "told.jsonl"
    begun = f'{{"session": "s", "role": "user", "time": "{TIME}", '
    secret, kept = '"content": "A secret.", "id": "a1"}', '"content": "The boat.", "id": "a2"}'
    told.write_text(f"{begun}{secret}\n{begun}{kept}\n")
    erased = MessageRef("main", f"{DAY}_001", "m1", "a1")
    _put(paths, paths.tombstones("main", "x"), render_tombstones([erased], TIME, erased=True))
    importer = Importer(files, reader, paths, erased=Tombstones(paths).erased)
    importer.import_file(told, "main")
    text = (paths.root / paths.session("main", f"{DAY}_002")).read_text("utf-8")
    assert [one.message.text for one in parse_session(text).messages] == ["", "The boat."]


def test_what_was_forgotten_stays_hidden_where_its_transcript_is_read_anew(app: App) -> None:
    ref = app.sessions.log("main", _said("Hildegard is in Gdansk.", OWN), conversation="c:1")
    forgotten = MessageRef("main", ref.session, "", OWN)
    _put(app.paths, app.paths.tombstones("main", "x"), render_tombstones([forgotten], TIME))
    (app.paths.root / app.paths.session("main", ref.session)).unlink()
    messages = [_said("Hildegard is in Gdansk.", OWN), _said("The shed is green.", OWN[:-1] + "f")]
    again = app.sessions.log_many("main", messages, conversation="c:1")
    assert again.session == f"{DAY}_002"
    view = app.talks.view("main", again.session)
    assert view is not None
    assert [one.text for one in view.messages] == ["The shed is green."]
    app.sessions.end("main", conversation="c:1")
    assert "Hildegard" not in (app.paths.root / app.paths.active_context("main")).read_text()
    lifted = render_tombstones([forgotten], "2026-02-21T12:00:00+00:00", lifted=True)
    _put(app.paths, app.paths.tombstones("main", "x"), lifted)
    assert not app.tombstones.hides("main", again.session, OWN)
