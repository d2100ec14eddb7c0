"""`remember`, `forget` and `show`: outcomes, exit codes, and what is asked back."""

from __future__ import annotations

import pytest

from tests.cli.program import run
from tests.machine import Machine

OUTCOME = {"outcome", "agent", "section", "fact", "path", "block", "before", "message", "reason",
           "nearest", "hidden_messages", "archived", "redacted"}  # fmt: skip


@pytest.mark.parametrize(
    "command", [("remember", "I cross at dawn"), ("forget", "dawn"), ("show",)]
)
def test_a_slip_in_an_agents_name_makes_no_agent(
    machine: Machine, command: tuple[str, ...]
) -> None:
    done = run(machine, *command, "--agent", "bbo")
    assert done.code == 5
    assert "no agent 'bbo'" in done.err and "main" in done.err
    assert "vaultmind agents new bbo" in done.err
    assert not machine.brain("bbo").parent.exists()
