"""How long what agents did is kept, and what is never kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.episodes.talking import without_vectors
from tests.episodes.worked import Folder, episode, event
from tests.serve.vaults import write_vault
from vaultmind.app import App, open_app
from vaultmind.episodes.types import Event, Offer, TaskMark
from vaultmind.errors import BadArgument
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main")
HIDDEN = "VaultMind/agents/dexter/episodes/2026-01-01_001.md"
SECRET = "Keys/ghp_0123456789abcdefABCDEF0123456789abcd.md"
OFFER = Offer("f", "t", "w", {"a.py": {"f": 1.0}})
DONE = episode(event("read", "a.py"), event("edit", "a.py"), id="2026-01-01_001", days=300)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    write_vault(tmp_path / "vault")
    app = open_app(without_vectors(tmp_path))
    yield app
    app.close()


def test_what_is_old_shrinks_once_others_devices_a_week_later_and_the_rest_is_told(
    app: App,
) -> None:
    folder = Folder(app.paths.root)
    note = folder.put(DONE, OFFER)
    folder.put(replace(DONE, id="2026-01-01_002", ended=""))
    running = folder.put(replace(DONE, id="2026-01-01_003", state="running", device="x"))
    before = running.read_bytes()
    with pytest.raises(BadArgument, match="days"):
        app.episodes.purge(days=-1)
    due = app.episodes.purge(dry=True)
    assert [(one.name, one.events) for one in due.episodes] == [(DONE.name, 1)]
    assert [name for name, _ in due.left] == ["main/2026-01-01_002"]
    done = app.episodes.purge(PERSON)
    assert done == due
    left = app.episodes.files.read(DONE.name)
    assert (left.state, [one.kind for one in left.events]) == ("shrunk", ["edit"])
    assert not note.with_suffix(".offers.jsonl").exists() and running.read_bytes() == before
    late = app.clock().isoformat()
    folder.put(replace(DONE, id="2026-01-01_004", device="other", started=late, ended=late))
    assert not app.episodes.purge(days=0, dry=True).episodes, "its own device may do it"


def test_offers_go_with_a_note_that_was_deleted_by_hand(app: App) -> None:
    one = app.episodes.recorder.start(TaskMark("Mend the door"), "vault", MAIN)
    app.episodes.recorder.offer(one.name, OFFER, MAIN)
    offers = app.paths.root / app.episodes.files.offers_path(one.name)
    (app.paths.root / app.episodes.files.path(one.name)).unlink()
    app.episodes.settle()
    assert not offers.exists()


@pytest.mark.parametrize("caller", [MAIN, PERSON])
def test_no_record_names_another_agents_files_nor_a_secret(app: App, caller: Caller) -> None:
    recorder = app.episodes.recorder
    one = recorder.start(TaskMark("Bake bread"), "vault", MAIN, session="m1")
    events = [
        Event("read", "", HIDDEN),
        Event("edit", "", HIDDEN.replace("VaultMind", "./vaultmind").upper()),
        Event("decision", "", HIDDEN, text="Use <private>my</private> steam"),
        Event("read", "", "Oven.md"),
    ]
    after = recorder.add(one.name, events, caller)
    assert [(it.kind, it.path) for it in after.events] == [("decision", ""), ("read", "Oven.md")]
    assert "my" not in after.events[0].text
    files = {HIDDEN: {"f": 1.0}, SECRET: {"f": 0.9}, "Oven.md": {"f": 0.5}}
    recorder.offer(one.name, Offer("f", "t", "w", files, tuple(files)), PERSON)
    (offer,) = app.episodes.files.offers(one.name)
    assert (dict(offer.files), offer.chosen) == ({"Oven.md": {"f": 0.5}}, ("Oven.md",))
