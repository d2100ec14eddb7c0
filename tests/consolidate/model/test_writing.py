"""Summaries that a model writes: every sentence said by what it was written from, or left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.consolidate.model.scripted import Models, talk
from vaultmind import tokens
from vaultmind.consolidate.levels import Source
from vaultmind.errors import MinionFailed


def level(*said: tuple[str, list[int]]) -> str:
    return json.dumps({"paragraphs": [{"text": text, "from": numbers} for text, numbers in said]})


def source(day: int, *texts: str) -> Source:
    name = f"2026-03-0{day}_001"
    pieces = (
        replace(one, id=f"{name}#{one.block}", speaker="Anna" if one.role == "user" else "")
        for one in talk(*texts)
    )
    return Source(name, f"2026-03-0{day}T10:00:00+01:00", tuple(pieces))


SESSIONS = (
    source(1, "We open a bakery in Leeds", "a: Lovely.", "Marta bakes, I do the books"),
    source(2, "The oven costs 4,200 pounds", "a: That is a lot.", "We decided to lease it"),
    source(3, "The launch is on 14 March", "a: Noted.", "The menu goes to the printer"),
)
PARAGRAPHS: tuple[tuple[str, list[int]], ...] = (
    ("A bakery opens in Leeds. Marta bakes.", [1, 2]),
    ("The oven costs 4,200 pounds. They decided to lease it.", [3, 4]),
    ("The launch is on 14 March.", [5]),
)


def written(
    tmp_path: Path, *replies: str | MinionFailed, max_tokens: int = 400, **config: Any
) -> Any:
    models = Models(tmp_path, *replies, **config)
    return models, models.thinker.summarise("L1", SESSIONS, "en", max_tokens)


@pytest.mark.parametrize(
    "replies",
    [
        (level(("They flew to Paris in 2031.", [1])),),
        (level(),),
        ("nonsense", "nonsense"),
        (MinionFailed("crash", "It crashed."),),
    ],
)
def test_where_too_little_is_left_the_built_in_writer_does_it(
    tmp_path: Path, replies: Sequence[str | MinionFailed]
) -> None:
    _, told = written(tmp_path, *replies)
    assert told.by == "extractive"
    assert "Paris" not in told.text and "14 March" in told.text
    assert told.notes


def test_a_model_sees_what_each_session_says_in_one_call(tmp_path: Path) -> None:
    models, told = written(tmp_path, level(*PARAGRAPHS))
    (asked,) = models.model.asked
    shown = asked.turns[0].text
    assert "[1] 2026-03-01 · Anna: We open a bakery in Leeds" in shown
    assert "2026-03-03 · Anna: The launch is on 14 March" in shown
    assert (told.by, len(told.paragraphs)) == ("queue", 3)
    assert told.paragraphs[0].sources[0] == "2026-03-01_001#m1"


def test_a_summary_is_never_longer_than_it_may_be(tmp_path: Path) -> None:
    _, told = written(tmp_path, level(*PARAGRAPHS), max_tokens=24)
    assert told.by == "queue"
    assert 0 < tokens.count(told.text) <= 24
