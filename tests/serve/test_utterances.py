"""memory_update with the person's words: through real clients, and a real daemon."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine
from tests.serve.test_mcp import MAIN, call, text_of
from tests.serve.vaults import open_vault
from tests.waiting import until
from vaultmind.app import App
from vaultmind.session.log import SessionLog
from vaultmind.types import Caller, Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with open_vault(tmp_path) as opened:
        yield opened


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "vault", tmp_path / "state")
    machine.vault.mkdir()
    machine.begin()
    machine.run("init")
    yield machine
    machine.stop()


def say(app: App, words: str, caller: Caller = MAIN, **more: str) -> Any:
    return call(app, "memory_update", {"utterance": words, **more}, caller)


def test_what_memory_show_listed_is_not_guessed_among(app: App) -> None:
    call(app, "memory_show", {})
    told = text_of(say(app, "Forget that"))
    assert "Prefers short answers" in told
    assert "Prefers short answers" in app.reader.read(app.paths.brain("main")).text


def test_another_agents_memory_is_not_written_without_its_leave(app: App) -> None:
    before = (app.config.vault / app.paths.brain("jaskier")).read_bytes()
    assert text_of(say(app, "Tell Jaskier that I play the lute"))
    assert (app.config.vault / app.paths.brain("jaskier")).read_bytes() == before
    assert "Lubi ballady" in text_of(say(app, "Co Jaskier wie o balladach?"))


# --- a real daemon ------------------------------------------------------------------------


async def _say(machine: Machine, words: str, message_id: str) -> str:
    async with machine.client(mode="legacy") as client:
        arguments = {"utterance": words, "message_id": message_id}
        result = await client.call_tool("memory_update", arguments)
        return text_of(result)


def capture(machine: Machine, words: str, message_id: str) -> None:
    """Write a message into the session as a hook does that reads the transcript."""
    paths = VaultPaths(machine.vault)
    reader = VaultReader(paths, 8_000_000)
    writer = VaultWriter(paths)

    class Files:
        def save(self, relative: str, change: Any, caller: Caller, reason: str) -> object:
            return writer.edit(relative, change)

        def append(self, relative: str, text: str) -> object:
            return writer.append(relative, text)

        def keeps_records(self, agent: str) -> bool:
            return True

    from vaultmind.app import local_now

    log = SessionLog(Files(), reader, local_now, idle_minutes=30)
    log.log("main", Message("user", words, "", id=message_id))


def test_a_captured_message_and_its_relay_act_once_over_a_daemons_restart(
    machine: Machine,
) -> None:
    words = "Zapamiętaj, że w czwartki gram w szachy"
    capture(machine, words, "msg-1")
    first = asyncio.run(_say(machine, words, "msg-1"))
    assert "szachy" in machine.brain().read_text("utf-8"), first
    session = next((machine.vault / "VaultMind/agents/main/memory/sessions").iterdir())
    assert session.read_text("utf-8").count("szachy") == 1
    asyncio.run(_say(machine, "Zapomnij o tym", "msg-2"))
    machine.kill()
    until(lambda: not machine.pid())
    for number, again in (("msg-1", words), ("msg-2", "Zapomnij o tym")):
        assert "już" in asyncio.run(_say(machine, again, number))
    assert "szachy" not in machine.brain().read_text("utf-8")


def test_two_connections_at_the_same_moment_act_once(machine: Machine) -> None:
    for fact in ("I row on Sundays", "I have a cat"):
        asyncio.run(_say(machine, f"Remember that {fact}", fact))
    heard: list[str] = []
    barrier = threading.Barrier(2)

    async def tell() -> None:
        async with machine.client() as client:
            await asyncio.to_thread(barrier.wait)
            arguments = {"utterance": "Forget that", "message_id": "once"}
            result = await client.call_tool("memory_update", arguments)
            heard.append(text_of(result))

    threads = [threading.Thread(target=lambda: asyncio.run(tell())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted("already" in one for one in heard) == [False, True], heard
    brain = machine.brain().read_text("utf-8")
    assert "I row on Sundays" in brain and "cat" not in brain
    facts = json.dumps(machine.run("show"))
    assert "cat" not in facts
