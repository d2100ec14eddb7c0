"""`model`: as a person runs it, over the daemon."""

from __future__ import annotations

from tests.cli.program import run
from tests.machine import Machine


def test_a_training_says_what_came_of_it(machine: Machine) -> None:
    done = run(machine, "model", "train", "--kind", "ranker", "--since", "30d")
    assert done.code == 0, done.err
    assert "ranker" in done.out and "no model" in done.out
    at_once = machine.run("model", "train", "--no-wait", "--min-samples", "500")
    assert at_once["state"] in ("running", "done")
    assert run(machine, "model", "train", "--since", "soon").code == 2
