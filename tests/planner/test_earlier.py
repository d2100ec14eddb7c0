"""Earlier work: what episodes say of a task, to whom, and what it may take."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

from tests.planner.past import Past
from tests.planner.planned import MAIN, OTHER, Planned
from vaultmind import tokens
from vaultmind.planner.earlier import HEAD, SHARE
from vaultmind.planner.episodes import leave
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.types import PERSON

TASK = "bug: the access token is not refreshed on 401"
ALIKE = "the access token must be refreshed when a request gets a 401"
FAR = "bake rye bread on Saturdays"
"""A task that the shop has no word of."""
UNLIKELY = "pyproject.toml"
"""A file that nothing of the task leads to."""


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    made = Planned(tmp_path_factory.mktemp("earlier"))
    yield made
    made.close()


@pytest.fixture
def past(planned: Planned) -> Iterator[Past]:
    past = Past(planned)
    yield past
    past.forget()


def affinity(plan: Plan, path: str) -> float:
    """Return what earlier work says for a file in a plan."""
    assert plan.offer is not None
    return plan.offer.files.get(path, {}).get("f_affinity_score", 0.0)


def test_the_parts_that_earlier_work_changed_are_shown_until_that_is_forgotten(
    planned: Planned, past: Past
) -> None:
    steps = "".join(f"\n\ndef step_{n}(it):\n    return it * {n}\n" for n in range(400))
    (planned.shop / "shop/steps.py").write_text(f'"""Steps."""\n{steps}', "utf-8")
    planned.settle()
    task = "grapefruit deliveries are dropped at midnight"
    past.work(task, "shop/steps.py", symbol="step_41")
    past.known()
    plan = planned.plan(task)
    parts = [one.part for one in plan.context.pieces if one.path == "shop/steps.py"]
    assert parts == ["#step_41"]
    with mock.patch.object(type(planned.app.index.outlet), "hides", lambda *_: True):
        again = planned.plan(task)
    assert "#step_41" not in [one.part for one in again.context.pieces]
    (planned.shop / "shop/steps.py").unlink()
    planned.settle()


@pytest.mark.parametrize("budget", [1, 60, 150, 400, 1000, 3000])
def test_earlier_work_is_within_its_share_and_the_plan_within_its_budget(
    planned: Planned, past: Past, budget: int
) -> None:
    for number in range(5):
        past.work(f"{ALIKE} {number}", "shop/tokens.py", decided="x" * 150, because="y " * 90)
    past.known()
    plan = planned.plan(TASK, token_budget=budget)
    assert tokens.count(plan.context.text) == plan.budget_report.estimated_used <= budget
    assert plan.budget_report.token_budget == budget
    assert len(plan.earlier) <= 3
    told = "\n".join([HEAD, *(one.text for one in plan.earlier)]) if plan.earlier else ""
    assert tokens.count(told) <= budget * SHARE
    assert bool(plan.earlier) is (budget >= 1000) or budget == 400


def test_a_plan_begins_the_episode_of_its_session_and_of_no_other(
    planned: Planned, past: Past
) -> None:
    plan = planned.plan(TASK, MAIN)
    assert leave(past.recorder, PlanRequest("shop", TASK), plan, "main", MAIN) == ""
    assert leave(past.recorder, PlanRequest("shop", TASK), plan, "main", PERSON) == ""
    name = leave(past.recorder, PlanRequest("shop", TASK, session_id="s2"), plan, "main", MAIN)
    (begun,) = past.recorder.running("main", session="s2")
    assert begun.name == name and begun.task.fingerprint == plan.intent.task_fingerprint


def test_an_agent_that_is_hidden_takes_no_room_of_one_s_own_work(
    planned: Planned, past: Past
) -> None:
    past.work(TASK, UNLIKELY, caller=OTHER)
    past.say_of("main", "autonomy: 2\npermissions:\n  hidden_from: [other]")
    for number in range(45):
        past.work(TASK, "README.md", session=f"{number}")
    past.known()
    plan = planned.plan(TASK, OTHER)
    assert [one.episode.partition("/")[0] for one in plan.earlier] == ["other"]
    assert affinity(plan, UNLIKELY) > 0.5 and not affinity(plan, "README.md")


def test_a_plan_right_after_an_end_knows_of_it(planned: Planned, past: Past) -> None:
    past.known()
    done = past.work("Teach the shop to sell quinces by the crate", UNLIKELY)
    plan = planned.plan("Teach the shop to sell quinces by the crate", MAIN)
    assert done.name in [one.episode for one in plan.earlier]
