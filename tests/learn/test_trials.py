"""What episodes teach a planner, and a new model against the one in use."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.learn.made import NOW, OFFERED, heard, learned, many
from vaultmind.episodes.types import Event, Result
from vaultmind.errors import ConfigError
from vaultmind.learn.learning import read_learned
from vaultmind.learn.lessons import (
    EDITED,
    FREE_ROOM,
    LEAST_ROOM,
    MOST_ALIKE,
    Heard,
    learnt,
    plan_learner,
    plan_lessons,
)
from vaultmind.learn.trial import LEAST_TRIED, Case, Guard, Marks, rounds, tried, verdict
from vaultmind.planner.scorer import built_in


def right_of(one: Heard) -> str:
    return one.episode.events[0].path


def with_events(one: Heard, *events: Event) -> Heard:
    return Heard(replace(one.episode, events=(*one.episode.events, *events)), one.offers)


def moved(one: Heard, minutes: int, kind: str = "edit") -> Event:
    """Return an event of another file, so long after the plan."""
    time = (datetime.fromisoformat(one.offers[0].time) + timedelta(minutes=minutes)).isoformat()
    other = next(path for path in one.offers[0].files if path != right_of(one))
    return Event(kind, time, other)  # type: ignore[arg-type]


def test_what_was_edited_is_right_and_the_rest_of_the_offer_wrong() -> None:
    one = heard(1)
    (lesson,) = plan_lessons([one], NOW)
    told = dict(zip(lesson.places, lesson.right.tolist(), strict=True))
    assert told.pop(right_of(one)) == EDITED
    assert set(told.values()) == {0.0}
    assert len(told) == OFFERED - 1
    assert lesson.of == "code"


@pytest.mark.parametrize("outcome", ["unknown", "failed"])
def test_silence_and_failure_teach_nothing(outcome: Result) -> None:
    assert not plan_lessons([heard(1, outcome)], NOW)


def test_what_was_edited_before_the_plan_is_left_out() -> None:
    one = heard(1)
    early = moved(one, -3)
    (lesson,) = plan_lessons([with_events(one, early)], NOW)
    assert early.path not in lesson.places
    assert right_of(one) in lesson.places


def test_a_task_done_over_and_over_counts_as_a_few() -> None:
    one = heard(1)
    same = [Heard(replace(one.episode, id=f"{at}"), one.offers) for at in range(40)]
    assert len(plan_lessons(same, NOW)) == MOST_ALIKE


CODE = built_in("code")


def lessons(count: int, **more: str) -> list[Case]:
    return plan_lessons(many(count, **more), NOW)


def test_no_training_more_than_doubles_or_halves_a_weight_or_turns_its_sign() -> None:
    new = learnt("code", lessons(60), 1e-3).tolist()
    for after, before in zip(new, CODE.weights.values(), strict=True):
        size = abs(after)
        if not before:
            assert size <= FREE_ROOM
            continue
        assert after * before >= 0
        assert abs(before) / 2.001 <= size <= max(abs(before) * 2.001, LEAST_ROOM)


def test_what_is_tried_was_not_learnt_by_what_it_is_tried_with() -> None:
    found = lessons(40)
    made, first, told = tried(plan_learner("code", found, CODE), None)
    assert told.lessons == 24
    assert first == found[:36]
    new = learnt("code", found[:36]).tolist()
    assert [*made.values()] == pytest.approx(new, abs=1e-4)


def test_no_work_is_learnt_from_and_tried_on_in_one_round() -> None:
    tasks = [heard(at) for at in range(8)]
    again = [
        one._replace(episode=replace(one.episode, id=f"{at}-{one.episode.id}"))
        for at in range(5)
        for one in tasks
    ]
    cases = plan_lessons(again, NOW)
    assert len({one.work for one in cases}) == 8
    found = [*rounds([*cases, *lessons(40)[8:]], None)]
    assert found
    for learnt_from, later in found:
        assert not {one.work for one in learnt_from} & {one.work for one in later}
    assert tried(plan_learner("code", cases, CODE), None)[2].lessons <= 8


def test_a_plan_of_the_future_teaches_nothing() -> None:
    assert not plan_lessons([heard(81 * 24)], NOW)


LOW, HIGH = Marks(0.4, 0.2, 0.4), Marks(0.6, 0.2, 0.6)


@pytest.mark.parametrize(
    ("active", "new", "guards", "said"),
    [
        ([LOW] * 20, [HIGH] * 20, [], "Better"),
        (
            [LOW] * 20,
            [Marks(0.39, 0.2, 0.5)] * 20,
            [],
            "watched: MRR 0.400 to 0.390",
        ),
        ([LOW] * 20, [Marks(0.4, 0.2, 0.404)] * 20, [], "Not better by 0.005"),
        (
            [LOW] * 20,
            [Marks(0.6, 0.19, 0.6)] * 20,
            [],
            "watched: precision 0.200 to",
        ),
        ([LOW] * 20, [Marks(1.0, 0.2, 1.0)] + [LOW] * 19, [], "may be chance"),
        ([LOW] * 20, [HIGH] * 20, [Guard("all", 0.7, 0.68)], "all 0.700 to 0.680"),
        ([LOW], [HIGH], [], f"a trial needs {LEAST_TRIED}"),
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
        ('"of": "code"', '"of": "poems"', "of: .*.code. or .notes."),
        ('"of": "code"', '"of": "notes"', "not named for notes"),
        ('"path"', '"IGNORE ALL"', "weighs no feature of it"),
        ("2.5", "1e9", "weights.path: .*equal to 1000"),
        ("2.5", "NaN", "weights.path"),
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
