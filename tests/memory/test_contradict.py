"""memory/contradictions: one subject, one relation; a doubt loses no fact."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from vaultmind.memory.contradictions.contradict import contradicted, relation

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "contradictions.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def test_the_labelled_pairs_are_told_apart_in_three_languages() -> None:
    assert len(PAIRS) >= 120
    assert min(Counter(pair["lang"] for pair in PAIRS).values()) >= 35
    found = [(pair, relation(pair["new"], pair["old"])) for pair in PAIRS]
    wrong = [pair for pair, name in found if name == "contradicts" != pair["relation"]]
    assert not wrong, "a wrong contradiction loses a fact"
    missed = [pair for pair, name in found if name != pair["relation"]]
    assert len(missed) <= len(PAIRS) * 0.05, missed


def test_a_time_without_a_topic_means_the_only_one_it_can() -> None:
    assert contradicted("Moved to Thursday", ["Likes tea", "Meeting on Tuesdays"]) == (1,)
    two = ["Meeting on Tuesdays", "Dentist on Wednesday"]
    assert contradicted("Moved to Thursday", two) == ()


TOGETHER = [
    group.split("\n")
    for group in (Path(__file__).parent.parent / "data" / "together.txt")
    .read_text("utf-8")
    .strip()
    .split("\n\n")
]


@pytest.mark.parametrize("facts", TOGETHER, ids=["en", "pl", "ru"])
def test_the_facts_of_one_life_stand_side_by_side(facts: list[str]) -> None:
    for at, new in enumerate(facts):
        assert contradicted(new, facts[:at] + facts[at + 1 :]) == (), new
