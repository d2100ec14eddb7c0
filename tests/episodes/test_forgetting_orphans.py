"""What plans offered goes with the episode's note, whoever removes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.serve.vaults import config_of
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.episodes.types import Offer, TaskMark
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main")
OFFER = Offer("f", "t", "w", {"clients/zanzibar.md": {"f": 1.0}})


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    app = open_app(config_of(tmp_path))
    app.init("main", "en", PERSON)
    yield app
    app.close()


def with_offers(app: App) -> tuple[Path, Path]:
    """Return the note and the offers of a new episode."""
    one = app.episodes.recorder.start(TaskMark("Mend the door"), "vault", MAIN)
    app.episodes.recorder.offer(one.name, OFFER, MAIN)
    files = app.episodes.files
    return app.paths.root / files.path(one.name), app.paths.root / files.offers_path(one.name)


def test_offers_go_with_a_note_that_was_deleted_by_hand(app: App) -> None:
    note, offers = with_offers(app)
    later = app.clock() + timedelta(minutes=11)
    app.episodes.drop_orphans(later)
    assert offers.exists(), "its note is there"
    note.unlink()
    app.episodes.drop_orphans(app.clock())
    assert offers.exists(), "a sync may bring the note yet"
    app.episodes.drop_orphans(later)
    assert not offers.exists()


def test_they_go_while_the_notes_are_followed_and_nothing_goes_where_they_are_only_looked_at(
    app: App,
) -> None:
    note, offers = with_offers(app)
    note.unlink()
    an_hour_ago = app.clock().timestamp() - 3600
    os.utime(offers, (an_hour_ago, an_hour_ago))
    app.episodes.settle()
    assert offers.exists()
    app.episodes.start()
    until(lambda: not offers.exists())
