"""The thin pipe: a client never waits for what will not come, each pipe has a conversation of its
own, and who calls is settled by the connection.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.machine import CLIENT, INITIALIZE, Machine, Pipe
from tests.serve.test_hook import event_of
from tests.session.transcripts import Script
from vaultmind.client import bridge
from vaultmind.vault.transcript import Transcript, parse_session


def log(pipe: Pipe, *texts: str, **more: bool) -> str:
    """Log messages and return the session that they are in."""
    told = pipe.call("session_log", messages=[{"text": text} for text in texts], **more)
    return told.split(" in ")[1].split()[0]


def transcripts(house: Machine) -> dict[str, Transcript]:
    folder = house.vault / "VaultMind/agents/main/memory/sessions"
    return {one.stem: parse_session(one.read_text("utf-8")) for one in folder.glob("*.md")}


def texts(transcript: Transcript) -> list[str]:
    return [placed.message.text for placed in transcript.messages]


def test_both_eras_of_the_protocol_pass_over_a_kill(house: Machine) -> None:
    pipe, old = house.pipe(), house.pipe().shake_hands()
    before = old.tools()
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    found = pipe.ask("server/discover", _meta=meta)
    assert found["result"]["supportedVersions"]
    house.kill()
    tools = pipe.ask("tools/list", _meta=meta)["result"]["tools"]
    assert "memory_search" in {tool["name"] for tool in tools}
    assert old.tools() == before, "the handshake was said again, and its answer kept back"


def test_a_question_the_daemon_died_over_is_answered_in_words(house: Machine) -> None:
    pipe = house.pipe().shake_hands()
    pid = house.pid()
    os.kill(pid, signal.SIGSTOP)
    pipe.send("tools/call", {"name": "memory_status", "arguments": {}}, "seven")
    pipe.send("tools/list", {}, "eight")
    os.kill(pid, signal.SIGKILL)
    answers = {answer["id"]: answer for answer in (pipe.read(), pipe.read())}
    assert "stopped while it worked on this (tools/call)" in answers["seven"]["error"]["message"]
    assert answers["eight"]["result"]["tools"], "what changes nothing is asked again"


def test_answers_that_are_due_arrive_after_stdin_has_ended(shared_house: Machine) -> None:
    pipe = shared_house.pipe()
    pipe.send("initialize", INITIALIZE, 1)
    pipe.stdin.close()
    assert pipe.read()["id"] == 1
    assert pipe.process.wait(5) == 0


# --- who calls, and in which conversation -----------------------------------------------------


def test_no_argument_and_no_later_word_changes_who_calls(shared_house: Machine) -> None:
    dexter = shared_house.vault / "VaultMind/agents/dexter"
    dexter.mkdir(parents=True)
    (dexter / "identity.md").write_text("---\nautonomy: 2\n---\n", "utf-8")
    pipe = shared_house.pipe().shake_hands("client")
    pipe.call("memory_update", op="remember", text="The boat is called Iskra", agent="dexter")
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "dexter", "version": "1"}}
    pipe.ask("tools/call", name="memory_status", arguments={}, _meta=meta)
    assert "agent main" in pipe.call("memory_status")
    (audit,) = (dexter / "memory").glob("audit-*.jsonl")
    line = json.loads(audit.read_text("utf-8").splitlines()[0])
    assert (line["caller"], line["client"], line["agent"]) == ("main", "client", "dexter")
    assert line["outcome"] == "suggested"
    assert not (dexter / "memory/brain.md").exists()


def test_two_pipes_of_one_agent_share_no_message_and_no_end(house: Machine) -> None:
    one, two = (house.pipe().shake_hands("claude-ai") for _ in range(2))
    first, second = log(one, "The oak worktop."), log(two, "A Safari test.")
    assert first != second
    assert log(one, "We take oak.", end=True) == first
    assert log(two, "It fails still.") == second
    found = transcripts(house)
    assert texts(found[first]) == ["The oak worktop.", "We take oak."]
    assert texts(found[second]) == ["A Safari test.", "It fails still."]
    assert [found[name].meta.state for name in (first, second)] == ["ended", "open"]
    assert "no open conversation" in one.call("session_log", end=True)


def hook(house: Machine, script: Script, event: str) -> None:
    """Run a hook as Claude Code does: through a shell, from the process that starts the pipe."""
    given = event_of(script, prompt="And now?")
    program = f"{sys.executable} -m vaultmind hook claude-code {event} --vault {house.vault}; true"
    env = house.env | {"VAULTMIND_HOOK_SECONDS": "20"}
    done = subprocess.run(["sh", "-c", program], input=json.dumps(given).encode(), env=env,
                          capture_output=True, check=True, timeout=60)  # fmt: skip
    assert not done.stderr


def test_a_windows_hooks_and_its_pipe_are_one_conversation(
    plain_house: Machine, tmp_path: Path
) -> None:
    house, script = plain_house, Script(tmp_path / "projects/p/5f1c-1.jsonl")
    house.begin()
    hook(house, script, "SessionStart")
    house.env[bridge.ID_VARIABLE] = "5f1c-1"
    pipe = house.pipe().shake_hands("claude-code")
    del house.env[bridge.ID_VARIABLE]
    stranger = house.pipe().shake_hands("claude-code")
    session = log(pipe, "Said by a call.")
    assert log(stranger, "Of another process.") != session
    house.kill()
    assert log(pipe, "After a crash.") == session
    script.user("How hot must the bread oven be?")
    hook(house, script, "Stop")
    found = transcripts(house)
    assert found[session].meta.conversation == "claude-code:5f1c-1"
    assert found[session].meta.project == "p"
    said = {"How hot must the bread oven be?", "Said by a call.", "After a crash."}
    assert said <= set(texts(found[session]))
    assert len(found) == 2
