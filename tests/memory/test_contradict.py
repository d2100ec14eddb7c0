"""memory/contradictions: a newer fact takes an older one's place; in doubt both stay."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from vaultmind.consolidate.marks import WEIGHTS as MARKS
from vaultmind.memory.contradictions import WEIGHTS, contradicts

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from contradictions import DEFAULT, load, score, words_digest  # noqa: E402

TOGETHER = (DEFAULT.parent / "together.txt").read_text("utf-8").strip().split("\n\n")


def test_what_is_taken_for_a_contradiction_is_one() -> None:
    found = score(load(DEFAULT))
    assert found.precision >= 0.97 and found.recall >= 0.55


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I live in Hamburg now", "I live in Berlin"),
        ("I'm 35", "I'm 34"),
        ("Peter is my boss", "Julia is my boss"),
        ("Anna lives in London", "Anna lives in Paris"),
        ("We use Postgres 17", "We use Postgres 16"),
        ("I don't drink coffee anymore", "I drink coffee"),
        ("Mieszkam teraz w Gdyni", "Mieszkam w Krakowie"),
        ("Начальника зовут Пётр", "Начальника зовут Олег"),
        ("Uses Obsidian instead of Notion", "Uses Notion"),
    ],
)
def test_the_same_thing_told_anew_is_a_contradiction(new: str, old: str) -> None:
    assert contradicts(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Lives in Berlin", "Lives in Germany"),
        ("Works at night", "Works at Globex"),
        ("Anna lives in Paris", "Anna lives in Paris"),
        ("Maria lives in London", "Anna lives in Paris"),
        ("Anna is in London this week", "Anna lives in Paris"),
        ("", "Anna lives in Paris"),
        ("Ben İzmir'de oturuyorum", "I live in Ankara"),
    ],
)
def test_what_may_be_true_beside_a_fact_leaves_it(new: str, old: str) -> None:
    assert not contradicts(new, old)


@pytest.mark.parametrize("facts", TOGETHER, ids=["en", "pl", "ru"])
def test_the_facts_of_one_life_stand_side_by_side(facts: str) -> None:
    listed = facts.split("\n")
    pairs = [(new, old) for new in listed for old in listed if new != old]
    assert [pair for pair in pairs if contradicts(*pair)] == []


@pytest.mark.parametrize("weights", [WEIGHTS, MARKS])
def test_the_networks_learnt_from_words_as_they_are_read_now(weights: Path) -> None:
    with np.load(weights) as file:
        assert json.loads(str(file["about"]))["reader"] == words_digest()
