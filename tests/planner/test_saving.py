"""Saved plans: decisions without texts, in nobody's index, cleaned of what is erased."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tests.serve.vaults import open_vault
from vaultmind import tokens
from vaultmind.app import App
from vaultmind.memory.forget.erasing import Erasure
from vaultmind.planner.saving import MAX_TOKENS, Kept, rendered, save_plan
from vaultmind.planner.types import (
    BudgetReport,
    Dropped,
    Piece,
    Plan,
    PlannedContext,
    PlanRequest,
    Understood,
)
from vaultmind.types import PERSON, Caller, Reason

NOON = datetime.fromisoformat("2026-11-22T12:00:00+01:00")
MAIN, BARD = Caller("agent", "main"), Caller("agent", "jaskier")
UNDERSTOOD = Understood("bugfix", 0.92, "f7c9aa0123", risk="medium")


def piece(path: str, part: str = "", **values: Any) -> Piece:
    usual: dict[str, Any] = {"first_line": 3, "last_line": 9, "text": "THE TEXT ITSELF"}
    usual |= {"tokens": 40, "layer": "L1", "relevance": 0.9, "confidence": 0.8}
    usual |= {"reasons": (Reason('its title has "oven"', 0.6),)}
    return Piece(path, part, **(usual | values))


def plan_of(*pieces: Piece, dropped: int = 1, trace: int = 2) -> Plan:
    context = PlannedContext(("L1",), tuple(one.path for one in pieces), "THE TEXT ITSELF", pieces)
    return Plan(
        "hit",
        "fresh",
        UNDERSTOOD,
        BudgetReport(3000, 2860, 0.81),
        context,
        tuple(f"Notes/{n}.md was chosen: its words" for n in range(trace)),
        tuple(Dropped(f"docs/{n}.md", "low utility per token") for n in range(dropped)),
        notes=("Without vectors: only words were compared.",),
    )


def kept(task: str = "bug: the oven stays cold", *pieces: Piece, **values: Any) -> Kept:
    plan = values.pop("plan", None) or plan_of(*(pieces or (piece("Notes/Oven.md", "#Wood"),)))
    return Kept(PlanRequest("vault", task, **values), plan, in_vault=True)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with open_vault(tmp_path_factory.mktemp("saving")) as opened:
        yield opened


def saved(app: App, one: Kept) -> str:
    return save_plan(app.gate, app.paths, NOON, one, "main", MAIN)


def test_what_did_not_fit_is_counted() -> None:
    text = rendered(kept(plan=plan_of(piece("a.md"), dropped=500)), "", "main")
    shown = text.count("low utility per token")
    assert 10 < shown < 500 and f"… and {500 - shown} more" in text


@pytest.mark.parametrize("words", [20, 60, 900])
@pytest.mark.parametrize("end", ["", ". And sweep the floor of the whole bakery, from end to end."])
def test_no_sentence_of_a_task_or_a_reason_is_kept_in_part(words: int, end: str) -> None:
    sentence = " ".join(f"word{n}" for n in range(words))
    plan = replace(plan_of(piece("a.md")), decision_trace=(f"It says: {sentence}",))
    text = rendered(kept(f"Bake for the wedding. {sentence}{end}", plan=plan), "", "main")
    assert text.count(sentence) == text.count("word0") and "…" not in text
    assert "Bake for the wedding." in text
    assert ("too long to be kept" in text) == (words > 20)


def test_an_erased_sentence_leaves_no_part_of_itself_in_a_plan(app: App) -> None:
    said = (
        "how Anna took the ladder of the neighbour Kowalski over the fence in the night and hid "
        "the numbat behind the shed of Piotr where nobody looked for it until the spring came"
    )
    path = saved(app, kept(f"find everything on {said}, bread oven"))
    app.gate.erase(Erasure(said, PERSON), app.index.erasing)
    text = (app.config.vault / path).read_text("utf-8")
    assert not [word for word in ("Anna", "Kowalski", "ladder", "Piotr") if word in text]
    assert "low utility per token" in text
    (app.config.vault / path).unlink()


def test_a_saved_plan_is_a_note_without_texts_within_its_size(app: App) -> None:
    path = saved(app, kept("the [[last]] task: `of all`"))
    text = (app.config.vault / path).read_text("utf-8")
    assert "[[Notes/Oven.md#Wood]], lines 3 to 9" in text and "THE TEXT ITSELF" not in text
    assert tokens.count(text) <= MAX_TOKENS
