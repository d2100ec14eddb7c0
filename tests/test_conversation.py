"""A whole conversation with the memory, in three languages, as Claude Desktop has it: over stdio,
in the older protocol era; and a person who approves by editing a note.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.machine import Machine, text_of
from tests.waiting import until

DESKTOP = "legacy"


@dataclass(frozen=True)
class Script:
    """What a person says, and what must then be so."""

    language: str
    remember: str
    fact: str
    ask: str
    correct: str
    corrected: str
    forget: str
    said: tuple[str, str, str]
    """A word of each answer, in the person's language: remembered, corrected, forgotten."""


SCRIPTS = (
    Script(
        "en",
        "Please remember that I live in Gdynia",
        "I live in Gdynia",
        "What do you know about me?",
        "That's not right, I live in Toronto",
        "I live in Toronto",
        "Forget that I live in Toronto",
        ("Remembered", "Corrected", "Forgotten"),
    ),
    Script(
        "pl",
        "Zapamiętaj proszę, że mieszkam w Gdyni",
        "mieszkam w Gdyni",
        "Co o mnie wiesz?",
        "Popraw: mieszkam w Krakowie",
        "mieszkam w Krakowie",
        "Zapomnij, że mieszkam w Krakowie",
        ("Zapamiętałem", "Poprawione", "Zapomniane"),
    ),
    Script(
        "ru",
        "Запомни, пожалуйста, что я живу в Праге",
        "я живу в Праге",
        "Что ты обо мне знаешь?",
        "Исправь: я живу в Таллине",
        "я живу в Таллине",
        "Забудь, что я живу в Таллине",
        ("Запомнил", "Исправлено", "Забыто"),
    ),
)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    vault = tmp_path / "Zapiski 📓"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Trip.md").write_text("# Trip\n\nPack the tent.\n", "utf-8")
    machine = Machine(vault, tmp_path / "state")
    machine.begin()
    yield machine
    machine.stop()


async def say(client: Any, words: str) -> str:
    """Relay a person's words as an agent does; return the answer."""
    result = await client.call_tool("memory_update", {"utterance": words})
    assert not result.is_error, text_of(result)
    return text_of(result)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda one: one.language)
def test_remember_ask_correct_forget_verify(machine: Machine, script: Script) -> None:
    async def talk() -> None:
        async with machine.client(mode=DESKTOP) as client:
            told = await say(client, script.remember)
            assert script.said[0] in told
            assert script.fact in machine.brain().read_text("utf-8")

            told = await say(client, script.ask)
            assert script.fact in told

            told = await say(client, script.correct)
            assert script.said[1] in told
            brain = machine.brain().read_text("utf-8")
            assert script.corrected in brain and script.fact not in brain

            told = await say(client, script.forget)
            assert script.said[2] in told
            assert script.corrected not in machine.brain().read_text("utf-8")

            for words in (script.fact, script.corrected):
                found = await client.call_tool("memory_search", {"query": words})
                assert words not in text_of(found)
            shown = text_of(await client.call_tool("memory_show", {}))
            assert script.corrected not in shown and script.fact not in shown

    asyncio.run(talk())


def test_a_person_approves_by_editing_the_note(machine: Machine) -> None:
    identity = machine.vault / "VaultMind/agents/main/identity.md"
    identity.parent.mkdir(parents=True)
    identity.write_text("---\nautonomy: 1\n---\n# Main\n", "utf-8")
    waiting = machine.vault / "VaultMind/Suggestions.md"

    async def talk() -> None:
        async with machine.client(mode=DESKTOP) as client:
            told = await say(client, "Remember that I prefer window seats")
            assert "waits" in told and "Suggestions.md" in told
            assert not machine.brain().exists()

            start = text_of(await client.call_tool("context_start", {}))
            assert "1" in start and "Suggestions.md" in start

            text = waiting.read_text("utf-8")
            assert "- [ ] " in text and "I prefer window seats" in text
            edited = text.replace("- [ ] ", "- [x] ").replace("window seats", "aisle seats")
            await asyncio.to_thread(_save_as_obsidian_does, waiting, edited)
            await asyncio.to_thread(
                until, lambda: machine.brain().exists() and "aisle" in machine.brain().read_text()
            )
            shown = text_of(await client.call_tool("memory_show", {}))
            assert "I prefer aisle seats" in shown and "window" not in shown

    asyncio.run(talk())


def _save_as_obsidian_does(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.tmp")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)
