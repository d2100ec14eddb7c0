"""memory/contradictions: another value of one slot, number or side; a doubt loses no fact."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaultmind.memory.contradictions import contradicts

DATA = Path(__file__).parent.parent / "data"
FRESH = DATA.parent.parent / "benchmarks" / "data" / "contradict_a.jsonl"


@pytest.mark.parametrize("path", [DATA / "contradictions.jsonl", FRESH], ids=["tuned", "fresh"])
def test_nothing_is_taken_for_a_contradiction_that_is_none(path: Path) -> None:
    pairs = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    found = [one for one in pairs if contradicts(one["new"], one["old"])]
    assert [one for one in found if one["relation"] != "contradicts"] == []


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
def test_the_same_slot_told_anew_is_a_contradiction(new: str, old: str) -> None:
    assert contradicts(new, old)


def test_a_fact_that_says_more_stays() -> None:
    assert not contradicts("Lives in Sopot", "Lives in Gdańsk with two cats")
    assert not contradicts("Lives in Berlin", "Lives in Germany")
    assert not contradicts("Works at night", "Works at Globex")


@pytest.mark.parametrize(
    "facts",
    (DATA / "together.txt").read_text("utf-8").strip().split("\n\n"),
    ids=["en", "pl", "ru"],
)
def test_the_facts_of_one_life_stand_side_by_side(facts: str) -> None:
    listed = facts.split("\n")
    for at, new in enumerate(listed):
        others = listed[:at] + listed[at + 1 :]
        assert not [old for old in others if contradicts(new, old)], new
