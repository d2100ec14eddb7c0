"""Planning: what is read for a task, within a budget, fresh, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.planner.planned import MAIN, Planned
from vaultmind.errors import BadArgument
from vaultmind.planner.candidates import (
    Asked,
    Candidate,
    candidates,
)
from vaultmind.planner.pack import decide, lay
from vaultmind.planner.plan import NOTHING, ranked_by
from vaultmind.planner.scorer import built_in
from vaultmind.planner.task import understand
from vaultmind.planner.types import Plan, PlanRequest
from vaultmind.types import PERSON, Caller

REFRESH = "bug: the access token is not refreshed on 401"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    """Sources that no test changes."""
    made = Planned(tmp_path_factory.mktemp("planned"))
    yield made
    made.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Planned]:
    """Sources of one test."""
    made = Planned(tmp_path)
    yield made
    made.close()


def asked(
    planned: Planned,
    task: str,
    name: str = "shop",
    caller: Caller = PERSON,
    *more: Candidate,
    strict: bool = True,
) -> Asked:
    source, now = planned.source(name), datetime(2026, 3, 4, tzinfo=UTC)
    request = PlanRequest(name, task, strict=strict)
    return Asked(request, understand(task, source.name), source, caller, now, more)


def told(plan: Plan) -> str:
    """Return everything a plan says."""
    return repr(plan)


def test_a_file_that_the_task_names_comes_first(planned: Planned) -> None:
    assert planned.plan("look at shop/orders.py").context.files[0] == "shop/orders.py"


def test_secrets_and_ignored_files_are_never_planned(planned: Planned) -> None:
    plan = planned.plan("payment key token left-pad .env node_modules", token_budget=20_000)

    assert "4eC39HqLyjWDarjtT1zdp7dc" not in told(plan)
    assert "node_modules" not in " ".join(plan.context.files)
    assert ".env" not in [*plan.context.files, *(one.file for one in plan.dropped_candidates)]


def test_pieces_say_where_the_task_is_spoken_of_and_none_is_empty(own: Planned) -> None:
    steps = "\n\n".join(f"def step_{n}():\n    return {n}" for n in range(200))
    text = '"""Signing in."""\n\nimport jwt\n\n\ndef renew_lapsed(): ...\n\n' + steps + "\n"
    (own.shop / "shop/signing.py").write_text(text, "utf-8")
    (own.shop / "shop/__init__.py").write_text("", "utf-8")
    own.settle()

    plan = own.plan("bug: jwt is not renewed")
    pieces = [one for one in plan.context.pieces if one.path == "shop/signing.py"]
    assert any("def renew_lapsed" in one.text for one in pieces)
    assert all(one.text.strip() for one in plan.context.pieces)
    assert "shop/__init__.py" not in plan.context.files


def test_a_target_of_sixty_lines_is_shown_whole_where_the_budget_allows(own: Planned) -> None:
    lines = [f"    total -= rebate(cart, {n}, of='customers who come back')" for n in range(58)]
    text = "\n".join(["def discount(cart, total):", *lines, "    return total", ""])
    (own.shop / "shop/discount.py").write_text(text, "utf-8")
    own.settle()
    plan = own.plan("bug: the discount in shop/discount.py is too high")
    (piece,) = (one for one in plan.context.pieces if one.path == "shop/discount.py")
    assert (piece.part, piece.first_line, piece.text) == ("", 1, text.rstrip())


def test_a_change_is_seen_at_once(own: Planned) -> None:
    own.plan(REFRESH)
    path = own.shop / "shop/tokens.py"
    path.write_text(path.read_text("utf-8").replace("def refresh(", "def renew_quokka("), "utf-8")

    plan = own.plan("bug: tokens.py does not refresh the access token on 401", detail="verbose")
    assert "def refresh(" not in plan.context.text
    assert "renew_quokka" in plan.context.text
    assert plan.freshness == "fresh"


@pytest.mark.parametrize("task", ["  ", "\n\u200b\0"])
def test_a_task_without_a_word_is_refused(planned: Planned, task: str) -> None:
    with pytest.raises(BadArgument, match="task"):
        planned.plan(task)


@pytest.mark.parametrize(
    "task",
    ["xyzzy plugh", "napraw liczenie rabatu w koszyku", "quantum entanglement of photons"],
)
def test_a_task_that_nothing_answers_gets_nothing_and_is_told_so(
    planned: Planned, task: str
) -> None:
    for plan in (planned.plan(task), planned.over_vault(task)):
        assert plan.context.files == ()
        assert plan.budget_report.estimated_used == 0
        assert NOTHING in plan.notes
        assert plan.intent.task_fingerprint


def test_that_a_path_is_hidden_is_not_told_from_that_it_is_not_there(own: Planned) -> None:
    for name in ("secrets/Bread keys.md", "VaultMind/agents/other/memory/brain.md", "Gone.md"):
        plan = own.over_vault(f"look at {name}", MAIN)
        assert any("This source has no" in note for note in plan.notes), name
        assert not any("keys" in path or "agents" in path for path in plan.context.files)


def test_without_strict_a_file_that_changed_meanwhile_is_shown_as_stale(own: Planned) -> None:
    for strict, shown in ((False, ("shop/cart.py",)), (True, ())):
        own.settle()
        what = asked(own, "shop/cart.py", strict=strict)
        laid, dropped = lay(what, ranked_by(built_in("code"), what)[:1])
        path = own.shop / "shop/cart.py"
        path.write_text(f"{path.read_text('utf-8')}\n# edited\n", "utf-8")
        done = decide(what, laid, dropped)
        assert done.context.files == shown
        assert done.freshness == ("stale" if shown else "fresh")


def test_what_earlier_work_names_is_added_unless_it_is_hidden(planned: Planned) -> None:
    hidden = (
        "VaultMind/agents/other/memory/brain.md",
        "secrets/Bread keys.md",
        "../shop/README.md",
        "Not there.md",
    )
    more = [Candidate(path, {"affinity": 0.9}) for path in (*hidden, "Taxes.md")]
    pool = candidates(asked(planned, "the bread oven", "vault", MAIN, *more))
    assert pool["Taxes.md"].signals["affinity"] == 0.9
    assert not pool.keys() & set(hidden)
    gone = Candidate("Not there.md", {"affinity": 0.9})
    assert candidates(asked(planned, "xyzzy plugh", "shop", MAIN, gone)) == {}
