"""learn/jobs: trainings in the background, one at a time."""

from __future__ import annotations

import threading

from tests.learn.made import NOW
from tests.waiting import until
from vaultmind.errors import NotFound
from vaultmind.learn.learning import Job, Jobs, Steps
from vaultmind.learn.trial import Trained


def jobs() -> Jobs:
    return Jobs(lambda: NOW)


def test_a_training_tells_how_far_it_is_and_what_came_of_it() -> None:
    told, goes_on = threading.Event(), threading.Event()

    def work(steps: Steps) -> tuple[Trained, ...]:
        steps.tell("reading episodes", 3, 10)
        told.set()
        assert goes_on.wait(10)
        return (Trained("planner", "code", "Better."),)

    held = jobs()
    job = held.begin("planner", work)
    assert job.state == "running"
    assert told.wait(10)
    assert held.last is not None
    assert (held.last.doing, held.last.done, held.last.total) == ("reading episodes", 3, 10)
    goes_on.set()
    done = held.wait(10)
    assert done is not None
    assert (done.id, done.state, done.results[0].why) == (job.id, "done", "Better.")


def test_one_runs_at_a_time_and_whoever_asks_gets_that_one() -> None:
    goes_on = threading.Event()

    def work(steps: Steps) -> tuple[Trained, ...]:
        assert goes_on.wait(10)
        return ()

    held = jobs()
    first = held.begin("planner", work)
    assert held.begin("ranker", work).id == first.id
    goes_on.set()
    held.wait(10)
    assert held.begin("ranker", work).id != first.id
    held.close()


def test_a_failure_is_told_and_the_next_training_begins() -> None:
    def wrong(steps: Steps) -> tuple[Trained, ...]:
        raise NotFound("There is nothing.")

    def broken(steps: Steps) -> tuple[Trained, ...]:
        raise ZeroDivisionError("by nothing")

    held = jobs()
    for work, said in ((wrong, "There is nothing."), (broken, "ZeroDivisionError: by nothing")):
        held.begin("planner", work)
        done = held.wait(10)
        assert done is not None
        assert (done.state, done.error) == ("failed", said)


def test_a_close_ends_what_runs_and_nothing_begins_after_it() -> None:
    began = threading.Event()

    def work(steps: Steps) -> tuple[Trained, ...]:
        began.set()
        while True:
            steps.tell("on and on")

    held = jobs()
    held.begin("planner", work)
    assert began.wait(10)
    held.close()
    until(lambda: held.last is not None and held.last.state == "cancelled")
    after: Job = held.begin("planner", work)
    assert after.state == "cancelled"
