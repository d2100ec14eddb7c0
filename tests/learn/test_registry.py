"""learn/registry: what is in use, the way back, and files that somebody damaged."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.learn.made import learned, opened
from vaultmind.app import App
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.index.ranker.active import ACTIVE, read_active
from vaultmind.index.ranker.model import Model
from vaultmind.index.ranker.model import written as ranker_text
from vaultmind.index.ranker.registry import registry_of, shipped
from vaultmind.learn.models import LOOK_SECONDS, Models
from vaultmind.learn.models import FOLDERS, HEARD_UNTIL, MOST_LOSERS, PASSED, TRIAL
from vaultmind.learn.models import Learned
from vaultmind.learn.models import text_of as model_text
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


def test_a_kept_model_is_not_in_use(registry: Models) -> None:
    assert registry.weights("code") is built_in("code")
    assert in_use(registry) == {"shipped-code", "shipped-notes"}
    assert {"code-a", "code-b"} <= {row.id for row in registry.rows()}


def test_a_model_in_use_ranks_at_once_and_can_be_taken_back(registry: Models) -> None:
    registry.activate(["code-a"])
    assert registry.weights("code").name == "code-a"
    assert registry.weights("notes") is built_in("notes")
    registry.activate(["code-b"])
    assert in_use(registry) == {"code-b", "shipped-notes"}
    registry.rollback("planner")
    assert registry.weights("code").name == "code-a"
    (back,) = (row for row in registry.rollback("planner") if row.of == "code")
    assert back.id == "shipped-code"
    with pytest.raises(NotFound, match="No change"):
        registry.rollback("planner")


def test_losers_give_way_and_what_is_or_was_in_use_stays(registry: Models, app: App) -> None:
    def keep(at: int) -> str:
        name = f"code-2026-11-{at:02}-abcdef"
        registry.keep("planner", "code", *learned(name, path=1.0 + at / 100))
        return name

    was, used = keep(1), keep(2)
    registry.activate([was])
    registry.activate([used])
    others = [keep(at) for at in range(3, 28)]
    registry.keep("planner", "notes", *learned("notes-2026-11-01-abcdef", "notes"))
    here = {one.stem for one in (folder(app) / FOLDERS["planner"]).glob("*.json")}
    assert here == {
        "code-a",
        "code-b",
        was,
        used,
        "notes-2026-11-01-abcdef",
        *others[-MOST_LOSERS:],
    }
    registry.rollback("planner")
    assert registry.weights("code").name == was


def test_the_shipped_model_can_be_put_into_use_by_name(registry: Models) -> None:
    registry.activate(["code-a"])
    registry.activate(["shipped-code"])
    assert registry.weights("code") is built_in("code")
    registry.rollback("planner")
    assert registry.weights("code").name == "code-a"


def test_to_put_into_use_what_is_so_already_changes_nothing(app: App) -> None:
    registry = app.learning.models
    registry.activate(["shipped-code"])
    assert not (folder(app) / ACTIVE).exists()


def test_no_model_is_put_into_use_that_is_not_there(registry: Models) -> None:
    with pytest.raises(NotFound, match="'code-x'"):
        registry.activate(["code-x"])
    with pytest.raises(NotFound, match=r"'\.\./code-a'"):
        registry.activate(["../code-a"])


def test_an_agent_puts_nothing_into_use_and_takes_nothing_back(registry: Models) -> None:
    agent = Caller("agent", "main")
    with pytest.raises(PathRefused):
        registry.activate(["code-a"], agent)
    assert registry.weights("code") is built_in("code")
    registry.activate(["code-a"])
    with pytest.raises(PathRefused):
        registry.rollback("planner", agent)
    assert registry.weights("code").name == "code-a"


def test_what_was_before_and_is_gone_gives_way_to_the_shipped_one(
    app: App, registry: Models
) -> None:
    registry.activate(["code-a"])
    registry.activate(["code-b"])
    (folder(app) / FOLDERS["planner"] / "code-a.json").unlink()
    registry.rollback("planner")
    assert registry.weights("code") is built_in("code")


def test_models_come_back_when_the_state_folder_is_lost(tmp_path: Path) -> None:
    app = opened(tmp_path)
    app.learning.models.keep("planner", "code", *learned("code-a"))
    app.learning.activate("code-a")
    app.close()
    shutil.rmtree(tmp_path / "state")
    again = opened(tmp_path)
    assert again.learning.weights("code").name == "code-a"
    assert again.learning.status().can_roll_back["planner"]
    again.learning.rollback("planner")
    assert again.learning.weights("code") is built_in("code")
    again.close()


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"version": 7}', "\x00\x01"])
def test_a_damaged_list_of_what_is_in_use_means_shipped_models_and_is_kept(
    app: App, registry: Models, damage: str
) -> None:
    registry.activate(["code-a"])
    (folder(app) / ACTIVE).write_text(damage, "utf-8")
    registry.look()
    assert registry.weights("code") is built_in("code")
    assert any(ACTIVE in fault for fault in app.learning.status().faults)
    if "\x00" in damage:  # not text at all: nothing is written over it
        with pytest.raises(UnreadableNote, match=r"active\.json"):
            registry.activate(["code-b"])
        return
    registry.activate(["code-b"])
    assert registry.weights("code").name == "code-b"
    assert app.learning.status().faults == ()
    (kept,) = folder(app).glob("models/active.damaged-*.json")
    assert kept.read_text("utf-8") == damage


@pytest.mark.parametrize(
    "damage", ["", "{", '{"version": 1, "of": "code", "weights": {"x": 1}}', " " * 200_000]
)
def test_a_damaged_model_gives_way_to_the_shipped_one_and_is_told(
    app: App, registry: Models, damage: str
) -> None:
    registry.activate(["code-a"])
    (folder(app) / FOLDERS["planner"] / "code-a.json").write_text(damage, "utf-8")
    registry.look()
    assert registry.weights("code") is built_in("code")
    assert any("code-a" in fault for fault in app.learning.status().faults)
    with pytest.raises(NotFound):
        registry.activate(["code-a"])


def test_a_model_named_for_another_sort_of_source_does_not_rank(
    app: App, registry: Models
) -> None:
    told = {"version": 1, "planner": {"notes": "code-a"}}
    (folder(app) / ACTIVE).write_text(json.dumps(told), "utf-8")
    registry.look()
    assert registry.weights("notes") is built_in("notes")
    assert any("it is for code" in fault for fault in registry.faults())


def test_a_change_that_a_sync_brought_is_noticed_after_a_while(app: App) -> None:
    at = [0.0]
    registry = Models(app.gate, app.paths, app.clock, seconds=lambda: at[0])
    assert registry.weights("code") is built_in("code")
    app.learning.models.keep("planner", "code", *learned("code-a"))
    app.learning.activate("code-a")
    assert registry.weights("code") is built_in("code")
    at[0] += LOOK_SECONDS + 1
    assert registry.weights("code").name == "code-a"


def test_a_ranker_that_is_kept_does_not_rank_by_its_name_alone(app: App) -> None:
    registry = app.learning.models
    registry.keep("ranker", "words", "zz-new", ranker_text(ranker("zz-new")))
    assert registry_of(folder(app)).choose("") is shipped("")
    registry.activate(["zz-new"])
    assert registry_of(folder(app)).choose("").name == "zz-new"
    assert app.learning.models.ranker("").name == "zz-new"
    registry.rollback("ranker")
    assert registry_of(folder(app)).choose("") is shipped("")


def test_a_ranker_of_the_person_goes_on_ranking_when_another_is_kept(app: App) -> None:
    own = folder(app) / FOLDERS["ranker"]
    own.mkdir(parents=True)
    (own / "mine.json").write_text(ranker_text(ranker("mine")), "utf-8")
    registry = app.learning.models
    assert registry.ranker("").name == "mine"
    registry.keep("ranker", "words", "zz-new", ranker_text(ranker("zz-new")))
    assert registry.ranker("").name == "mine"
    registry.activate(["zz-new"])
    registry.rollback("ranker")
    assert registry.ranker("").name == "mine"


def ranker(name: str) -> Model:
    return Model(name, "", {"topic": 2.0}, {"topic": 0.2}, (), {})


def test_what_a_ranker_saw_counts_while_it_is_in_use_and_after_it_was_for_being_better(
    app: App,
) -> None:
    registry, days = app.learning.models, ("2026-11-20", "2026-11-21", "2026-11-22")
    for day, passed in zip(days, (0.0, 1.0, 0.0), strict=True):
        scores = {TRIAL: {PASSED: passed}}
        model = replace(
            ranker(day), trained_on=(f"{HEARD_UNTIL}{day}T10:00:00+00:00",), scores=scores
        )
        if day == days[1]:
            assert registry.seen("ranker", "words") is None
            registry.activate([f"words-{days[0]}-abcdef"])
            assert str(registry.seen("ranker", "words")).startswith(days[0])
        registry.keep("ranker", "words", f"words-{day}-abcdef", ranker_text(model))
    registry.activate([f"words-{days[1]}-abcdef"])
    registry.rollback("ranker")
    assert str(registry.seen("ranker", "words")).startswith(days[1])
    assert registry.seen("planner", "code") is None


def test_what_was_in_use_for_being_better_and_was_taken_back_does_not_give_way(app: App) -> None:
    registry = app.learning.models
    better = Learned("code-2026-11-01-abcdef", "code", {"path": 2.0}, scores={PASSED: 1.0})
    better = replace(better, seen="2026-11-01T10:00:00+00:00")
    registry.keep("planner", "code", better.id, model_text(better))
    registry.activate([better.id])
    registry.rollback("planner")
    for at in range(2, 20):
        registry.keep("planner", "code", *learned(f"code-2026-11-{at:02}-abcdef"))
    assert better.id in {one.id for one in registry.rows()}
    assert str(registry.seen("planner", "code")).startswith("2026-11-01")


def test_a_kill_while_models_change_leaves_one_of_them_in_use(tmp_path: Path) -> None:
    app = opened(tmp_path)
    for name in ("code-a", "code-b"):
        app.learning.models.keep("planner", "code", *learned(name))
    app.learning.activate("code-a")
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
    assert again.learning.weights("code").name in ("code-a", "code-b")
    assert again.learning.status().faults == ()
    again.learning.activate("shipped-code")
    assert again.learning.weights("code") is built_in("code")
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
