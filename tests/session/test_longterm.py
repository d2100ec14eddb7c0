"""What lasting memory brings before an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.config import Config
from vaultmind.index.related import Relations
from vaultmind.session.longterm import Ask, Brought, LongTerm
from vaultmind.types import PERSON, Message, Role
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TIME = "2026-02-20T10:00:00+01:00"
SESSION = "2026-02-20_001"
MEMORY = "VaultMind/agents/main/memory"
SMALL_TALK = Path(__file__).parents[2] / "benchmarks/data/small_talk.jsonl"
SWEEP = "The chimney sweep comes on the ninth of April."
WHEN = "when does the chimney sweep come"
HIGH = "How high is the oven door?"


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    vault = Vault(tmp_path)
    vault.put("Oven.md", "The oven door is 25 cm high, built by [[Władek]].\n")
    vault.put("Tax.md", "Invoices and stamps for the tax office.\n")
    vault.put("Władek.md", "Stove fitter in Mogilany. His daughter takes the calls.\n")
    yield vault
    vault.close()


def ask(vault: Vault, query: str, **changed: object) -> Brought:
    relations = Relations(vault.with_meaning(), vault.outlet)
    memory = LongTerm(
        vault.search, relations, vault.paths, Config(vault.paths.root, vault.paths.root)
    )
    usual = Ask(query, "main", PERSON, "", "en", 300, 100)
    return memory.recall(replace(usual, **changed))  # type: ignore[arg-type]


def put_talk(vault: Vault, *said: str, roles: tuple[Role, ...] = ("user",)) -> None:
    text = render_header(SessionMeta(SESSION, "main", TIME))
    for number, one in enumerate(said, 1):
        role = roles[(number - 1) % len(roles)]
        text += render_message(Message(role, one, TIME, f"D1:{number}", block=f"m{number}"))
    vault.put(f"{MEMORY}/sessions/{SESSION}.md", text)


def part_text(brought: Brought, name: str) -> str:
    return "".join(part.text for part in brought[0] if part.name == name)


def memory_text(brought: Brought) -> str:
    return part_text(brought, "memory")


def test_the_answer_to_an_old_question_is_brought_and_not_the_question(vault: Vault) -> None:
    asked = "what is the deadline of Project Heron?"
    put_talk(vault, asked, "It was moved to the spring.", roles=("user", "assistant"))
    text = memory_text(ask(vault, "Remind me, when is the deadline of Project Heron?"))
    assert f"{SESSION}#^m2" in text and "moved to the spring" in text
    assert f"{SESSION}#^m1" not in text


def test_small_talk_brings_nothing(vault: Vault) -> None:
    said = [json.loads(line)["text"] for line in SMALL_TALK.read_text("utf-8").splitlines()]
    put_talk(vault, *said)
    assert not [text for text in said if ask(vault, text)[0]]


@pytest.mark.parametrize(
    ("query", "best", "reason"),
    [
        ("   ", 0.0, "nothing was asked"),
        ("thanks, great", 0.0, "nothing in it to look for"),
        ("zebra crossings in Peru", 0.0, "nothing was found"),
        ("oven door and zebra crossings in Peru", 0.0, "less than recall.relevance 0.50"),
        (HIGH, 0.7, "the conversation itself has a match of 0.70"),
    ],
)
def test_it_says_why_nothing_is_brought(vault: Vault, query: str, best: float, reason: str) -> None:
    brought = ask(vault, query, best=best)
    assert not brought[0]
    assert reason in brought[1][0].reason


def test_what_is_found_leads_on_along_a_link(vault: Vault) -> None:
    brought = ask(vault, HIGH, best=0.69)
    assert "25 cm" in memory_text(brought)
    assert "Mogilany" in part_text(brought, "associations")


def test_the_running_session_and_its_summary_are_no_lasting_memory(vault: Vault) -> None:
    put_talk(vault, SWEEP)
    vault.put(f"{MEMORY}/summaries/rolling/{SESSION}-2.md", f"{SWEEP[:-1]}, said Anna ^s1\n")
    assert memory_text(ask(vault, WHEN))
    brought = ask(vault, WHEN, session=SESSION)
    assert not brought[0]


def test_a_forgotten_message_is_not_brought(vault: Vault) -> None:
    put_talk(vault, SWEEP)
    vault.hidden.names.add(("main", SESSION, "D1:1"))
    assert not memory_text(ask(vault, WHEN))
