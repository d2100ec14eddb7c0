"""`vaultmind agents`: what each agent may do, and that only the person lets one do more."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import run_on_terminal
from tests.machine import Machine

ASKS = "autonomy: 3\npermissions:\n  write:\n    main: [brain, active_context]\n"
WORDS = ["autonomy 3 (in force: 2)", "main writing to brain and active_context"]


def identity(machine: Machine, name: str, front: str) -> Path:
    """Write an agent's identity.md as a person would."""
    path = machine.vault / f"VaultMind/agents/{name}/identity.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}---\nYou are {name}.\n", "utf-8")
    return path


def test_a_yes_on_the_terminal_or_the_flag_allows_it_and_it_stays(machine: Machine) -> None:
    identity(machine, "geralt", ASKS)
    allowed = run_on_terminal(machine, "agents", "allow", "geralt", types="y\n")
    assert "Allowed to geralt" in allowed
    one = machine.run("agents", "show", "geralt")
    assert (one["level"], one["writers"]) == (3, {"main": ["brain", "active_context"]})
    assert machine.run("agents", "allow", "geralt")["allowed"] == []
    identity(machine, "yennefer", ASKS)
    assert machine.run("agents", "allow", "yennefer", "--yes")["allowed"] == WORDS
    machine.stop()
    assert machine.run("agents", "show", "yennefer")["level"] == 3, "after a restart too"


def test_what_was_lowered_in_the_file_counts_at_once_and_rises_by_allow_only(
    machine: Machine,
) -> None:
    identity(machine, "triss", "autonomy: 0\n")
    assert machine.run("agents", "show", "triss")["level"] == 0
    identity(machine, "triss", "autonomy: 2\n")
    one = machine.run("agents", "show", "triss")
    assert (one["asked"], one["level"]) == (2, 0)
    machine.run("agents", "allow", "triss", "--yes")
    assert machine.run("agents", "show", "triss")["level"] == 2
    (line,) = machine.run("log", "--agent", "triss", "--op", "allow")["lines"]
    assert line["caller"] == "person" and "autonomy 2" in line["words"]
