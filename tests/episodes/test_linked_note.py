"""Neither a note that is a link nor a long purge holds up what is written of other episodes."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from tests.episodes.talking import without_vectors
from tests.serve.vaults import write_vault
from tests.waiting import until
from vaultmind.app import open_app
from vaultmind.episodes.types import TaskMark
from vaultmind.types import Caller

MAIN = Caller("agent", "main")


def test_a_note_that_is_a_link_is_left_out_without_a_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_vault(tmp_path / "vault")
    app = open_app(without_vectors(tmp_path))
    try:
        start = app.episodes.recorder.start
        linked = start(TaskMark("Fix the oven"), "vault", MAIN, session="s1")
        other = start(TaskMark("Bake the bread"), "vault", MAIN, session="s2")
        note = app.paths.root / app.episodes.files.path(linked.name)
        note.rename(tmp_path / "elsewhere.md")
        note.symlink_to(tmp_path / "elsewhere.md")
        with caplog.at_level(logging.WARNING):
            app.episodes._take_news()
            app.episodes.settle()
        assert [one.name for one in app.episodes.tables.episodes()] == [other.name]
        assert not [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info]
    finally:
        app.close()


def test_a_long_purge_does_not_hold_up_what_is_written_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(tmp_path / "vault")
    app = open_app(without_vectors(tmp_path))
    begun, go_on = threading.Event(), threading.Event()

    def slow(*args: object) -> None:
        begun.set()
        assert go_on.wait(20)

    monkeypatch.setattr(app.episodes.retention, "run", slow)
    app.episodes.start()
    try:
        assert begun.wait(20)
        one = app.episodes.recorder.start(TaskMark("Fix the oven"), "vault", MAIN, session="s1")
        until(lambda: [it.name for it in app.episodes.tables.episodes()] == [one.name])
    finally:
        go_on.set()
        app.close()
