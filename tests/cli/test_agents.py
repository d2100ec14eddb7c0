"""`vaultmind agents`: what each agent may do, and that only the person lets one do more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import run, run_on_terminal
from tests.machine import Machine

AGENT = {"name", "asked", "level", "level_words", "language", "facts", "sessions",
         "suggestions", "writers", "hidden_from", "waiting", "faults", "mark", "identity",
         "has_identity"}  # fmt: skip
ASKS = "autonomy: 3\npermissions:\n  write:\n    main: [brain, active_context]\n"
WORDS = ["autonomy 3 (in force: 2)", "main writing to brain and active_context"]


def identity(machine: Machine, name: str, front: str) -> Path:
    """Write an agent's identity.md as a person would."""
    path = machine.vault / f"VaultMind/agents/{name}/identity.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{front}---\nYou are {name}.\n", "utf-8")
    return path


def test_a_new_agent_has_an_identity_in_its_language_and_is_listed(machine: Machine) -> None:
    made = machine.run("agents", "new", "Jaskier", "--language", "pl")
    path = "VaultMind/agents/jaskier/identity.md"
    assert made["created"] == [path]
    assert "language: pl" in (machine.vault / path).read_text("utf-8")
    agents = {one["name"]: one for one in machine.run("agents", "list")["agents"]}
    assert set(agents["jaskier"]) == AGENT
    assert (agents["jaskier"]["level"], agents["jaskier"]["waiting"]) == (2, [])
    assert agents["jaskier"]["language"] == "pl"


def test_a_name_that_is_taken_or_is_none_makes_no_agent(machine: Machine) -> None:
    before = (machine.vault / "VaultMind/agents/main/identity.md").read_bytes()
    assert run(machine, "agents", "new", "main").code == 2
    assert run(machine, "agents", "new", "../x").code == 2
    assert (machine.vault / "VaultMind/agents/main/identity.md").read_bytes() == before
    done = run(machine, "agents", "show", "nobody")
    assert done.code == 5 and "vaultmind agents new nobody" in done.err


def test_show_says_in_words_what_one_agent_may_do(machine: Machine) -> None:
    identity(machine, "iris", "autonomy: 1\npermissions:\n  hidden_from: all\n")
    shown = run(machine, "agents", "show", "iris").out
    for words in ("1 suggest", "everybody", "only itself", "VaultMind/agents/iris/identity.md"):
        assert words in shown


def test_allow_shows_what_it_raises_and_does_nothing_without_a_yes(machine: Machine) -> None:
    identity(machine, "ciri", ASKS)
    done = run(machine, "agents", "allow", "ciri")
    assert done.code == 2 and "--yes" in done.err
    assert all(words in done.err for words in WORDS)
    assert machine.run("agents", "allow", "ciri", ok=(2,))["error"]["type"] == "UsageError"
    refused = run_on_terminal(machine, "agents", "allow", "ciri", types="n\n")
    assert WORDS[0] in refused and "Nothing was allowed." in refused
    assert machine.run("agents", "show", "ciri")["level"] == 2


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


def test_a_broken_identity_is_named_and_cannot_be_allowed(machine: Machine) -> None:
    identity(machine, "zoltan", "autonomy: boss\n")
    assert "boss" in run(machine, "agents", "list").out
    done = run(machine, "agents", "allow", "zoltan", "--yes")
    assert done.code == 2 and "boss" in done.err


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_status_and_doctor_say_who_asks_for_more_and_how_to_allow_it(
    machine: Machine, command: str
) -> None:
    identity(machine, "regis", "autonomy: 3\n")
    identity(machine, "cahir", "autonomy: boss\n")
    shown = run(machine, command).out
    assert "autonomy 3 (in force: 2)" in shown and "vaultmind agents allow regis" in shown
    assert "boss" in shown
