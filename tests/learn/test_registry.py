"""learn/registry: what is in use, the way back, and files that somebody damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.learn.made import learned, opened
from vaultmind.app import App
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.index.models import ACTIVE
from vaultmind.learn.models import FOLDERS, Models
from vaultmind.planner.scorer import built_in
from vaultmind.types import Caller


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = opened(tmp_path)
    yield app
    app.close()


@pytest.fixture
def registry(app: App) -> Models:
    for name in ("code-a", "code-b"):
        app.learning.models.keep("planner", "code", *learned(name, path=1.0 + len(name)))
    return app.learning.models


def folder(app: App) -> Path:
    return app.paths.root / app.paths.memory_dir


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
    with pytest.raises(NotFound, match="No change"):
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


def test_what_was_before_and_is_gone_gives_way_to_the_shipped_one(
    app: App, registry: Models
) -> None:
    registry.activate("code-a")
    registry.activate("code-b")
    (folder(app) / FOLDERS["planner"] / "code-a.json").unlink()
    registry.rollback("planner")
    assert registry.weights("code") is built_in("code")


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"version": 7}', "\x00\x01"])
def test_a_damaged_list_of_what_is_in_use_means_shipped_models(
    app: App, registry: Models, damage: str
) -> None:
    registry.activate("code-a")
    (folder(app) / ACTIVE).write_text(damage, "utf-8")
    assert registry.weights("code") is built_in("code")
    assert any(ACTIVE in fault for fault in app.learning.models.faults())
    if "\x00" in damage:  # not text at all: nothing is written over it
        with pytest.raises(UnreadableNote, match=r"active\.json"):
            registry.activate("code-b")
        return
    registry.activate("code-b")
    assert registry.weights("code").name == "code-b"
    assert app.learning.models.faults() == ()
