"""`episode`, `feedback` and `purge`: as a person or a script runs them, over the daemon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.program import Done, run
from tests.machine import Machine

TASK = "bug: the plum tree's note names the wrong gate"
EPISODE = {"new", "judged", "message", "episode", "agent", "source", "path", "session_id", "state",
           "task", "intent", "task_fingerprint", "started", "ended", "outcome", "note",
           "event_count"}  # fmt: skip


@pytest.fixture
def begun(machine: Machine) -> Iterator[dict[str, Any]]:
    """Return an episode that runs; it is over afterwards."""
    answer = machine.run("episode", "start", "--task", TASK, "--session", "s1")
    yield answer
    machine.run("episode", "end", "--episode", answer["episode"])


def told(machine: Machine, *words: str) -> Done:
    done = run(machine, *words)
    assert done.code == 0, done.err
    return done


def test_a_hit_is_judged_by_the_same_command(machine: Machine) -> None:
    machine.run("index")
    (hit, *_) = machine.run("search", "plum tree", "--kind", "note")["hits"]
    judged = machine.run("feedback", "--query", "plum tree", "--hit", hit["id"], "--useful")
    (one,) = judged["feedback"]
    assert (one["path"], one["verdict"]) == ("Garden.md", "useful")
    wrong = told(machine, "feedback", "--query", "plum tree", "--hit", hit["id"], "--wrong")
    assert "Garden.md" in wrong.out
