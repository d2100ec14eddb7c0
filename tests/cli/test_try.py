"""`vaultmind minion try`: what a model would take from a session, and nothing is written."""

from __future__ import annotations

from tests.cli.program import run
from tests.machine import Machine

SAID = "I'm vegetarian, have been since school."


def test_a_session_is_read_and_left_as_it_was(machine: Machine) -> None:
    machine.run("session", "log", SAID)
    machine.run("session", "end")
    memory = machine.vault / "VaultMind/agents/main/memory"
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}
    found = machine.run("minion", "try")
    (done,) = found["sessions"]
    assert done["by"] == "extractive" and found["took_ms"] > 0
    assert any("vegetarian" in fact["fact"] for fact in done["facts"])
    assert {path: path.read_bytes() for path in memory.rglob("*.md")} == before
    shown = run(machine, "minion", "try", done["session"])
    assert "vegetarian" in shown.out and "Nothing was written" in shown.out


def test_what_is_no_session_or_no_model_is_said(machine: Machine) -> None:
    assert "2026-02-20_001" in run(machine, "minion", "try", "yesterday").err
    assert "There is no model file" in run(machine, "minion", "try", "--model", "gone.gguf").out
