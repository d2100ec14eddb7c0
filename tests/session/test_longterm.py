"""What lasting memory brings before an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Vault
from tests.session.building import SESSION, House, message, reason_of, text_of
from vaultmind.config import Config
from vaultmind.index.related import Relations
from vaultmind.session.context import START
from vaultmind.session.parts import BuiltContext
from vaultmind.session.recall import Recall
from vaultmind.types import PERSON, Message, Role
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

TIME = "2026-02-20T10:00:00+01:00"
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


def ask(vault: Vault, query: str, *running: Message) -> BuiltContext:
    recall = Recall(vault.search, Relations(vault.with_meaning(), vault.outlet))
    home = House(vault.paths, Config(vault.paths.root, vault.paths.root), recall=recall)
    if running:
        home.talks.hold(running)
    return home.build(query, caller=PERSON, without=frozenset({"window", *START}))


def put_talk(vault: Vault, *said: str, roles: tuple[Role, ...] = ("user",)) -> None:
    text = render_header(SessionMeta(SESSION, "main", TIME))
    for number, one in enumerate(said, 1):
        role = roles[(number - 1) % len(roles)]
        text += render_message(Message(role, one, TIME, f"D1:{number}", block=f"m{number}"))
    vault.put(f"{MEMORY}/sessions/{SESSION}.md", text)


def memory_text(context: BuiltContext) -> str:
    return text_of(context, "memory")


def test_the_answer_to_an_old_question_is_brought_and_not_the_question(vault: Vault) -> None:
    asked = "what is the deadline of Project Heron?"
    put_talk(vault, asked, "It was moved to the spring.", roles=("user", "assistant"))
    text = memory_text(ask(vault, "Remind me, when is the deadline of Project Heron?"))
    assert f"{SESSION}#^m2" in text and "moved to the spring" in text
    assert f"{SESSION}#^m1" not in text


def test_small_talk_brings_nothing(vault: Vault) -> None:
    said = [json.loads(line)["text"] for line in SMALL_TALK.read_text("utf-8").splitlines()]
    put_talk(vault, *said)
    assert not [text for text in said if ask(vault, text).parts]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("   ", "nothing was asked"),
        ("thanks, great", "it has no words to search for"),
        ("zebra crossings in Peru", "nothing was found"),
        ("oven door and zebra crossings in Peru", "below recall.relevance (0.50)"),
    ],
)
def test_it_says_why_nothing_is_brought(vault: Vault, query: str, reason: str) -> None:
    context = ask(vault, query)
    assert not context.parts
    assert reason in reason_of(context, "memory")


def test_what_is_found_leads_on_along_a_link(vault: Vault) -> None:
    context = ask(vault, HIGH)
    assert "25 cm" in memory_text(context)
    assert "Mogilany" in text_of(context, "associations")


def test_the_running_session_and_its_summary_are_no_lasting_memory(vault: Vault) -> None:
    put_talk(vault, SWEEP)
    vault.put(f"{MEMORY}/summaries/rolling/{SESSION}-2.md", f"{SWEEP[:-1]}, said Anna ^s1\n")
    assert memory_text(ask(vault, WHEN))
    assert not memory_text(ask(vault, WHEN, message(1, SWEEP)))


def test_a_forgotten_message_is_not_brought(vault: Vault) -> None:
    put_talk(vault, SWEEP)
    vault.hidden.names.add(("main", SESSION, "D1:1"))
    assert not memory_text(ask(vault, WHEN))
