"""app.learning: from episodes in the vault to weights that plans rank with, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.learn.made import NOW, heard, keep_notes, many, opened
from vaultmind.app import App
from vaultmind.learn.learning import Job
from vaultmind.learn.planning import Heard
from vaultmind.learn.trial import Trained
from vaultmind.memory.audit import newest_first
from vaultmind.planner.scorer import built_in
from vaultmind.types import PERSON, Caller, MemoryWrite


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = opened(tmp_path)
    yield app
    app.close()


def trained(app: App, **wanted: object) -> Trained:
    job = app.learning.train("planner", **wanted)  # type: ignore[arg-type]
    done = app.learning.wait(30)
    assert done is not None
    assert (done.id, done.state, done.error) == (job.id, "done", "")
    return done.results[0]


def test_what_episodes_teach_is_tried_and_then_ranks(app: App) -> None:
    keep_notes(app, many(90))
    told = trained(app, asked=Caller("agent", "main", "test"))
    assert told.activated, told.why
    (line,) = newest_first(app.paths, ("main",), ("model",))
    assert (line.caller, line.client) == ("main", "test")
    assert line.reason == f"in use after a training: {told.id}"
    assert (told.lessons, told.of) == (90, "code")
    weights = app.learning.models.weights("code")
    assert weights.name == told.id
    assert weights.weights["used"] > built_in("code").weights["used"]
    (row,) = (one for one in app.learning.models.rows() if one.id == told.id)
    assert row.active
    assert row.scores["trial"]["mrr"] > row.scores["trial"]["mrr_before"]
    app.learning.models.rollback("planner")
    assert app.learning.models.weights("code") is built_in("code")


def test_a_model_that_is_no_better_is_kept_and_not_used_unless_it_is_forced(app: App) -> None:
    keep_notes(app, [heard(at, decides="nothing") for at in range(24)])
    told = trained(app)
    assert not told.activated
    assert app.learning.models.weights("code") is built_in("code")
    assert any(one.id == told.id and not one.active for one in app.learning.models.rows())
    forced = trained(app, force_activate=True)
    assert forced.activated
    assert "all the same" in forced.why
    assert app.learning.models.weights("code").name == forced.id


def test_what_a_model_in_use_was_tried_on_is_no_trial_for_another(app: App) -> None:
    keep_notes(app, many(60))
    assert trained(app).activated
    again = trained(app)
    assert (again.id, again.activated) == ("", False)
    assert "Only 0 unseen lessons" in again.why
    keep_notes(app, many(90)[60:])
    told = trained(app).verdict
    assert told is not None and told.lessons == 30
    app.learning.models.rollback("planner")
    if app.learning.models.weights("code").name != "shipped-code":
        app.learning.models.rollback("planner")
    assert "Only 0 unseen lessons" in trained(app).why
    assert trained(app, force_activate=True).activated


def test_a_wrong_clock_s_lesson_counts_nothing_and_ends_no_learning(app: App) -> None:
    one = heard(300)
    time = (NOW + timedelta(days=26_000)).isoformat()
    events = tuple(replace(each, time=time) for each in one.episode.events)
    episode = replace(one.episode, id="2098-01-28_001", started=time, events=events)
    keep_notes(app, [*many(60), Heard(episode, (replace(one.offers[0], time=time),))])
    told = trained(app)
    assert (told.activated, told.lessons) == (True, 60)
    keep_notes(app, many(90)[60:])
    verdict = trained(app).verdict
    assert verdict is not None and verdict.lessons == 30


def test_a_forgotten_episode_teaches_nothing(app: App) -> None:
    first, *others = many(24)
    task = "Move the harpsichord to Lisbon"
    mark = replace(first.episode.task, text=task)
    keep_notes(app, [first._replace(episode=replace(first.episode, task=mark)), *others])
    app.gate.write(MemoryWrite("remember", "main", PERSON, task, section="current"))
    told = app.gate.write(MemoryWrite("forget", "main", PERSON, task))
    assert told.outcome == "written", told
    assert trained(app).lessons == 23


def test_a_close_ends_a_training(tmp_path: Path) -> None:
    app = opened(tmp_path)
    keep_notes(app, many(60))
    app.learning.train("planner")
    app.close()
    job: Job | None = app.learning.last
    assert job is not None
    assert job.state in ("cancelled", "done")
