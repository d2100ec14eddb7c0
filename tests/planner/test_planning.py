"""Planning: what is read for a task, within a budget, fresh, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.planner.planned import MAIN, Planned
from vaultmind import tokens
from vaultmind.errors import BadArgument, NotFound
from vaultmind.planner import code
from vaultmind.planner.names import Known
from vaultmind.planner.pack import _fitting
from vaultmind.planner.pieces import rendered
from vaultmind.planner.telling import FEW, NOTHING, READING
from vaultmind.planner.types import Plan

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


def told(plan: Plan) -> str:
    """Return everything a plan says."""
    return repr(plan)


def test_a_file_that_the_task_names_comes_first(planned: Planned) -> None:
    assert planned.plan("look at shop/orders.py").context.files[0] == "shop/orders.py"


def test_what_does_not_fit_is_dropped_with_a_reason(planned: Planned) -> None:
    plan = planned.plan(REFRESH, token_budget=40)

    assert any("budget" in one.reason for one in plan.dropped_candidates)


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


def test_a_file_whose_pieces_do_not_fit_is_not_among_the_files(planned: Planned) -> None:
    pieces = planned.plan(REFRESH).context.pieces
    files = [*dict.fromkeys(one.path for one in pieces)]

    here, kept, left = _fitting(files, pieces, tokens.count(rendered(pieces)) - 1)
    assert here == files[:-1]
    assert left == files[-1:]
    assert {one.path for one in kept} == {*here}


def test_a_name_of_a_file_is_one_line_wherever_it_is_told(own: Planned) -> None:
    (own.shop / "quokka\ncart.py").write_text("def quokka():\n    pass\n", "utf-8")
    own.settle()
    plan = own.plan("quokka")
    assert "quokka cart.py" in plan.context.text
    assert any(line.startswith("quokka cart.py (") for line in plan.decision_trace)


def test_a_change_is_seen_at_once(own: Planned) -> None:
    own.plan(REFRESH)
    path = own.shop / "shop/tokens.py"
    path.write_text(path.read_text("utf-8").replace("def refresh(", "def renew_quokka("), "utf-8")

    plan = own.plan("bug: tokens.py does not refresh the access token on 401", detail="verbose")
    assert "def refresh(" not in plan.context.text
    assert "renew_quokka" in plan.context.text
    assert plan.freshness == "fresh"


def test_a_file_that_is_gone_is_in_no_plan(own: Planned) -> None:
    own.plan(REFRESH)
    (own.shop / "shop/tokens.py").unlink()

    plan = own.plan(REFRESH)
    assert "shop/tokens.py" not in plan.context.files
    assert all(piece.path != "shop/tokens.py" for piece in plan.context.pieces)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task", "  "),
        ("token_budget", 0),
        ("latency_budget_ms", 0),
        ("ml_mode", "turbo"),
        ("detail", "all"),
        ("query_type", "holiday"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_by_name(
    planned: Planned, field: str, value: object
) -> None:
    wanted = {"task": REFRESH, field: value}
    with pytest.raises(BadArgument, match=field):
        planned.plan(str(wanted.pop("task")), **wanted)


def test_a_source_that_is_not_there_is_named_with_those_that_are(planned: Planned) -> None:
    with pytest.raises(NotFound, match="shop"):
        planned.plan(REFRESH, project_root="/etc")


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


def test_a_task_of_which_hardly_a_word_is_there_is_told_so(planned: Planned) -> None:
    plan = planned.plan(
        "kwartalny raport sprzedawcy pokazuje niepoprawne sumy flask, zestawienie wymaga korekty"
    )
    assert FEW in plan.notes


def test_that_a_path_is_hidden_is_not_told_from_that_it_is_not_there(own: Planned) -> None:
    for name in ("secrets/Bread keys.md", "VaultMind/agents/other/memory/brain.md", "Gone.md"):
        plan = own.over_vault(f"look at {name}", MAIN)
        assert any("is known in this source" in note for note in plan.notes), name
        assert not any("keys" in path or "agents" in path for path in plan.context.files)


def test_that_the_structure_is_not_read_yet_is_told(
    own: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Known, "settle", lambda *_: False)

    plan = own.plan(REFRESH)
    assert READING in plan.notes
    assert plan.cache_status == "partial"


def test_that_code_is_text_only_is_told_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "is_installed", lambda _: False)
    made = Planned(tmp_path)
    try:
        notes = made.plan(REFRESH).notes
        assert any("9 files of code as text only" in note for note in notes), notes
        assert any("pip install 'vaultmind-mcp[code]'" in note for note in notes)
        assert not any("pip install" in note for note in made.over_vault("the oven").notes)
    finally:
        made.close()
