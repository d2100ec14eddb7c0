"""A real Claude Code with our hooks and our server, against an API on loopback that has a script.

It is run where VAULTMIND_CLAUDE names the program (`.ci/run` fetches it where there is npm).
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import environment, run
from tests.machine import Machine
from tests.waiting import until

CLAUDE = os.environ.get("VAULTMIND_CLAUDE", "")
TOOLS = "Read,Edit,Bash(git *),mcp__vaultmind__memory_search"
pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(not CLAUDE, reason="VAULTMIND_CLAUDE names no Claude Code"),
]
Step = dict[str, Any]
ASKED = """\
Round the total of the cart to two digits and commit it. By the way, remember that our staging \
host is called heron."""


class Api(BaseHTTPRequestHandler):
    """Answers each turn with the next step of a script, and keeps what it was shown."""

    protocol_version = "HTTP/1.1"
    script: list[Step]
    shown: list[str]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = asked.get("messages", [])
        turn = sum(one["role"] == "assistant" for one in said)
        talks = "/messages" in self.path and "count" not in self.path and asked.get("tools")
        if talks:
            self.shown.append(json.dumps(said, ensure_ascii=False))
        steps = self.script if talks else []
        step = steps[turn] if turn < len(steps) else {"type": "text", "text": "Done."}
        start = {**step, "text": ""} if step["type"] == "text" else {**step, "input": {}}
        delta = (
            {"type": "text_delta", "text": step["text"]}
            if step["type"] == "text"
            else {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
        )
        stop = "end_turn" if step["type"] == "text" else "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m"}
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
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": given}


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


def prompt(machine: Machine, project: Path, address: str, words: str) -> None:
    """Run one conversation of Claude Code to its end."""
    env = environment(machine) | {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    command = [CLAUDE, "-p", words, "--permission-mode", "acceptEdits", "--allowedTools", TOOLS]
    subprocess.run(command, cwd=project, env=env, check=True, timeout=100)


def test_a_conversation_leaves_facts_a_session_and_an_episode_and_the_next_one_knows(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path / "vault", tmp_path / "state", VAULTMIND_HOOK_SECONDS="20")
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
    done = run(
        machine, "connect", "claude-code", "--hooks", "--write", "--link", *where, cwd=project
    )
    assert done.code == 0, done.err
    change = {"old_string": "return sum(cart)", "new_string": "return round(sum(cart), 2)"}
    script = (
        use("mcp__vaultmind__memory_search", query="oven temperature"),
        use("Read", file_path=str(cart)),
        use("Edit", file_path=str(cart), **change),
        use("Bash", command="git commit -qam 'Round the total'", description="commit"),
    )
    try:
        with api(*script) as (address, shown):
            prompt(machine, project, address, ASKED)
        assert "We deploy on Tuesdays" in shown[0]
        assert "it is done" in shown[0] and "staging host is called heron” (" in shown[0]
        assert "230 degrees" in shown[1]
        until(lambda: "heron" in machine.brain().read_text("utf-8"))
        until(lambda: any(machine.vault.rglob("episodes/*.md")))
        (episode,) = machine.vault.rglob("episodes/*.md")
        until(lambda: "Round the total" in episode.read_text("utf-8"))
        kept = episode.read_text("utf-8")
        assert "read" in kept and "edit" in kept and "cart.py" in kept
        sessions = [one.read_text("utf-8") for one in machine.vault.rglob("sessions/*.md")]
        (talk,) = [one for one in sessions if "claude-code:" in one]
        assert "aliases: [Round the total" in talk and "oven temperature" in talk
        with api() as (address, shown):
            prompt(machine, project, address, "What did we do last time?")
        assert "Round the total" in shown[0] and "heron" in shown[0]
    finally:
        machine.stop()
