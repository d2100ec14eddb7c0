"""`context`: the text as the agent gets it, what each part costs and why, and many at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.memory.folder import default_identity

PLANTED = "The boat is called Kormoran and it is moored at pier 17."


def talk(count: int) -> str:
    """Return a conversation of so many messages as a file to import; the third plants a fact."""
    lines = []
    for number in range(count):
        words = f"Message {number} goes on about bread, flour, the oven and a garden of weeds."
        line = {
            "session": "s1",
            "time": f"2026-03-05T10:{number // 60:02d}:{number % 60:02d}+01:00",
            "role": ("user", "assistant")[number % 2],
            "content": PLANTED if number == 2 else words,
            "id": f"D1:{number}",
        }
        lines.append(json.dumps(line))
    return "\n".join(lines)


def machine_with(folder: Path, talked: str) -> Machine:
    """Return a vault with an agent, a fact, and one conversation that was imported."""
    machine = Machine(folder / "vault", folder / "state")
    agent = machine.vault / "VaultMind/agents/main"
    (agent / "memory").mkdir(parents=True)
    (machine.vault / ".obsidian").mkdir()
    (agent / "identity.md").write_text(default_identity("main", "en"), "utf-8")
    (agent / "memory/brain.md").write_text("## User\n\n- Is called Anna\n", "utf-8")
    export = folder / "talk.jsonl"
    export.write_text(talked, "utf-8")
    machine.begin()
    machine.run("import", str(export))
    return machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One vault with one long conversation, and one daemon, for all tests of this module."""
    machine = machine_with(tmp_path_factory.mktemp("context"), talk(80))
    yield machine
    machine.stop()


def test_a_sub_agent_gets_its_runs_and_no_conversation(machine: Machine) -> None:
    folder = machine.vault / "VaultMind/conversations/scheduler_daily"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"role": "user", "type": "text", "content": "Summarise the day."},
        {"role": "assistant", "type": "text", "content": "The oven was fired twice."},
    ]
    (folder / "2026-03-05.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    built = machine.run("context", "Summarise today.", "--task", "daily")
    names = [one["name"] for one in built["parts"]]
    assert "history" in names and not {"earlier", "summary"} & set(names)
    assert "fired twice" in run(machine, "context", "Go.", "--task", "daily").out
    assert "Kormoran" not in str(built)
    mistyped = run(machine, "context", "Go.", "--task", "dayly")
    assert "There are no runs of the task 'dayly'; there are runs of daily." in mistyped.err
    with (folder / "2026-03-06.jsonl").open("w", encoding="utf-8") as file:
        file.write(json.dumps(lines[0]))
    shown = run(machine, "context", "Go.", "--task", "daily", "--explain").out
    assert "it is unfinished" in shown
