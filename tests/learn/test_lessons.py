"""learn/lessons: what an episode teaches of what a plan offered."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.learn.made import NOW, OFFERED, ended, heard
from vaultmind.episodes.types import Event, Result
from vaultmind.learn.planning import EDITED, MOST_ALIKE, Heard, plan_lessons


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


def test_a_failure_takes_back_what_the_same_task_taught() -> None:
    one = heard(1)
    failed = Heard(replace(ended(one, "failed").episode, id="x"), one.offers)
    assert not plan_lessons([one, failed], NOW)
    other = ended(heard(2), "failed")
    assert len(plan_lessons([one, other], NOW)) == 1


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


def worded(number: int, text: str, source: str = "shop") -> Heard:
    one = heard(number)
    task = replace(one.episode.task, text=text)
    return Heard(replace(one.episode, task=task, source=source), one.offers)


def test_tasks_that_are_nearly_the_same_are_one_task_to_a_trial() -> None:
    told = [
        worded(1, "bug: the access token is not refreshed after a 401 of the server"),
        worded(2, "the access token isn't refreshed after a 401 of the old server"),
        worded(3, "bug: the cart loses its lines when somebody logs out"),
        worded(4, "bug: the access token is not refreshed after a 401 of the server", "other"),
    ]
    first, second, third, fourth = (one.work for one in plan_lessons(told, NOW))
    assert first == second
    assert len({first, third, fourth}) == 3
