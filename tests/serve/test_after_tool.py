"""Around a tool: what leaves the hook and reaches the episode, and the plan that a task gets."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine
from tests.serve.test_hook import event_of, quiet, run
from tests.session.transcripts import Script, left_in
from tests.waiting import until
from vaultmind.serve.ops.hooks import OPENING
from vaultmind.session import uses

TASK = "Fix the temperature of the oven in the baking note"
PROMPT = "Find out how hot the oven bakes and say whether bread needs more."
SECRET = "ghp_0123456789abcdefABCDEF0123456789abcd"


def used(house: Machine, script: Script, tool: str, asked: Any, **more: Any) -> dict[str, Any]:
    """Return what Claude Code gives on stdin after a tool."""
    named = {"tool_name": tool, "tool_input": asked, "tool_response": {}, **more}
    id = f"toolu_{time.monotonic_ns()}"
    return event_of(script, cwd=str(house.vault), tool_use_id=id, **named)


def notes(house: Machine) -> str:
    folder = house.vault / "VaultMind/agents/main/episodes"
    return "\n".join(one.read_text("utf-8") for one in sorted(folder.glob("*.md")))


def left(house: Machine) -> list[str]:
    return [json.dumps(one) for one in left_in(house.config.state_dir) if "source" not in one]


def test_what_is_read_and_changed_goes_into_the_episode_of_the_prompt(
    shared_house: Machine, tmp_path: Path
) -> None:
    script = Script(tmp_path / "p/told.jsonl", "told")
    common = event_of(script, cwd=str(shared_house.vault))
    run(shared_house, "UserPromptSubmit", common | {"prompt": TASK})
    read = used(shared_house, script, "Read", {"file_path": str(shared_house.vault / "Oven.md")},
                tool_response={"type": "text", "file": {"content": f"230 {SECRET}"}})  # fmt: skip
    assert quiet(run(shared_house, "PostToolUse", read))
    assert quiet(run(shared_house, "PostToolUse", used(shared_house, script, "Edit", {
        "file_path": "Oven.md", "old_string": "230", "new_string": SECRET})))  # fmt: skip
    failed = used(shared_house, script, "Bash", {"command": f"TOKEN={SECRET} pytest -q"},
                  error="Exit code 1\n1 failed", is_interrupt=False)  # fmt: skip
    assert quiet(run(shared_house, "PostToolUseFailure", failed))
    assert quiet(run(shared_house, "SessionEnd", common | {"reason": "other"}))
    until(lambda: TASK in notes(shared_house) and "state: ended" in notes(shared_house))
    text = notes(shared_house)
    for wanted in ("read [[Oven.md]]", "edited [[Oven.md]]", "ran: pytest (failed)"):
        assert wanted in text
    assert SECRET[:12] not in text and "TOKEN" not in text
    until(lambda: not left(shared_house), 30)


# --- what leaves the hook ---------------------------------------------------------------------


def given(tool: str, asked: Any, answered: Any = None, **more: Any) -> dict[str, Any]:
    told = {"tool_name": tool, "tool_input": asked, "tool_response": answered}
    return told | {"session_id": "talk", "cwd": "/w", **more}


@pytest.mark.parametrize(
    ("tool", "asked", "answered", "kept"),
    [
        ("Read", {"file_path": "/w/a.py"}, {"file": {"content": "x" * 8}},
         {"reads": ["/w/a.py"], "chars": 8}),
        ("Edit", {"file_path": "a.py", "old_string": "s", "new_string": "t"}, {"oldString": "s"},
         {"edits": ["/w/a.py"]}),
        ("Grep", {"pattern": "p"}, {"mode": "content", "filenames": [],
                                    "content": "src/a.py:3:secret\nsrc/a.py:9:x\n12:y"},
         {"query": "p", "found": ["/w/src/a.py"]}),
        ("Read", {"file_path": "a\0b"}, {}, None),
        ("Bash", {"command": "ls -la && echo secret > x"}, {"stdout": "secret"}, None),
        ("WebFetch", {"url": "https://x.example/?key=secret"}, {}, None),
    ],
)  # fmt: skip
def test_paths_leave_the_hook_and_no_content(
    tool: str, asked: Any, answered: Any, kept: dict[str, Any] | None
) -> None:
    use = uses.reduced(given(tool, asked, answered), "PostToolUse")
    if kept is None:
        assert use is None
        return
    assert use is not None and "secret" not in json.dumps(use)
    assert {name: use[name] for name in use if name not in ("id", "at", "tool", "cwd")} == kept


# --- before a sub-agent's task ----------------------------------------------------------------


def changed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the input that the sub-agent gets."""
    assert (done.returncode, done.stderr) == (0, "")
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "permissionDecision", "updatedInput"}
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "allow")
    return dict(output["updatedInput"])


def test_a_sub_agent_reads_first_what_belongs_to_its_task(
    shared_house: Machine, tmp_path: Path
) -> None:
    task = {"description": "Ask the oven", "prompt": PROMPT, "subagent_type": "general-purpose"}
    given = used(shared_house, Script(tmp_path / "none.jsonl"), "Task", task)
    found = changed(run(shared_house, "PreToolUse", given))
    text = found.pop("prompt")
    kept = dict(given["tool_input"])
    assert text.startswith(OPENING) and text.endswith(f"The task:\n\n{kept.pop('prompt')}")
    assert "230 degrees" in text and "Oven.md" in text
    assert found == kept, "all else of the input stays as it was"
    assert text.index("<<recalled") < text.index("230 degrees") < text.index("<<end")
