"""learn/training and trial: weights that learn, and a new model against the one in use."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.learn.made import NOW, heard, learned, many
from vaultmind.errors import ConfigError
from vaultmind.learn.models import read_learned
from vaultmind.learn.planning import (
    FREE_ROOM,
    LEAST_ROOM,
    learnt,
    plan_lessons,
    proposed,
)
from vaultmind.learn.trial import LEAST_TRIED, Case, Guard, Marks, verdict
from vaultmind.planner.scorer import built_in

CODE = built_in("code")


def lessons(count: int, **more: str) -> list[Case]:
    return plan_lessons(many(count, **more), NOW)


def test_no_training_more_than_doubles_or_halves_a_weight_or_turns_its_sign() -> None:
    new = learnt(lessons(60), 1e-3).tolist()
    for after, before in zip(new, CODE.weights.values(), strict=True):
        size = abs(after)
        if not before:
            assert size <= FREE_ROOM
            continue
        assert after * before >= 0
        assert abs(before) / 2.001 <= size <= max(abs(before) * 2.001, LEAST_ROOM)


def test_what_is_tried_was_not_learnt_by_what_it_is_tried_with() -> None:
    found = lessons(40)
    made, first, told = proposed(found, CODE)
    assert told.lessons == 24
    assert first == found[:36]
    assert [*made.weights.values()] == pytest.approx(learnt(found[:36]).tolist(), abs=1e-4)


def test_noise_seldom_makes_a_better_model() -> None:
    """Where nothing decides, the trial says so, whatever training makes of it."""
    told = []
    for seed in range(16):
        noise = [heard(seed * 1000 + at, decides="nothing") for at in range(24)]
        now = NOW + timedelta(hours=seed * 1000)
        told.append(proposed(plan_lessons(noise, now), CODE)[2].better)
    assert sum(told) <= 1


def test_a_task_that_is_done_over_and_over_is_one_lesson_of_a_trial() -> None:
    """Who knows eight tasks by heart shows nothing of others."""
    for seed in range(4):
        tasks = [heard(seed * 1000 + at, decides="nothing") for at in range(8)]
        again = [
            one._replace(episode=replace(one.episode, id=f"{at}-{one.episode.id}"))
            for at in range(5)
            for one in tasks
        ]
        now = NOW + timedelta(hours=seed * 1000)
        _, _, told = proposed(plan_lessons(again, now), CODE)
        assert not told.better and told.lessons <= 8


LOW, HIGH = Marks(0.4, 0.2, 0.4), Marks(0.6, 0.2, 0.6)


@pytest.mark.parametrize(
    ("active", "new", "guards", "said"),
    [
        ([LOW] * 20, [HIGH] * 20, [], "Better"),
        ([LOW] * 20, [Marks(0.39, 0.2, 0.5)] * 20, [], "the other measure fell: MRR"),
        ([LOW] * 20, [Marks(0.4, 0.2, 0.404)] * 20, [], "Not better by 0.005"),
        ([LOW] * 20, [Marks(0.6, 0.19, 0.6)] * 20, [], "the other measure fell: precision"),
        ([LOW] * 20, [Marks(1.0, 0.2, 1.0)] + [LOW] * 19, [], "may be chance"),
        ([LOW] * 20, [HIGH] * 20, [Guard("all", 0.7, 0.68)], "all 0.700 to 0.680"),
        ([LOW] * 20, [HIGH] * 20, [Guard("all", 0.7, 0.692)], "Better"),
        ([LOW], [HIGH], [], f"a trial needs {LEAST_TRIED}"),
        ([], [], [], "Only 0 unseen lessons"),
    ],
)
def test_a_model_is_better_only_beyond_doubt(
    active: list[Marks], new: list[Marks], guards: list[Guard], said: str
) -> None:
    told = verdict(active, new, guards)
    assert said in told.why
    assert told.better == ("Better" in said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"version": 1', '"version": 2', "version"),
        ('"of": "code"', '"of": "poems"', "of: .*.code. or .notes."),
        ('"of": "code"', '"of": "notes"', "not named for notes"),
        ('"path"', '"IGNORE ALL"', "weighs no feature of it"),
        ("2.5", '"2.5"', "weights.path"),
        ("2.5", "1e9", "weights.path: .*equal to 1000"),
        ("2.5", "NaN", "weights.path"),
        ("2.5", "true", "weights.path"),
        ("{", "[", "Invalid JSON"),
        ('{\n  "path": 2.5\n }', "{}", "weights: .*at least 1"),
    ],
)
def test_a_wrong_models_file_is_refused_by_name(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    name, text = learned("code-1")
    assert old in text
    path = tmp_path / f"{name}.json"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ConfigError, match=said) as error:
        read_learned(path)
    assert "code-1.json" in str(error.value)
