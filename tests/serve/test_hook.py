"""The hook as Claude Code runs it: a process, quick, silent, and harmless whatever happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import nursery
from tests.machine import Machine
from tests.nursery import Ended
from tests.session.transcripts import Script, left_in
from tests.waiting import until
from vaultmind.client import hook, wire
from vaultmind.session import uses

PATIENT = {"VAULTMIND_HOOK_SECONDS": "20"}
"""What these tests promise is not how fast a busy machine is."""


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "projects/p/5f1c-1.jsonl")


def run(house: Machine, event: str, given: object, *flags: str, **environment: str) -> Ended:
    """Run the hook with its JSON on stdin."""
    words = ["hook", "claude-code", event, "--vault", str(house.vault), *flags]
    text = given if isinstance(given, str) else json.dumps(given)
    variables = house.env | PATIENT | environment
    if house.forked:
        return nursery.run(words, variables, given=text)
    done = subprocess.run(
        [sys.executable, "-m", "vaultmind", *words],
        input=text,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def event_of(script: Script, **more: Any) -> dict[str, Any]:
    """Return what Claude Code gives on stdin."""
    paths = {"transcript_path": str(script.path), "cwd": str(script.path.parent)}
    return {"session_id": script.session_id, **paths, **more}


def told(done: Ended, event: str) -> str:
    """Return what Claude is told; the rest of the answer is as it must be."""
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    assert set(answer) == {"hookSpecificOutput"}
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == event
    return str(output["additionalContext"])


def quiet(done: Ended) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


def sessions(house: Machine) -> list[Path]:
    folder = house.vault / "VaultMind/agents/main/memory/sessions"
    return sorted(folder.glob("*.md")) if folder.is_dir() else []


def write_brain(house: Machine) -> None:
    brain = house.vault / "VaultMind/agents/main/memory/brain.md"
    brain.parent.mkdir(parents=True, exist_ok=True)
    brain.write_text("## User\n\n- Is called Anna ^a1b2\n", "utf-8")


def test_where_no_daemon_runs_the_start_waits_for_one_and_nothing_else_does(
    plain_house: Machine, script: Script
) -> None:
    house = plain_house
    write_brain(house)
    assert quiet(run(house, "Stop", event_of(script)))
    done = run(house, "SessionStart", event_of(script, source="startup"))
    assert "Is called Anna" in told(done, "SessionStart")
    script.user("Hello")
    at_home = {"prompt": "Hello", "transcript_path": "~/projects/p/5f1c-1.jsonl"}
    assert quiet(run(house, "UserPromptSubmit", event_of(script, **at_home)))
    # a prompt waits for no transcript that is being read: what hooks left is read behind it
    until(lambda: not left_in(house.config.state_dir), 30)
    assert len(sessions(house)) == 1


def test_what_was_said_before_a_kill_is_taken_down_once_all_the_same(
    house: Machine, script: Script
) -> None:
    house.begin()
    script.user("Said before the kill.")
    run(house, "Stop", event_of(script))
    house.kill()
    script.user("Said after the kill.")
    assert quiet(run(house, "SessionEnd", event_of(script, reason="other")))
    until(house.pid, 30)
    other = Script(script.path.with_name("other.jsonl"), "other")
    run(house, "SessionStart", event_of(other, source="startup"))
    (session,) = sessions(house)
    until(lambda: "state: ended" in session.read_text("utf-8"), 30)  # read behind the answer
    text = session.read_text("utf-8")
    assert text.count("> Said before") == text.count("> Said after") == 1


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_no_event_is_lost_with_a_configuration_and_a_daemon_that_hangs(
    house: Machine, script: Script, event: str
) -> None:
    config = house.vault.parent / "mine.toml"
    config.write_text("[index]\nwatch = false\n", "utf-8")
    state = str(house.config.state_dir)
    with wire.listen(state):
        done = run(house, event, event_of(script, source="startup", prompt="Hello"),
                   VAULTMIND_CONFIG=str(config), VAULTMIND_HOOK_SECONDS="0.001")  # fmt: skip
    assert quiet(done)
    (errand,) = left_in(Path(state))
    assert errand["transcript_path"] == str(script.path)
    assert errand["end"] == (event == "SessionEnd")


def test_the_messenger_imports_next_to_nothing(house: Machine, script: Script) -> None:
    code = (
        "import sys; from vaultmind.entry import main; sys.executable = '/bin/true'; "
        "code = main(['hook', 'claude-code', 'Stop', '--vault', sys.argv[1]]); "
        "print(code, len(sys.modules), *sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(house.vault)],
        input=json.dumps(event_of(script)), env=house.env | PATIENT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    code_, _, *modules = done.stdout.split()
    assert code_ == "0"
    heavy = {"click", "rich", "numpy", "mcp", "yaml", "pathlib", "dataclasses", "asyncio",
             "vaultmind.config", "vaultmind.app"}  # fmt: skip
    assert not heavy & set(modules)


def test_the_log_of_failures_says_nothing_of_what_was_said(
    shared_house: Machine, script: Script
) -> None:
    house = shared_house
    secret = event_of(script, prompt="My sister's name is Hildegard.", transcript_path="/x.txt")
    assert quiet(run(house, "UserPromptSubmit", secret))
    log = Path(house.config.state_dir, hook.LOG)
    assert "transcript_path" in log.read_text("utf-8")
    assert "Hildegard" not in log.read_text("utf-8") + house.log
    assert log.stat().st_mode & 0o077 == 0


# --- what leaves it ---------------------------------------------------------------------------


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
