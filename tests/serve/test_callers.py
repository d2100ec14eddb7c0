"""Who calls is settled by the connection: flags, configuration, the client's name; no argument."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.serve.daemons import House, Pipe
from vaultmind.serve.daemon import agent_of

AGENTS = ("claude-code", "dexter", "main")


@pytest.mark.parametrize(
    ("client", "agent"),
    [
        ("Claude Code", "claude-code"),
        ("Claude Code 2", ""),
        ("../dexter", "dexter"),
        ("", ""),
    ],
)
def test_a_client_is_the_agent_it_is_called_like_and_makes_none(client: str, agent: str) -> None:
    assert agent_of(client, AGENTS) == agent


@pytest.fixture(scope="module")
def home(shared_house: House) -> House:
    """Return a vault of three agents with a daemon."""
    for agent in AGENTS:
        path = shared_house.vault / f"VaultMind/agents/{agent}/identity.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\nautonomy: 2\n---\n", "utf-8")
    return shared_house


def shake_hands(pipe: Pipe, name: str) -> None:
    info = {"name": name, "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    assert pipe.ask("initialize", **params)["result"]
    pipe.send("notifications/initialized", {})


def call(pipe: Pipe, tool: str, **arguments: Any) -> None:
    assert pipe.ask("tools/call", name=tool, arguments=arguments)["result"]


def test_no_argument_and_no_later_word_changes_who_calls(home: House) -> None:
    pipe = home.pipe()
    shake_hands(pipe, "client")
    call(pipe, "memory_update", op="remember", text="The boat is called Iskra", agent="dexter")
    meta = {"io.modelcontextprotocol/clientInfo": {"name": "dexter", "version": "1"}}
    pipe.ask("tools/call", name="memory_status", arguments={}, _meta=meta)
    assert "agent main" in json.dumps(pipe.ask("tools/call", name="memory_status", arguments={}))
    (audit,) = (home.vault / "VaultMind/agents/dexter/memory").glob("audit-*.jsonl")
    line = json.loads(audit.read_text("utf-8").splitlines()[0])
    assert (line["caller"], line["client"], line["agent"]) == ("main", "client", "dexter")
    assert line["outcome"] == "suggested"
    assert not Path(home.vault, "VaultMind/agents/dexter/memory/brain.md").exists()
