"""The thin pipe: a client never waits for what will not come, and leaves nothing behind."""

from __future__ import annotations

import os
import signal

import pytest

from tests.serve.daemons import CLIENT, INITIALIZE, House
from vaultmind.entry import thin_flags


def test_both_eras_of_the_protocol_pass(house: House) -> None:
    pipe = house.pipe()
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


def test_after_a_kill_the_next_line_works(house: House) -> None:
    pipe = house.pipe()
    pipe.shake_hands()
    before = pipe.tools()
    for _ in range(2):
        house.kill()
        assert pipe.tools() == before, "the handshake was said again, and its answer kept back"


def test_a_question_the_daemon_died_over_is_answered_in_words(house: House) -> None:
    pipe = house.pipe()
    pipe.shake_hands()
    pid = house.pid()
    os.kill(pid, signal.SIGSTOP)
    pipe.send("tools/call", {"name": "memory_status", "arguments": {}}, "seven")
    pipe.send("tools/list", {}, "eight")
    os.kill(pid, signal.SIGKILL)
    answers = {answer["id"]: answer for answer in (pipe.read(), pipe.read())}
    assert "stopped while it worked on this (tools/call)" in answers["seven"]["error"]["message"]
    assert answers["eight"]["result"]["tools"], "what changes nothing is asked again"


def test_answers_that_are_due_arrive_after_stdin_has_ended(shared_house: House) -> None:
    pipe = shared_house.pipe()
    pipe.send("initialize", INITIALIZE, 1)
    pipe.stdin.close()
    assert pipe.read()["id"] == 1
    assert pipe.process.wait(5) == 0


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["mcp"], {}),
        (["--vault=/v", "mcp", "--state-dir", "s"], {"vault": "/v", "state_dir": "s"}),
        (["mcp", "--help"], None),
        (["mcp", "--agent"], None),
        (["search", "mcp"], None),
    ],
)
def test_only_a_plain_mcp_command_is_the_pipe(
    arguments: list[str], flags: dict[str, str] | None
) -> None:
    found, commands = thin_flags(arguments)
    assert (found if commands == ["mcp"] else None) == flags
