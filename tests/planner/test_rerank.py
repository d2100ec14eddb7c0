"""Stage 2: a model's voice in what comes first, within a time, and never more than a voice."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import QueueGenerator
from tests.waiting import until
from vaultmind.config import MinionConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.planner.plan import (
    Reranker,
)
from vaultmind.planner.types import PlanRequest
from vaultmind.types import Generated, Prompt

FILES = tuple(f"src/part{n}.py: part {n} of the shop" for n in range(40))


def asked(task: str = "the cart loses its items", **values: Any) -> PlanRequest:
    return PlanRequest("shop", task, ml_mode="fast", **values)


def minion_of(generator: Any, folder: Path) -> Minion:
    config = MinionConfig(model="http://127.0.0.1:1/v1#queue")
    return Minion(config, folder, open_generator=lambda name: generator)


def answer(*scores: int) -> str:
    return json.dumps({"scores": scores})


class Hanging(QueueGenerator):
    """Answers nothing until it is let go."""

    def __init__(self, *answers: str) -> None:
        super().__init__(*answers, name="hanging")
        self.go = threading.Event()

    def generate(self, prompt: Prompt) -> Generated:
        """Wait, then give the next answer."""
        self.go.wait(20)
        return super().generate(prompt)


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ((answer(1, 2), answer(1, 2, 3)), "right minItems"),
        ((answer(*[4] * 8),), "could not tell the candidates apart"),
        ((MinionFailed("crash", "It crashed."),), "It crashed."),
    ],
)
def test_nonsense_leaves_the_first_ranking_and_is_said(
    tmp_path: Path, answers: tuple[Any, ...], word: str
) -> None:
    told = Reranker(minion_of(QueueGenerator(*answers), tmp_path)).rerank(asked(), FILES, 5)
    assert told.outcome == "fallback" and told.scores == ()
    assert word in told.note and told.note.endswith("The first ranking stands.")


def test_a_model_that_hangs_is_waited_for_no_longer_than_there_is_time(tmp_path: Path) -> None:
    hanging = Hanging(answer(*range(8)), *[answer(*range(8))] * 20)
    reranker = Reranker(minion_of(hanging, tmp_path))
    told = reranker.rerank(asked(), FILES, 0.1)
    assert told.outcome == "fallback" and "within 100 ms" in told.note
    busy = reranker.rerank(asked(task="another"), FILES, 0.1)
    assert "still busy" in busy.note
    hanging.go.set()
    until(lambda: reranker.rerank(asked(), FILES, 5).outcome == "used", 60)
