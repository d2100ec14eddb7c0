"""learn/registry: what is in use, the way back, and files that somebody damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.learn.made import learned, opened
from vaultmind.app import App
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.index.models import ACTIVE, read_active
from vaultmind.learn.models import FOLDERS, Models
from vaultmind.planner.ranking.scorer import built_in
from vaultmind.types import Caller

ROOT = Path(__file__).parent.parent.parent
KILLS = 2


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
    assert any(ACTIVE in fault for fault in app.learning.status().faults)
    if "\x00" in damage:  # not text at all: nothing is written over it
        with pytest.raises(UnreadableNote, match=r"active\.json"):
            registry.activate("code-b")
        return
    registry.activate("code-b")
    assert registry.weights("code").name == "code-b"
    assert app.learning.status().faults == ()


def test_a_kill_while_models_change_leaves_one_of_them_in_use(tmp_path: Path) -> None:
    app = opened(tmp_path)
    for name in ("code-a", "code-b"):
        app.learning.models.keep("planner", "code", *learned(name))
    app.learning.models.activate("code-a")
    app.close()
    for number in range(KILLS):
        script = [sys.executable, "-m", "tests.learn.activating", str(tmp_path)]
        process = subprocess.Popen(script, cwd=ROOT, stdout=subprocess.PIPE, env=dict(os.environ))
        assert process.stdout is not None
        assert process.stdout.readline()
        until_busy(tmp_path, number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        active = read_active(tmp_path / "vault" / "VaultMind")
        assert active.fault == ""
        assert active.planner["code"] in ("code-a", "code-b")
    again = opened(tmp_path)
    assert again.learning.models.weights("code").name in ("code-a", "code-b")
    assert again.learning.status().faults == ()
    again.learning.models.activate("shipped-code")
    assert again.learning.models.weights("code") is built_in("code")
    again.close()


def until_busy(folder: Path, number: int) -> None:
    """Return while the file is being replaced over and over, each time at another moment."""
    path = folder / "vault" / "VaultMind" / ACTIVE
    seen = {path.stat().st_mtime_ns}
    deadline = time.monotonic() + 10
    while len(seen) < 3 + number and time.monotonic() < deadline:
        try:
            seen.add(path.stat().st_mtime_ns)
        except FileNotFoundError:
            continue
