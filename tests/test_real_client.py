"""A real Claude Code with our hooks and our server, against an API on loopback that has a script.

It is run where VAULTMIND_CLAUDE names the program (`.ci/run` fetches it where there is npm).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import environment, run
from tests.machine import Machine
from tests.waiting import until

CLAUDE = os.environ.get("VAULTMIND_CLAUDE", "")
TOOLS = "Read,Edit,Agent,Bash(git *),mcp__vaultmind__memory_search"
pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(not CLAUDE, reason="VAULTMIND_CLAUDE names no Claude Code"),
]
Step = dict[str, Any]
ASKED = """\
Round the total of the cart to two digits and commit it. By the way, remember that our staging \
host is called heron."""
SLOW = "Does the cart hold more than ten things?"
OFFLINE = {"ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
NUMBERS = count()
DONE = {"type": "text", "text": "Done."}


class Api(BaseHTTPRequestHandler):
    """Answers with the next step of a script, and keeps what it was shown."""

    protocol_version = "HTTP/1.1"
    script: list[Step]
    shown: list[str]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = json.dumps(asked.get("messages"), ensure_ascii=False)
        talks = "/messages" in self.path and "count" not in self.path and asked.get("tools")
        compacts = "Tool calls will be rejected" in said
        if talks:
            self.shown.append(said)
        step = self.script.pop(0) if talks and self.script and not compacts else DONE
        start = {**step, "text": ""} if step["type"] == "text" else {**step, "input": {}}
        delta = (
            {"type": "text_delta", "text": step["text"]}
            if step["type"] == "text"
            else {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
        )
        stop = "end_turn" if step["type"] == "text" else "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{len(self.shown)}",
            "type": "message",
            "role": "assistant",
            "model": "m",
        }
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage},
            {"type": "message_stop"},
        ]
        lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events]
        self._send("".join(lines) if talks else '{"input_tokens": 1}', stream=bool(talks))

    def do_GET(self) -> None:
        self._send("{}")

    do_HEAD = do_GET

    def _send(self, text: str, *, stream: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", f"{'text/event-stream' if stream else 'application/json'}")
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def use(name: str, **given: str) -> Step:
    return {"type": "tool_use", "id": f"toolu_{next(NUMBERS)}", "name": name, "input": given}


@contextmanager
def api(*script: Step) -> Iterator[tuple[str, list[str]]]:
    """Answer on loopback; yield the address, and what is shown to the model, request by request."""
    shown: list[str] = []
    handler = type("Scripted", (Api,), {"script": [*script], "shown": shown})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", shown
    server.shutdown()
    server.server_close()


def converse(machine: Machine, project: Path, address: str, *turns: str, **settings: str) -> None:
    """Hold one conversation with Claude Code, turn after turn, to its end."""
    env = environment(machine) | OFFLINE | {"ANTHROPIC_BASE_URL": address} | settings
    command = [CLAUDE, "-p", "--verbose", "--permission-mode=acceptEdits", "--allowedTools", TOOLS]
    command += ["--input-format=stream-json", "--output-format=stream-json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=project, env=env, **pipes) as claude:
        for words in turns:
            said = {"type": "user", "message": {"role": "user", "content": words}}
            claude.stdin.write(json.dumps(said) + "\n")
            claude.stdin.flush()
            next(line for line in claude.stdout if '"type":"result"' in line)
        claude.communicate(timeout=100)
    assert claude.returncode == 0


@pytest.mark.timeout(300)
def test_a_conversation_leaves_facts_a_session_and_an_episode_and_the_next_one_knows(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path / "vault", tmp_path / "state", VAULTMIND_HOOK_SECONDS="60")
    machine.furnish({"Oven.md": "# Oven\n\nThe oven bakes at 230 degrees.\n"})
    project = tmp_path / "shop"
    cart = project / "cart.py"
    project.mkdir()
    cart.write_text("def total(cart):\n    return sum(cart)\n")
    for line in ("init -q", "config user.email a@b", "config user.name A", "add -A"):
        subprocess.run(["git", *line.split()], cwd=project, check=True)
    subprocess.run(["git", "commit", "-qm", "first"], cwd=project, check=True)
    where = ("--vault", str(machine.vault))
    run(machine, "init", *where)
    run(machine, "remember", "We deploy on Tuesdays", *where)
    flags = ("--hooks", "--write", "--link", *where)
    assert run(machine, "connect", "claude-code", *flags, cwd=project).code == 0
    own = project / ".claude/settings.local.json"  # a machine at a tenth of its speed is no fault
    own.write_text(own.read_text("utf-8").replace('"timeout": 10', '"timeout": 90'), "utf-8")
    change = {"old_string": "return sum(cart)", "new_string": "return round(sum(cart), 2)"}
    script = (
        use("Agent", description="look", prompt="Say what the total of the cart is."),
        use("Read", file_path=str(cart)),
        {"type": "text", "text": "It adds the prices up."},
        use("mcp__vaultmind__memory_search", query="oven temperature"),
        use("Read", file_path=str(cart)),
        use("Edit", file_path=str(cart), **change),
        use("Bash", command="git commit -qam 'Round the total'", description="commit"),
    )
    machine.stop()  # the first hook finds no daemon
    try:
        with api(*script) as (address, shown):
            converse(machine, project, address, ASKED, "/compact", "What is left to do?")
        assert "We deploy on Tuesdays" in shown[0]
        assert "it is done" in shown[0] and "staging host is called heron” (" in shown[0]
        assert "Read this first" in shown[1] and "def total(cart)" in shown[1]
        assert "230 degrees" in shown[4]
        # after the compaction the memory's summary stands beside the client's
        assert "continued" in shown[-1] and "What was said so far" in shown[-1]
        until(lambda: "heron" in machine.brain().read_text("utf-8"))
        until(lambda: any(machine.vault.rglob("episodes/*.md")))
        (episode,) = machine.vault.rglob("episodes/*.md")
        until(lambda: "committed `cart.py`" in episode.read_text("utf-8"))
        kept = episode.read_text("utf-8")
        assert all(it in kept for it in ("# Round the total", "read `cart.py`", "edited `cart.py`"))
        talk = kept_talk(machine, "Round the total")
        assert all(it in talk for it in ("aliases: [Round", "oven temperature", "It adds"))
        assert "230 degrees" not in talk
        pid = machine.pid()
        with api() as (address, shown):
            converse(machine, project, address, "What did we do last time?")
        assert "Round the total" in shown[0] and "heron" in shown[0]
        os.kill(pid, signal.SIGSTOP)  # a daemon that is slow keeps nobody from working
        try:
            with api() as (address, shown):
                converse(machine, project, address, SLOW, VAULTMIND_HOOK_SECONDS="1")
        finally:
            os.kill(pid, signal.SIGCONT)
        until(lambda: "Done." in kept_talk(machine, SLOW))
    finally:
        machine.stop()


def kept_talk(machine: Machine, words: str) -> str:
    """Return the session in which the person said something; empty while there is none."""
    sessions = (one.read_text("utf-8") for one in machine.vault.rglob("sessions/*.md"))
    return next((one for one in sessions if f"> {words}" in one), "")
