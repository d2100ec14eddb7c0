"""Saved plans: decisions without texts, in nobody's index, cleaned of what is erased."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.serve.vaults import open_vault
from vaultmind import tokens
from vaultmind.app import App
from vaultmind.memory.forget.erasing import Erasure
from vaultmind.planner.saving import MAX_TOKENS, Kept, rendered, save_plan
from vaultmind.planner.types import (
    BudgetReport,
    Dropped,
    Plan,
    PlannedContext,
    PlanRequest,
    Understood,
)
from vaultmind.types import PERSON, Caller

NOON = datetime.fromisoformat("2026-11-22T12:00:00+01:00")
MAIN = Caller("agent", "main")


def kept(task: str = "bug: the oven stays cold", trace: str = "a") -> Kept:
    context, report = PlannedContext((), (), "THE TEXT ITSELF"), BudgetReport(3000, 2860, 0.81)
    left = (Dropped("docs/1.md", "low utility per token"),)
    understood = Understood("bugfix", 0.92, "f7c9aa0123", risk="medium")
    plan = Plan("hit", "fresh", understood, report, context, (trace,), left)
    return Kept(PlanRequest("vault", task), plan)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("saving")) as opened:
        yield opened


def saved(app: App, one: Kept) -> str:
    return save_plan(app.gate, app.paths, NOON, one, "main", MAIN)


@pytest.mark.parametrize("words", [20, 900])
def test_no_sentence_of_a_task_or_a_reason_is_kept_in_part(words: int) -> None:
    sentence = " ".join(f"word{n}" for n in range(words))
    text = rendered(kept(sentence, trace=f"It says: {sentence}"), "", "main")
    assert text.count(sentence) == text.count("word0") and "…" not in text
    assert ("too long to be kept" in text) == (words > 20)


def test_an_erased_sentence_leaves_no_part_of_itself_in_a_plan(app: App) -> None:
    said = (
        "how Anna took the ladder of the neighbour Kowalski over the fence in the night and hid "
        "the numbat behind the shed of Piotr where nobody looked for it until the spring came"
    )
    path = saved(app, kept(f"find everything on {said}, bread oven"))
    app.gate.erasing.erase(Erasure(said, PERSON), app.index.erasing)
    text = (app.config.vault / path).read_text("utf-8")
    assert not [word for word in ("Anna", "Kowalski", "ladder", "Piotr") if word in text]
    assert "low utility per token" in text
    (app.config.vault / path).unlink()


def test_a_saved_plan_is_a_note_without_texts_within_its_size(app: App) -> None:
    path = saved(app, kept("the [[last]] task: `of all`"))
    text = (app.config.vault / path).read_text("utf-8")
    assert "low utility per token" in text and "THE TEXT ITSELF" not in text
    assert tokens.count(text) <= MAX_TOKENS
