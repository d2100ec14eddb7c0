"""How long what agents did is kept, and what is never kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.episodes.talking import without_vectors
from tests.episodes.worked import Folder, episode, event
from tests.serve.vaults import write_vault
from vaultmind.app import App, open_app
from vaultmind.episodes.types import Event, Offer, TaskMark
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main")
HIDDEN = "VaultMind/agents/dexter/episodes/2026-01-01_001.md"
SECRET = "Keys/ghp_0123456789abcdefABCDEF0123456789abcd.md"
KEY = "AKIAIOSFODNN7EXAMPLE"
OFFER = Offer("f", "t", "w", {"a.py": {"f": 1.0}})
DONE = episode(event("read", "a.py"), event("edit", "a.py"), id="2026-01-01_001", days=300)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    write_vault(tmp_path / "vault")
    app = open_app(without_vectors(tmp_path))
    yield app
    app.close()


def test_what_is_old_shrinks_once_and_other_devices_a_week_later(app: App) -> None:
    folder = Folder(app.paths.root)
    note = folder.put(DONE, OFFER)
    late = (app.clock() - timedelta(days=93)).isoformat()
    others = (
        folder.put(replace(DONE, id="2026-01-01_002", ended="")),
        folder.put(replace(DONE, id="2026-01-01_003", state="running", device="x")),
        folder.put(replace(DONE, id="2026-01-01_004", device="x", started=late, ended=late)),
    )
    before = [one.read_bytes() for one in others]
    app.episodes.purge()
    left = app.episodes.files.read(DONE.name)
    assert (left.state, [one.kind for one in left.events]) == ("shrunk", ["edit"])
    assert not note.with_suffix(".offers.jsonl").exists()
    assert [one.read_bytes() for one in others] == before


def test_offers_go_with_a_note_that_was_deleted_by_hand(app: App) -> None:
    one = app.episodes.start(TaskMark("Mend the door"), "vault", MAIN)
    app.episodes.offer(one.name, OFFER, MAIN)
    offers = app.paths.root / app.episodes.files.offers_path(one.name)
    (app.paths.root / app.episodes.files.path(one.name)).unlink()
    app.episodes.settle()
    assert not offers.exists()


@pytest.mark.parametrize("caller", [MAIN, PERSON])
def test_no_record_names_another_agents_files_nor_a_secret(app: App, caller: Caller) -> None:
    recorder = app.episodes
    one = recorder.start(TaskMark("Bake bread"), "vault", MAIN, session="m1")
    events = [
        Event("read", "", HIDDEN),
        Event("edit", "", HIDDEN.replace("VaultMind", "./vaultmind").upper()),
        Event("decision", "", HIDDEN, text=f"Use <private>my</private> {KEY}"),
        Event("read", "", "Oven.md"),
    ]
    after = recorder.add(one.name, events, caller)
    assert [(it.kind, it.path) for it in after.events] == [("decision", ""), ("read", "Oven.md")]
    note = app.episodes.files.file(one.name).text
    assert "my" not in after.events[0].text and KEY not in note
    files = {HIDDEN: {"f": 1.0}, SECRET: {"f": 0.9}, "Oven.md": {"f": 0.5}}
    recorder.offer(one.name, Offer("f", "t", "w", files, tuple(files)), PERSON)
    with (app.paths.root / app.episodes.files.offers_path(one.name)).open("a") as file:
        file.write('nonsense\n{"files": 3}\n[]\n{"files": {}')  # lines that are none
    (offer,) = app.episodes.files.offers(one.name)
    assert (dict(offer.files), offer.chosen) == ({"Oven.md": {"f": 0.5}}, ("Oven.md",))
