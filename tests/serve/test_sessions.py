"""session_log over the real daemon: kills, two clients at once, a person's hand in between."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine
from vaultmind.app import App
from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve.operations import Call, run_operation
from vaultmind.types import Caller
from vaultmind.vault.transcript import (
    Transcript,
    parse_session,
)

MAIN = Call(Caller("agent", "main"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    vault = tmp_path / "notes"
    (vault / ".obsidian").mkdir(parents=True)
    made = Machine(vault, tmp_path / "state")
    yield made  # type: ignore[misc]
    made.stop()


def _log(app: App, call: Call = MAIN, **args: Any) -> dict[str, Any]:
    return run_operation(app, call, "session_log", args, "mcp" if call is MAIN else "cli")


def _said(*texts: str, **more: str) -> list[dict[str, str]]:
    return [{"text": text, **more} for text in texts]


def _on_disk(machine: Machine, agent: str = "main") -> list[Transcript]:
    folder = machine.vault / f"VaultMind/agents/{agent}/memory/sessions"
    files = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return [parse_session(file.read_text("utf-8")) for file in files]


# --- the operation ----------------------------------------------------------------------------


def test_a_session_that_is_named_must_be_open(app: App) -> None:
    session = _log(app, messages=_said("one"))["session"]
    assert _log(app, messages=_said("two"), session=session)["session"] == session
    assert _log(app, end=True, session=session)["ended"]
    with pytest.raises(BadArgument, match="open"):
        _log(app, messages=_said("three"), session=session)
    with pytest.raises(NotFound):
        _log(app, messages=_said("three"), session="2020-01-01_001")
    with pytest.raises(BadArgument, match="session"):
        _log(app, messages=_said("three"), session="../../x")


# --- the daemon -------------------------------------------------------------------------------


def test_a_daemon_killed_in_the_middle_loses_nothing_that_was_answered(machine: Machine) -> None:
    machine.begin()
    answered: list[str] = []
    told = [{"text": f"said {n}\n> and more", "id": f"id-{n}"} for n in range(60)]

    async def talk() -> None:
        async with machine.client() as client:
            for number, one in enumerate(told):
                if number == 25:
                    threading.Timer(0.004, os.kill, (machine.pid(), signal.SIGKILL)).start()
                result = await client.call_tool("session_log", {"messages": [one]})
                if result.is_error:
                    return
                answered.append(one["id"])

    with suppress(Exception):  # the pipe may hang up, and the client says so in its own way
        asyncio.run(asyncio.wait_for(talk(), 40))
    assert len(answered) >= 25
    before = [one.message.id for transcript in _on_disk(machine) for one in transcript.messages]
    assert before[: len(answered)] == answered
    file = machine.vault.parent / "talk.jsonl"
    file.write_text("\n".join(map(json.dumps, told)), "utf-8")
    body = machine.run("session", "log", "--file", str(file))
    assert body["new"] + body["known"] == 60
    [transcript] = _on_disk(machine)
    assert [one.message.id for one in transcript.messages] == [one["id"] for one in told]
    assert not transcript.faults
