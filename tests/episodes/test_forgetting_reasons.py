"""What is hidden of an episode stays hidden where its words move, and hides no other words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.vaults import config_of
from tests.waiting import until
from vaultmind.app import App, open_app
from vaultmind.episodes.types import Episode, Event, TaskMark
from vaultmind.types import PERSON, Caller, Kind, MemoryWrite, SearchRequest

MAIN = Caller("agent", "main")
OLD, NEW = "The Wimplefob valve leaked badly", "Now the Zorblax seal holds"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    app = open_app(config_of(tmp_path))
    app.start()
    app.init("main", "en", PERSON)
    until(lambda: app.index.state().phase == "ready")
    yield app
    app.close()


@pytest.fixture
def running(app: App) -> Episode:
    one = app.episodes.recorder.start(TaskMark("Tune the oven"), "vault", MAIN, session="s1")
    return app.episodes.recorder.add(one.name, [Event("edit", "", "Oven.md")], MAIN)


def forget(app: App, words: str) -> None:
    assert app.gate.write(MemoryWrite("forget", "main", PERSON, words)).outcome == "written"


def shown(app: App, one: Episode) -> str:
    """Return all that can be read and found of an episode."""
    path = app.episodes.files.path(one.name)
    app.index.refresh([path])
    kinds: tuple[Kind, ...] = ("episode",)
    hits = app.index.search(SearchRequest(f"{OLD} {NEW} oven", kinds=kinds, per_note=10), MAIN).hits
    return "\n".join([app.index.fetch(path, MAIN).text, *(hit.text for hit in hits)])


def test_a_hidden_line_of_feedback_is_not_copied_to_the_reason_at_the_end(
    app: App, running: Episode
) -> None:
    app.episodes.recorder.feedback("s1", "failed", OLD, MAIN)
    forget(app, OLD)
    over = app.episodes.recorder.end("s1", "unknown", "", MAIN)
    assert over.outcome == "failed"
    assert "Wimplefob" not in shown(app, over)
    assert app.gate.undo("main", "", PERSON).outcome == "written"
    assert OLD in shown(app, over), "the line has the words still"


def test_a_hidden_reason_is_hidden_in_its_line_and_the_new_one_is_shown(
    app: App, running: Episode
) -> None:
    one = app.episodes.recorder.end("s1", "failed", OLD, MAIN)
    forget(app, OLD)
    assert "Wimplefob" not in shown(app, one)
    judged = app.episodes.recorder.feedback(one.name, "success", NEW, MAIN)
    note = app.episodes.files.file(one.name).text
    assert OLD in note and judged.rationale == NEW
    told = shown(app, one)
    assert "Wimplefob" not in told and NEW in told
    assert judged.why_block != one.why_block, "an id is of one reason"


@pytest.mark.parametrize("outcome", ["failed", "success"])
def test_a_reason_that_takes_a_hidden_ones_place_later_is_shown(
    app: App, running: Episode, outcome: str
) -> None:
    one = app.episodes.recorder.end("s1", "failed", OLD, MAIN)
    forget(app, OLD)
    app.episodes.recorder.feedback(one.name, outcome, "", MAIN)  # type: ignore[arg-type]
    assert "Wimplefob" not in shown(app, one)
    app.episodes.recorder.feedback(one.name, outcome, NEW, MAIN)  # type: ignore[arg-type]
    told = shown(app, one)
    assert "Wimplefob" not in told and told.count(NEW) >= 2, "in its line and as the reason"
