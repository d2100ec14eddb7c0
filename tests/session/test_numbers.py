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
from vaultmind.session.imports import Importer
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


def test_an_import_takes_no_number_that_was_used_and_keeps_erased_what_was_erased(
    paths: VaultPaths, files: Files, reader: VaultReader, tmp_path: Path
) -> None:
    told = tmp_path / "told.jsonl"
    begun = f'{{"session": "s", "role": "user", "time": "{TIME}", '
    secret, kept = '"content": "A secret.", "id": "a1"}', '"content": "The boat.", "id": "a2"}'
    told.write_text(f"{begun}{secret}\n{begun}{kept}\n")
    erased = MessageRef("main", f"{DAY}_001", "m1", "a1")
    _put(paths, paths.tombstones("main", "x"), render_tombstones([erased], TIME, erased=True))
    importer = Importer(files, reader, erased=Tombstones(paths).erased)
    importer.import_file(told, "main")
    text = (paths.root / paths.session("main", f"{DAY}_002")).read_text("utf-8")
    assert [one.message.text for one in parse_session(text).messages] == ["", "The boat."]
