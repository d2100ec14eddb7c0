"""`suggestions list|accept|reject`: what waits is seen and settled from the command line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.app import open_app
from vaultmind.types import Caller, MemoryWrite

MAIN = Caller("agent", "main", "claude")


def suggest(machine: Machine, *writes: MemoryWrite) -> list[str]:
    """Let an agent of level 1 ask for changes, and return the ids of its suggestions."""
    machine.stop()
    app = open_app(machine.config)
    try:
        done = [app.gate.write(write) for write in writes]
    finally:
        app.close()
    machine.begin()
    assert {one.outcome for one in done} == {"suggested"}, done
    return [one.block for one in done]


def asked(text: str, **more: object) -> MemoryWrite:
    return MemoryWrite("remember", "main", MAIN, text, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def shy(machine: Machine) -> Iterator[None]:
    path = machine.vault / "VaultMind/agents/main/identity.md"
    path.write_text("---\nautonomy: 1\n---\n# Main\n", "utf-8")
    yield
    (machine.vault / "VaultMind/Suggestions.md").write_text("# Suggestions\n", "utf-8")


def test_all_of_them_are_settled_only_after_a_yes(machine: Machine) -> None:
    suggest(machine, asked("Owns a kite"), asked("Plays the piano"))
    assert run(machine, "suggestions", "accept").code == 2
    assert run(machine, "suggestions", "accept", "s-a", "--all").code == 2
    unasked = run(machine, "suggestions", "accept", "--all")
    assert unasked.code == 2 and "--yes" in unasked.err
    assert len(machine.run("suggestions", "list")["suggestions"]) == 2
    answers = machine.run("suggestions", "reject", "--all", "--yes")["answers"]
    assert [one["outcome"] for one in answers] == ["unchanged", "unchanged"]
    assert machine.run("suggestions", "reject", "--all", "--yes")["answers"] == []
