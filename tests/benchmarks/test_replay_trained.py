"""benchmarks/replay_trained: a planner that learns from the commits before, and from no other."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.learn.made import NOW, many

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "benchmarks"))
from replay_trained import Trained

from vaultmind.planner.scorer import built_in


def step(seconds: int) -> Any:
    """Return what a step says of its commit's time."""
    return SimpleNamespace(commit=SimpleNamespace(seconds=seconds), now=NOW)


def test_a_training_sees_the_commits_before_and_what_is_better_ranks_from_then_on() -> None:
    row: Any = Trained(None, 3000, None)  # type: ignore[arg-type]
    row._heard = list(enumerate(many(80)))
    row._learn(step(10))
    assert row.trials == []
    assert row._in_use("code") is built_in("code")
    row._learn(step(60))
    assert row.trials[0].startswith("60 lessons of code: Better")
    assert row._in_use("code").weights["used"] > built_in("code").weights["used"]
    assert row._in_use("notes") is built_in("notes")
