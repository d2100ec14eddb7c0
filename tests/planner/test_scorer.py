"""The scorer: linear, explained, and its weights a checked file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vaultmind.errors import ConfigError
from vaultmind.planner.scorer import read_weights, relevances


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
