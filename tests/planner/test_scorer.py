"""The scorer: linear, explained, and its weights a checked file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaultmind.errors import ConfigError
from vaultmind.planner.ranking.scorer import Weights, built_in, read_weights, relevances

SEVEN = (
    "f_structural_relevance",
    "f_semantic_score",
    "f_affinity_score",
    "f_recency_score",
    "f_risk_score",
    "f_test_proximity",
    "f_token_cost",
)


@pytest.mark.parametrize("name", ["code", "notes"])
def test_the_weights_that_come_with_the_program_know_the_seven_features(name: str) -> None:
    weights = built_in(name)  # type: ignore[arg-type]
    assert set(SEVEN) <= weights.weights.keys()
    assert weights.learnt_on
    assert all(weights.words.get(one) for one, value in weights.weights.items() if value > 0)


def test_a_score_is_the_weighted_sum_of_what_is_known() -> None:
    weights = Weights("w", {"words": 2.0, "path": 1.0}, {})
    assert weights.score({"words": 0.5, "path": 0.25, "new": 9.0}) == 1.25
    assert weights.score({}) == 0.0


def test_reasons_are_what_lifts_a_file_strongest_first() -> None:
    weights = Weights("w", {"words": 2.0, "path": 1.0, "is_test": -1.0}, {"words": "words of it"})
    reasons = weights.reasons({"words": 1.0, "path": 0.5, "is_test": 1.0})
    assert [one.words for one in reasons] == ["words of it", "path"]
    assert reasons[0].share == pytest.approx(0.8)


def test_the_best_is_relevant_and_what_is_behind_less_so() -> None:
    assert relevances([3.0, 1.0, 3.0], 2.0) == pytest.approx([1.0, 0.3679, 1.0], abs=1e-4)
    assert relevances([], 2.0) == []


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("not json", "cannot be read"),
        ([1], "'version'"),
        ({"version": 9, "weights": {"a": 1}}, "'version'"),
        ({"version": 1}, "'weights'"),
        ({"version": 1, "weights": {"a": "much"}}, "'a' 'much'"),
        ({"version": 1, "weights": {"a": 1e9}}, "-1000 to 1000"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_by_name(
    tmp_path: Path, told: object, said: str
) -> None:
    path = tmp_path / "own.json"
    path.write_text(told if isinstance(told, str) else json.dumps(told), "utf-8")
    with pytest.raises(ConfigError, match=said) as raised:
        read_weights(path)
    assert str(path) in str(raised.value)
