"""Many at once on one brain: every fact there once, the audit complete."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import Machine
from tests.memory.conftest import read_audit
from vaultmind.client.client import Client
from vaultmind.memory.audit import AuditLine
from vaultmind.memory.brain import parse_brain
from vaultmind.types import PERSON, Caller
from vaultmind.vault.paths import VaultPaths

THREADS, CLIENTS, EACH = 16, 4, 3
TOPICS = (
    "plum tree", "red bicycle", "bread oven", "tin whistle", "chess board", "old barn",
    "blue kayak", "walnut desk", "film camera", "stamp album", "garden shed", "brass lamp",
    "wool coat", "iron kettle", "clay pipe", "oak ladder",
)  # fmt: skip
FACTS = [f"Owns a {topic}" for topic in TOPICS]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path / "vault", tmp_path / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
    machine.begin()
    machine.run("init")
    yield machine
    machine.stop()


def asked_of(number: int) -> list[str]:
    """Return what one writer writes: each fact is asked for by several."""
    return random.Random(number).sample(FACTS, EACH)


def write_from_threads(machine: Machine, start: threading.Barrier) -> list[threading.Thread]:
    """Write from threads, each over a connection of its own: agents and the person."""

    def write(number: int) -> None:
        caller = PERSON if number % 4 == 0 else Caller("agent", "main", f"thread-{number}")
        with Client.connect(machine.config, caller) as client:
            start.wait(30)
            for fact in asked_of(number):
                client.call("memory_update", {"op": "remember", "text": fact, "agent": "main"})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    return threads


async def write_from_clients(machine: Machine, start: threading.Barrier) -> None:
    """Write from MCP clients, each through a pipe of its own, as Claude does."""
    ready = asyncio.Barrier(CLIENTS)

    async def write(number: int) -> None:
        async with machine.client() as client:
            if await ready.wait() == 0:
                await asyncio.to_thread(start.wait, 30)
            for fact in asked_of(THREADS + number):
                done = await client.call_tool("memory_update", {"op": "remember", "text": fact})
                assert not done.is_error

    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(write(number))


def facts_kept(machine: Machine) -> Counter[str]:
    """Return how often each fact stands in brain and archive together."""
    memory = machine.brain().parent
    texts = [(memory / name) for name in ("brain.md", "brain_archive.md")]
    found = [path.read_text("utf-8") for path in texts if path.exists()]
    return Counter(fact.text for text in found for fact in parse_brain(text).all())


def asked_for(lines: tuple[AuditLine, ...]) -> Counter[str]:
    return Counter(line.after for line in lines if line.op == "remember")


def test_sixteen_threads_and_four_clients_write_every_fact_once(machine: Machine) -> None:
    start = threading.Barrier(THREADS + 1)
    threads = write_from_threads(machine, start)
    asyncio.run(write_from_clients(machine, start))
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()

    wanted = Counter(fact for n in range(THREADS + CLIENTS) for fact in asked_of(n))
    assert facts_kept(machine) == Counter(set(wanted)), "every fact there once"
    lines = read_audit(VaultPaths(machine.vault), "main")
    assert asked_for(lines) == wanted, "a line for every request, written or known already"
