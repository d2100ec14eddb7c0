"""ranker/{training,model,registry,why}: models that learn, are read, chosen, and explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.index.ranker.conftest import Look
from vaultmind.errors import ConfigError
from vaultmind.index.models import Model, ranked, read_model, written
from vaultmind.index.models import shipped
from vaultmind.index.training import Lesson
from vaultmind.index.rank import why

WORDS = Model("mine", "", {"topic": 2.0, "speaker": 1.0}, {"topic": 0.2, "speaker": 0.5}, (), {})


def lessons() -> list[Lesson]:
    """Return lessons in which the first feature decides and the second is noise."""
    random = np.random.default_rng(7)
    made = []
    for _ in range(40):
        features = random.random((20, 3)).astype(np.float32)
        features[:, 2] = 1.0
        right = np.zeros(20, np.float32)
        right[int(features[:, 0].argmax())] = 1.0
        made.append(Lesson(features, right))
    return made


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 99}, "version 99"),
        ({"features": {}}, "features must name features"),
        ({"features": {"topick": 1.0}}, "'topick', which is no feature"),
        ({"features": {"meaning": 1.0}}, "no feature of a model without an embedder"),
        ({"features": {"topic": "1"}}, "features.topic is '1'"),
        ({"features": {"topic": True}}, "features.topic is True"),
        ({"features": {"topic": 1e9}}, "between -1000 and 1000"),
        ({"features": {"topic": float("nan")}}, "features.topic is nan"),
        ({"embedder": 3}, "embedder is 3"),
        ({"trained_on": "x"}, "trained_on is 'x'"),
        ({"scores": {"locomo": 1}}, "scores is"),
    ],
)
def test_a_wrong_model_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(json.loads(written(WORDS)) | changes), "utf-8")
    with pytest.raises(ConfigError, match=said) as error:
        read_model(path)
    assert "mine.json" in str(error.value)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"version": 1}', "\x00", " " * 200_000])
def test_what_is_no_model_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"mine\.json"):
        read_model(path)


def test_a_model_of_meaning_does_not_rank_without_it(look: Look) -> None:
    scene = look("pottery", meaning=False)
    assert scene is not None
    with pytest.raises(ConfigError, match="needs meaning"):
        ranked(shipped("use"), scene)


def test_every_hit_can_say_why(look: Look) -> None:
    scene = look("What did Jan start with, pottery?", meaning=False)
    assert scene is not None
    best, *_ = ranked(WORDS, scene)
    reasons = why(WORDS, scene, WORDS.score(scene)[1], [best[0], -5])
    assert set(reasons) == {best[0]}
    told = reasons[best[0]]
    assert {reason.family for reason in told} == {"words", "speaker"}
    assert sum(reason.share for reason in told) == pytest.approx(1.0)
    assert str(told[0]).startswith(told[0].words)
    assert "%" in str(told[0])
