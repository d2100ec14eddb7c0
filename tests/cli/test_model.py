"""`model`: as a person runs it, over the daemon."""

from __future__ import annotations

from tests.cli.program import run
from tests.machine import Machine


def test_the_models_are_listed_and_one_is_put_into_use_and_taken_back(machine: Machine) -> None:
    listed = run(machine, "model", "status")
    assert listed.code == 0, listed.err
    assert "shipped-code" in listed.out and "comes with the program" in listed.out
    assert "To learn from:" in listed.out
    assert {one["id"] for one in machine.run("model", "status")["models"]} >= {"shipped-use"}
    again = run(machine, "model", "activate", "shipped-code")
    assert again.code == 0 and "shipped-code" in again.out
    assert run(machine, "model", "activate", "mine").code == 5
    assert run(machine, "model", "rollback", "planner").code in (0, 5)


def test_a_training_says_what_came_of_it(machine: Machine) -> None:
    done = run(machine, "model", "train", "--kind", "ranker", "--since", "30d")
    assert done.code == 0, done.err
    assert "ranker" in done.out and "no model" in done.out
    at_once = machine.run("model", "train", "--no-wait", "--min-samples", "500")
    assert at_once["state"] in ("running", "done")
    assert run(machine, "model", "train", "--since", "soon").code == 2
