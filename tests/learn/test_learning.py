"""app.learning: from episodes in the vault to weights that plans rank with, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.learn.made import heard, keep_notes, learned, many, opened
from vaultmind.app import App
from vaultmind.errors import NotFound, PathRefused
from vaultmind.index.models import ACTIVE
from vaultmind.learn.learning import Models, Trained
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
    assert "anyway" in forced.why
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


def test_a_forgotten_episode_teaches_nothing(app: App) -> None:
    first, *others = many(24)
    task = "Move the harpsichord to Lisbon"
    mark = replace(first.episode.task, text=task)
    keep_notes(app, [first._replace(episode=replace(first.episode, task=mark)), *others])
    app.gate.write(MemoryWrite("remember", "main", PERSON, task, section="current"))
    told = app.gate.write(MemoryWrite("forget", "main", PERSON, task))
    assert told.outcome == "written", told
    assert trained(app).lessons == 23


@pytest.fixture
def registry(app: App) -> Models:
    for name in ("code-a", "code-b"):
        app.learning.models.keep("planner", *learned(name, path=1.0 + len(name)))
    return app.learning.models


def in_use(registry: Models) -> set[str]:
    return {row.id for row in registry.rows() if row.active and row.kind == "planner"}


def test_a_model_in_use_ranks_at_once_and_can_be_taken_back(registry: Models) -> None:
    registry.activate("code-a")
    assert registry.weights("code").name == "code-a"
    assert registry.weights("notes") is built_in("notes")
    registry.activate("code-b")
    assert in_use(registry) == {"code-b", "shipped-notes"}
    registry.rollback("planner")
    assert registry.weights("code").name == "code-a"
    (back,) = (row for row in registry.rollback("planner") if row.of == "code")
    assert back.id == "shipped-code"
    with pytest.raises(NotFound, match="no change"):
        registry.rollback("planner")


def test_an_agent_puts_nothing_into_use_and_takes_nothing_back(registry: Models) -> None:
    agent = Caller("agent", "main")
    with pytest.raises(PathRefused):
        registry.activate("code-a", agent)
    assert registry.weights("code") is built_in("code")
    registry.activate("code-a")
    with pytest.raises(PathRefused):
        registry.rollback("planner", agent)
    assert registry.weights("code").name == "code-a"


@pytest.mark.parametrize("damage", ["", "[1]", '{"version": 7}'])
def test_a_damaged_list_of_what_is_in_use_means_shipped_models(
    app: App, registry: Models, damage: str
) -> None:
    registry.activate("code-a")
    (app.paths.root / app.paths.memory_dir / ACTIVE).write_text(damage, "utf-8")
    assert registry.weights("code") is built_in("code")
    assert any(ACTIVE in fault for fault in registry.faults())
    registry.activate("code-b")
    assert registry.weights("code").name == "code-b"
    assert registry.faults() == ()
