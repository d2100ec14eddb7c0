"""A plan before a sub-agent's prompt: by the real messenger, and nothing where it cannot be."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tests.serve.daemons import House
from tests.serve.test_hook import run
from vaultmind.serve.ops.hooks import OPENING

PROMPT = "Find out how hot the oven bakes and say whether bread needs more."


def asked(house: House, prompt: str = PROMPT, **more: Any) -> dict[str, Any]:
    """Return what Claude Code gives on stdin before it starts a sub-agent."""
    task = {"description": "Ask the oven", "prompt": prompt, "subagent_type": "general-purpose"}
    return {
        "session_id": "5f1c-1",
        "transcript_path": str(house.vault.parent / "none.jsonl"),
        "cwd": str(house.vault),
        "hook_event_name": "PreToolUse",
        "tool_name": "Task",
        "tool_input": task,
        **more,
    }


def changed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the input that the sub-agent gets."""
    assert (done.returncode, done.stderr) == (0, "")
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "permissionDecision", "updatedInput"}
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "allow")
    return dict(output["updatedInput"])


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_a_sub_agent_reads_first_what_belongs_to_its_task(indexed_house: House, tool: str) -> None:
    given = asked(indexed_house, tool_name=tool)
    found = changed(run(indexed_house, "PreToolUse", given))
    text = found.pop("prompt")
    kept = dict(given["tool_input"])
    assert text.startswith(OPENING) and text.endswith(f"The task:\n\n{kept.pop('prompt')}")
    assert "230 degrees" in text and "Oven.md" in text
    assert found == kept, "all else of the input stays as it was"
    assert text.index("<<recalled") < text.index("230 degrees") < text.index("<<end")
