"""Models over every surface: trained in the background, listed, put into use, taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind.app import App
from vaultmind.errors import NotAllowed
from vaultmind.index.models import model_text, shipped
from vaultmind.serve import operations
from vaultmind.serve.call import Call
from vaultmind.serve.op import Surface
from vaultmind.types import PERSON, Caller

MAIN = Caller("agent", "main", "test")
JASKIER = Caller("agent", "jaskier", "test")


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
    [({"force": True}, "force"), ({"min_lessons": 1}, "lessons"), ({"since_days": 3}, "since")],
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
