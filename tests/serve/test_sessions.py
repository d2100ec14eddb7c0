"""session_log over the real daemon: nothing that was answered is lost, whenever it is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress

from mcp import MCPError

from tests.machine import Machine
from vaultmind.vault.transcript import Transcript, parse_session


def on_disk(machine: Machine) -> Transcript:
    folder = machine.vault / "VaultMind/agents/main/memory/sessions"
    (file,) = folder.glob("*.md")
    return parse_session(file.read_text("utf-8"))


def ids(transcript: Transcript) -> list[str]:
    return [one.message.id for one in transcript.messages]


def test_a_daemon_killed_in_the_middle_loses_nothing_that_was_answered(house: Machine) -> None:
    house.begin()
    answered: list[str] = []
    told = [{"text": f"said {n}\n> and more", "id": f"id-{n}"} for n in range(60)]

    async def talk() -> None:
        async with house.client() as client:
            with suppress(MCPError):  # for the call that it died over
                for number, one in enumerate(told):
                    if number == 25:
                        threading.Timer(0.004, os.kill, (house.pid(), signal.SIGKILL)).start()
                    result = await client.call_tool("session_log", {"messages": [one]})
                    if result.is_error:
                        break
                    answered.append(one["id"])
            before = ids(on_disk(house))
            assert before[: len(answered)] == answered and len(answered) >= 25
            again = await client.call_tool("session_log", {"messages": told})
            assert not again.is_error

    asyncio.run(asyncio.wait_for(talk(), 90))
    transcript = on_disk(house)
    assert ids(transcript) == [one["id"] for one in told]
    assert not transcript.faults
