"""Planning: what is read for a task, within a budget, fresh, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.planner.planned import MAIN, OTHER, Planned, has_git
from vaultmind import tokens
from vaultmind.errors import BadArgument, NotFound
from vaultmind.planner.candidates.known import Known
from vaultmind.planner.packing.assembling import _fitting
from vaultmind.planner.packing.pieces import rendered
from vaultmind.planner.structure.code import reader
from vaultmind.planner.telling.noting import FEW, NOTHING, READING
from vaultmind.planner.types import Plan
from vaultmind.types import PERSON, MemoryWrite

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


def test_a_plan_names_the_files_that_the_task_is_about_first(planned: Planned) -> None:
    plan = planned.plan(REFRESH)

    assert set(plan.context.files[:4]) >= {"shop/tokens.py", "web/src/api.ts"}
    assert plan.intent.predicted == "bugfix"
    assert plan.freshness == "fresh"
    assert plan.cache_status == "hit"
    assert plan.decision_trace[0].startswith("Taken for bugfix")
    assert any(line.startswith("shop/tokens.py") for line in plan.decision_trace)


def test_the_tests_of_what_is_to_be_changed_are_in_the_plan(planned: Planned) -> None:
    plan = planned.plan("fix(tokens): refresh() accepts an access token")

    assert "tests/test_tokens.py" in plan.context.files[:5]


def test_a_file_that_the_task_names_comes_first(planned: Planned) -> None:
    assert planned.plan("look at shop/orders.py").context.files[0] == "shop/orders.py"


@pytest.mark.parametrize("budget", [1, 20, 60, 150, 400, 3000])
@pytest.mark.parametrize("detail", ["compact", "normal", "verbose"])
def test_no_budget_is_exceeded(planned: Planned, budget: int, detail: str) -> None:
    plan = planned.plan(REFRESH, token_budget=budget, detail=detail)

    assert tokens.count(plan.context.text) <= budget
    assert plan.budget_report.estimated_used == tokens.count(plan.context.text)
    assert 0.0 <= plan.budget_report.efficiency_score <= 1.0
    assert plan.dropped_candidates or budget >= 400
    assert {piece.path for piece in plan.context.pieces} <= set(plan.context.files)


def test_what_does_not_fit_is_dropped_with_a_reason(planned: Planned) -> None:
    plan = planned.plan(REFRESH, token_budget=40)

    assert any("budget" in one.reason for one in plan.dropped_candidates)


def test_a_file_that_is_only_named_is_not_counted_as_saved(planned: Planned) -> None:
    plan = planned.plan(REFRESH, token_budget=400)
    structure = planned.source().structure
    read = {piece.path for piece in plan.context.pieces if piece.part != "outline"}
    assert read and read < set(plan.context.files)
    assert structure is not None and plan.offer is not None
    records = [structure.record(path) for path in read]
    assert plan.offer.whole_tokens == sum(one.tokens for one in records if one is not None)
    named = planned.plan(REFRESH, token_budget=20)
    assert named.context.files and named.offer is not None and named.offer.whole_tokens == 0


def test_more_detail_shows_more(planned: Planned) -> None:
    sizes = [
        planned.plan(REFRESH, detail=detail, token_budget=20_000).budget_report.estimated_used
        for detail in ("compact", "normal", "verbose")
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2]


def test_every_line_that_is_shown_stands_in_its_file(planned: Planned) -> None:
    plan = planned.plan(REFRESH, detail="normal")

    shown = [piece for piece in plan.context.pieces if piece.part != "outline"]
    assert shown
    for piece in shown:
        lines = (planned.shop / piece.path).read_text("utf-8").splitlines()
        assert piece.text.splitlines() == lines[piece.first_line - 1 : piece.last_line]


def test_the_same_task_is_planned_the_same(planned: Planned) -> None:
    first, second = planned.plan(REFRESH), planned.plan(REFRESH)

    assert (first.context, first.decision_trace, first.dropped_candidates) == (
        second.context,
        second.decision_trace,
        second.dropped_candidates,
    )


def test_secrets_and_ignored_files_are_never_planned(planned: Planned) -> None:
    plan = planned.plan("payment key token left-pad .env node_modules", token_budget=20_000)

    assert "4eC39HqLyjWDarjtT1zdp7dc" not in told(plan)
    assert "node_modules" not in " ".join(plan.context.files)
    assert ".env" not in [*plan.context.files, *(one.file for one in plan.dropped_candidates)]


def test_notes_that_are_excluded_leave_no_trace(planned: Planned) -> None:
    plan = planned.over_vault("where is the key of the bread oven", token_budget=20_000)

    assert "Oven.md" in plan.context.files
    assert "secrets/" not in told(plan)
    assert "mat" not in plan.context.text.split()


def test_links_of_what_was_found_are_followed(planned: Planned) -> None:
    assert "Clay.md" in planned.over_vault("how is the door of the oven made").context.files


def test_another_agents_memory_is_in_no_plan(own: Planned) -> None:
    own.remember("other", "Anna's bread oven smokes when the wind is from the east")

    mine = own.over_vault("the bread oven smokes in east wind", OTHER, token_budget=20_000)
    assert "wind is from the east" in mine.context.text

    theirs = own.over_vault("the bread oven smokes in east wind", MAIN, token_budget=20_000)
    assert "agents/other" not in told(theirs)
    assert "east" not in theirs.context.text


def test_what_was_forgotten_is_in_no_plan(own: Planned) -> None:
    own.remember("main", "The oven needs a new chimney of basalt")
    assert "basalt" in own.over_vault("chimney of the oven").context.text

    gone = own.app.gate.write(
        MemoryWrite("forget", "main", PERSON, "The oven needs a new chimney of basalt")
    )
    assert gone.outcome == "written", gone
    assert "basalt" not in told(own.over_vault("chimney of the oven"))


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


def test_files_are_told_apart_by_the_words_that_stand_in_them(planned: Planned) -> None:
    told = planned.plan(REFRESH).decision_trace[1:]
    first = next(line for line in told if line.startswith("shop/tokens.py"))
    assert "token" in first
    assert "refreshed" in first
    assert "much stands in it" not in " ".join(told)
    assert len({line.partition("): ")[2] for line in told[:6]}) == len(told[:6])


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


@pytest.mark.skipif(not has_git(), reason="needs git")
def test_files_that_commits_in_such_words_changed_are_found(planned: Planned) -> None:
    plan = planned.plan("Login once more")

    assert "shop/middleware.py" in plan.context.files
    families = {reason.family for piece in plan.context.pieces for reason in piece.reasons}
    assert families & {"similar", "told"}


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


def test_what_only_changed_lately_is_in_no_plan(planned: Planned) -> None:
    plan = planned.plan("the price of a line of the cart")

    assert "shop/cart.py" in plan.context.files
    assert "docs/login.md" not in plan.context.files
    assert not {NOTHING, FEW} & {*plan.notes}


def test_a_task_of_which_hardly_a_word_is_there_is_told_so(planned: Planned) -> None:
    plan = planned.plan(
        "kwartalny raport sprzedawcy pokazuje niepoprawne sumy flask, zestawienie wymaga korekty"
    )
    assert FEW in plan.notes


def test_a_path_that_is_not_there_is_told_and_its_folder_is_looked_at(planned: Planned) -> None:
    plan = planned.plan("xyzzy in shop/numbers.py line 40")

    assert "No shop/numbers.py is known in this source." in plan.notes
    assert {"shop/tokens.py", "shop/cart.py"} <= set(plan.context.files)
    assert plan.context.files.index("shop/tokens.py") < 6
    for task in ("look at shop/cart.py", "look at web/src/", 'File "/usr/lib/x/json.py", line 3'):
        assert not any("is known in" in note for note in planned.plan(task).notes), task


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
    monkeypatch.setattr(reader, "installed", lambda _: False)
    made = Planned(tmp_path)
    try:
        notes = made.plan(REFRESH).notes
        assert any("9 files of code as text only" in note for note in notes), notes
        assert any("pip install 'vaultmind-mcp[code]'" in note for note in notes)
        assert not any("pip install" in note for note in made.over_vault("the oven").notes)
    finally:
        made.close()
