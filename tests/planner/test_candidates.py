"""Candidates: from search, names, links and history, each file once, none that is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.planner.planned import MAIN, Planned
from vaultmind.planner.candidates import Asked, Candidate, Pool, Spot, candidates, seeds_of
from vaultmind.planner.names import Known
from vaultmind.planner.task import understand
from vaultmind.planner.types import PlanRequest
from vaultmind.types import PERSON, Caller

NOW = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planned]:
    made = Planned(tmp_path_factory.mktemp("candidates"))
    yield made
    made.close()


def changed(*paths: str) -> list[Candidate]:
    """Return files that earlier work changed."""
    signals = {"affinity": 0.9}
    return [Candidate(path, signals, because=("changed before",), causal=0.8) for path in paths]


def found(
    planned: Planned, task: str, name: str = "shop", caller: Caller = PERSON, *more: Candidate
) -> dict[str, Candidate]:
    source = planned.source(name)
    known = Known(source)
    assert known.settle(30)
    understood = understand(task, source.name)
    request = PlanRequest(name, task)
    return candidates(Asked(request, understood, source, caller, NOW, known, more))


def test_linked_notes_come_with_each_other(planned: Planned) -> None:
    assert "used" in found(planned, "the bread oven", "vault")["Clay.md"].signals


def test_a_provider_adds_what_earlier_work_knows(planned: Planned) -> None:
    one = found(planned, "a new colour", "shop", PERSON, *changed("README.md"))["README.md"]
    assert (one.signals["affinity"], one.causal) == (0.9, 0.8)


def test_what_a_provider_names_and_the_caller_may_not_see_is_dropped(planned: Planned) -> None:
    hidden = (
        "VaultMind/agents/other/memory/brain.md",
        "secrets/Bread keys.md",
        "../shop/README.md",
        "Not there.md",
    )
    pool = found(planned, "the bread oven", "vault", MAIN, *changed(*hidden, "Taxes.md"))
    assert "Taxes.md" in pool
    assert not pool.keys() & set(hidden)


def test_of_a_file_that_is_found_twice_the_stronger_sign_counts() -> None:
    pool = Pool()
    pool.add("a.py", "path", 0.2, "one")
    pool.take(Candidate("a.py", {"path": 0.7, "words": 0.1}, (Spot(0, 1, "", 1.0),), ("two",), 0.5))
    pool.add("a.py", "path", 0.4)
    (one,) = pool.candidates().values()
    assert one == Candidate(
        "a.py", {"path": 0.7, "words": 0.1}, (Spot(0, 1, "", 1.0),), ("one", "two"), 0.5
    )


def test_the_strongest_candidates_are_those_that_most_speaks_for() -> None:
    seeds = seeds_of({"a": {"words": 0.9, "path": 0.5}, "b": {"words": 0.9}, "c": {}})
    assert [*seeds][:2] == ["a", "b"]
    assert seeds["a"] == 1.0
    assert seeds_of({}) == {}
