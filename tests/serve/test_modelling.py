"""Models over every surface: trained in the background, listed, put into use, taken back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import NotAllowed
from vaultmind.index.models import model_text, shipped
from vaultmind.learn.trial import Trained
from vaultmind.serve import operations
from vaultmind.serve.call import Call
from vaultmind.serve.op import Surface
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main", "test")
JASKIER = Caller("agent", "jaskier", "test")
JOB = {
    "id", "kind", "state", "started", "ended", "doing", "done", "total", "results", "error",
    "begun",
}  # fmt: skip
RESULT = {"kind", "of", "why", "id", "lessons", "rows", "activated", "verdict"}
STATUS = {"models", "faults", "job", "can_roll_back", "searches"}
MODEL = {"id", "kind", "of", "active", "created", "learnt_on", "scores", "path"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("models")) as app:
        folder = app.paths.root / "VaultMind/models/ranker"
        folder.mkdir(parents=True)
        (folder / "words-2026-11-22-abc.json").write_text(model_text(shipped("")), "utf-8")
        app.learning.models.activate("shipped-words")
        yield app


def run(app: App, name: str, caller: Caller = PERSON, **args: object) -> dict[str, Any]:
    surface: Surface = "cli" if name in ("log", "undo") else "http"
    return operations.run_operation(app, Call(caller), name, args, surface)


def test_too_few_lessons_make_no_model_and_the_answer_says_so(app: App) -> None:
    done = run(app, "model_train", MAIN, wait_seconds=60)
    assert set(done) == JOB and done["state"] == "done"
    assert {one["kind"] for one in done["results"]} == {"planner", "ranker"}
    assert all(set(one) == RESULT and not one["activated"] for one in done["results"])
    assert all("20" in one["why"] for one in done["results"])
    status = run(app, "model_status")
    assert set(status) == STATUS and status["job"]["state"] == "done"
    assert all(set(one) == MODEL for one in status["models"])
    assert {one["id"] for one in status["models"]} >= {"shipped-code", "shipped-use"}
    json.dumps(status)


def test_a_training_is_answered_at_once_and_goes_on_in_the_background(app: App) -> None:
    begun = run(app, "model_train", kind="ranker")
    assert begun["state"] in ("running", "done") and begun["kind"] == "ranker"
    assert app.learning.wait(60).state == "done"  # type: ignore[union-attr]


def test_the_log_says_who_put_a_model_into_use_and_who_took_it_back(app: App) -> None:
    own, run_by = "words-2026-11-22-abc", [MAIN, PERSON]
    before = len(logged(app))
    for caller in run_by:
        run(app, "model_activate", caller, model=own)
        run(app, "model_activate", caller, model=own)  # no change
        run(app, "model_rollback", caller, kind="ranker")
    assert [(one["caller"], one["client"], one["words"]) for one in logged(app)[before:]] == [
        (caller.name, caller.client, f"changed what ranks: {what}")
        for caller in run_by
        for what in (f"in use: {own}", f"taken back: {', '.join(rankers(app))}")
    ]
    undone = run(app, "undo", id=logged(app)[-1]["id"])
    assert undone["outcome"] != "written" and "vaultmind model rollback" in undone["message"]


def logged(app: App) -> list[dict[str, Any]]:
    return list(run(app, "log", ops=["model"], limit=0)["lines"])


def rankers(app: App) -> list[str]:
    every = run(app, "model_status")["models"]
    return [one["id"] for one in every if one["active"] and one["kind"] == "ranker"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [({"force": True}, "trial"), ({"min_lessons": 1}, "20 lessons"), ({"since_days": 3}, "since")],
)
def test_no_agent_makes_the_trial_of_a_model_easier_or_does_without_it(
    app: App, wanted: dict[str, Any], said: str
) -> None:
    with pytest.raises(NotAllowed, match=said):
        run(app, "model_train", MAIN, **wanted)
    assert run(app, "model_train", MAIN, min_lessons=20, wait_seconds=60)["state"] == "done"


def test_an_agent_that_may_not_switch_models_does_not_do_so_by_a_training(app: App) -> None:
    before = app.learning.last
    with pytest.raises(NotAllowed, match="autonomy 2"):
        run(app, "model_train", JASKIER, kind="planner")
    assert app.learning.last == before


def test_who_asks_for_another_training_is_told_that_it_was_not_begun(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def work(request: object, steps: object) -> tuple[Trained, ...]:
        assert goes_on.wait(20)
        return ()

    monkeypatch.setattr(app.learning, "_trainers", {**app.learning._trainers, "planner": work})
    first = app.learning.train("planner")
    told = run(app, "model_train", kind="ranker", force=True)
    assert (told["id"], told["kind"], told["begun"]) == (first.id, "planner", False)
    goes_on.set()
    app.learning.wait(20)
    assert run(app, "model_train", kind="ranker", wait_seconds=60)["begun"]
