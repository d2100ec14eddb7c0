"""Each pipe has a conversation of its own, over a killed daemon; a window's hooks and its pipe
share one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.serve.daemons import INITIALIZE, House, Pipe
from tests.serve.test_hook import event_of
from tests.session.transcripts import Script
from vaultmind.client import bridge
from vaultmind.vault.transcript import Transcript, parse_session


def greet(pipe: Pipe, client: str = "claude-ai") -> Pipe:
    info = {"clientInfo": {"name": client, "version": "1"}}
    assert pipe.ask("initialize", **(INITIALIZE | info))["result"]
    pipe.send("notifications/initialized", {})
    return pipe


def call(pipe: Pipe, tool: str, **arguments: Any) -> str:
    answer = pipe.ask("tools/call", name=tool, arguments=arguments)
    assert not answer.get("result", {"isError": True}).get("isError"), answer
    return str(answer["result"]["content"][0]["text"])


def log(pipe: Pipe, *texts: str, **more: Any) -> str:
    """Log messages and return the session that they are in."""
    told = call(pipe, "session_log", messages=[{"text": text} for text in texts], **more)
    return told.split(" in ")[1].split()[0]


def kill(house: House, *pipes: Pipe) -> None:
    """Kill the daemon, and see pipes come to the next one."""
    house.kill()
    for pipe in pipes:
        assert pipe.tools(), "asked again where the dead one's threads still held the socket"


def transcripts(house: House) -> dict[str, Transcript]:
    folder = house.vault / "VaultMind/agents/main/memory/sessions"
    return {one.stem: parse_session(one.read_text("utf-8")) for one in folder.glob("*.md")}


def texts(transcript: Transcript) -> list[str]:
    return [placed.message.text for placed in transcript.messages]


# --- two windows ------------------------------------------------------------------------------


def test_two_pipes_of_one_agent_share_no_message_and_no_end(house: House) -> None:
    one, two = greet(house.pipe()), greet(house.pipe())
    first, second = log(one, "The oak worktop."), log(two, "A Safari test.")
    assert first != second
    assert log(one, "We take oak.", end=True) == first
    assert log(two, "It fails still.") == second
    found = transcripts(house)
    assert texts(found[first]) == ["The oak worktop.", "We take oak."]
    assert texts(found[second]) == ["A Safari test.", "It fails still."]
    assert [found[name].meta.state for name in (first, second)] == ["ended", "open"]
    assert found[first].meta.conversation.startswith("pipe:")
    assert "no conversation open" in call(one, "session_log", end=True)


# --- a window with hooks ----------------------------------------------------------------------


def hook(house: House, script: Script, event: str) -> None:
    """Run a hook as Claude Code does: through a shell, from the process that starts the pipe."""
    given = event_of(script, prompt="And now?")
    program = f"{sys.executable} -m vaultmind hook claude-code {event} --vault {house.vault}; true"
    env = house.environment | {"VAULTMIND_HOOK_SECONDS": "20"}
    done = subprocess.run(["sh", "-c", program], input=json.dumps(given).encode(), env=env,
                          capture_output=True, check=True, timeout=60)  # fmt: skip
    assert not done.stderr


def test_a_windows_hooks_and_its_pipe_are_one_conversation(
    plain_house: House, tmp_path: Path
) -> None:
    house, script = plain_house, Script(tmp_path / "projects/p/5f1c-1.jsonl")
    house.running()
    hook(house, script, "SessionStart")
    house.environment[bridge.ID_VARIABLE] = "5f1c-1"
    pipe = greet(house.pipe(), "claude-code")
    del house.environment[bridge.ID_VARIABLE]
    stranger = greet(house.pipe(), "claude-code")
    session = log(pipe, "Said by a call.")
    assert log(stranger, "Of another process.") != session
    kill(house, pipe)
    assert log(pipe, "After a crash.") == session
    script.user("How hot must the bread oven be?")
    hook(house, script, "Stop")
    found = transcripts(house)
    assert found[session].meta.conversation == "claude-code:5f1c-1"
    assert found[session].meta.project == "p"
    said = {"How hot must the bread oven be?", "Said by a call.", "After a crash."}
    assert said <= set(texts(found[session]))
    assert len(found) == 2


# --- the operation ----------------------------------------------------------------------------
