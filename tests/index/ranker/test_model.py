"""ranker/{training,model,registry,why}: models that learn, are read, chosen, and explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.index.ranker.conftest import TALK, Look
from tests.index.vault import Vault
from vaultmind.errors import ConfigError
from vaultmind.index.ranker.model import Model, ranked, read_model, written
from vaultmind.index.ranker.names import FEATURES, WITHOUT_MEANING
from vaultmind.index.ranker.registry import OWN, SHIPPED, registry_of, shipped
from vaultmind.index.ranker.training import Lesson, train
from vaultmind.index.ranker.why import why

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


def test_training_finds_what_decides_and_the_same_each_time() -> None:
    weights, spread = train(lessons(), 1e-3)
    assert weights[0] > 10 * abs(weights[1])
    assert weights[2] == pytest.approx(0.0)
    assert spread[2] == 1.0
    again, _ = train(lessons(), 1e-3)
    assert weights.tobytes() == again.tobytes()


def test_more_l2_means_smaller_weights() -> None:
    loose, _ = train(lessons(), 1e-4)
    tight, _ = train(lessons(), 1.0)
    assert abs(tight[0]) < abs(loose[0])


def test_lessons_without_a_right_or_a_wrong_candidate_change_nothing() -> None:
    empty = Lesson(np.ones((4, 3), np.float32), np.zeros(4, np.float32))
    full = Lesson(np.ones((4, 3), np.float32), np.ones(4, np.float32))
    before, _ = train(lessons(), 1e-3)
    after, _ = train([*lessons(), empty, full], 1e-3)
    assert before.tobytes() == after.tobytes()


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(written(WORDS), "utf-8")
    assert read_model(path) == WORDS
    assert written(read_model(path)) == written(WORDS)


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


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_the_models_that_ship_are_whole(path: Path) -> None:
    model = read_model(path)
    assert written(model) == path.read_text("utf-8")
    assert set(model.weights) == (set(FEATURES) if model.embedder else WITHOUT_MEANING)
    assert model.embedder == ("" if path.stem == "words" else path.stem)
    assert model.scores
    assert model.trained_on


def test_the_model_is_that_of_the_embedder_or_of_none() -> None:
    registry = registry_of(Path("nowhere"))
    assert registry.choose("").embedder == ""
    assert registry.choose("use-0.2.1").embedder == "use"
    assert registry.choose("../../x").embedder == "use"
    assert shipped("words").embedder in ("", "use")


def test_a_vaults_own_model_overrides_and_a_broken_one_is_told(tmp_path: Path) -> None:
    folder = tmp_path / OWN
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(written(WORDS), "utf-8")
    (folder / "b.json").write_text("{", "utf-8")
    outside = tmp_path / "outside.json"
    outside.write_text(written(WORDS).replace("mine", "theirs"), "utf-8")
    (folder / "z.json").symlink_to(outside)
    registry = registry_of(tmp_path)
    assert registry.choose("").name == "mine"
    assert registry.choose("use-0.2.1") == shipped("use")
    (fault,) = registry.faults
    assert "b.json" in fault


def test_the_best_candidate_comes_first(vault: Vault, look: Look) -> None:
    with vault.database.read() as connection:
        rows = dict(connection.execute("SELECT rowid, text FROM chunks").fetchall())
    for meaning, embedder in ((False, ""), (True, "use")):
        scene = look("What did Jan start with, pottery?", meaning=meaning)
        assert scene is not None
        ranking = ranked(shipped(embedder), scene)
        assert rows[ranking[0][0]] == TALK[1][1]
        assert len({rowid for rowid, _ in ranking}) == scene.count
        assert [score for _, score in ranking] == sorted((s for _, s in ranking), reverse=True)


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
