"""session/context/longterm: what lasting memory brings before an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.index.vault import Vault
from vaultmind.config import AssociationConfig, Config, RecallConfig
from vaultmind.index.related import Relations
from vaultmind.session.longterm import Ask, Brought, LongTerm
from vaultmind.types import PERSON, Caller, Message
from vaultmind.vault.transcript import SessionMeta, render_header, render_message

MAIN = Caller("agent", "main")
TIME = "2026-02-20T10:00:00+01:00"
SESSION = "2026-02-20_001"
MEMORY = "VaultMind/agents/main/memory"
SMALL_TALK = Path(__file__).parents[2] / "benchmarks/data/small_talk.jsonl"


@dataclass
class Room:
    """A vault and the lasting memory over it."""

    vault: Vault
    recall: RecallConfig
    association: AssociationConfig

    def ask(self, query: str, caller: Caller = PERSON, **changed: object) -> Brought:
        relations = Relations(self.vault.with_meaning(), self.vault.outlet)
        root = self.vault.paths.root
        config = Config(root, root, recall=self.recall, association=self.association)
        memory = LongTerm(self.vault.search, relations, self.vault.paths, config)
        usual = Ask(query, "main", caller, "", "en", 300, 100)
        return memory.recall(replace(usual, **changed))  # type: ignore[arg-type]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    vault = Vault(tmp_path)
    vault.put("Oven.md", "The oven door is 25 cm high, built by [[Władek]].\n")
    vault.put("Władek.md", "Stove fitter in Mogilany. His daughter takes the calls.\n")
    vault.put("Tax.md", "Invoices and stamps for the tax office.\n")
    yield Room(vault, RecallConfig(), AssociationConfig())
    vault.close()


def session(*said: str, name: str = SESSION) -> str:
    text = render_header(SessionMeta(name, "main", TIME))
    for number, one in enumerate(said, 1):
        text += render_message(
            Message("user", one, TIME, f"D1:{number}", "Anna", block=f"m{number}")
        )
    return text


def put_session(room: Room, *said: str, name: str = SESSION) -> None:
    room.vault.put(f"{MEMORY}/sessions/{name}.md", session(*said, name=name))


def memory_text(brought: Brought) -> str:
    return brought.memory.text if brought.memory else ""


def reasons(brought: Brought) -> str:
    return " | ".join(f"{one.what}: {one.reason}" for one in brought.dropped)


# --- what is brought -----------------------------------------------------------------------


# --- old questions -------------------------------------------------------------------------

DEADLINE = "what is the deadline of Project Heron?"


def put_talk(room: Room, name: str, *said: tuple[str, str]) -> None:
    text = render_header(SessionMeta(name, "main", TIME))
    for number, (role, one) in enumerate(said, 1):
        text += render_message(
            Message(role, one, TIME, f"{name}:{number}", block=f"m{number}")  # type: ignore[arg-type]
        )
    room.vault.put(f"{MEMORY}/sessions/{name}.md", text)


def test_the_answer_to_an_old_question_is_brought_and_not_the_question(room: Room) -> None:
    put_talk(room, SESSION, ("user", DEADLINE), ("assistant", "It was moved to the spring."))
    text = memory_text(room.ask("Remind me, when is the deadline of Project Heron?"))
    assert f"{SESSION}#^m2" in text
    assert "moved to the spring" in text
    assert f"{SESSION}#^m1" not in text


# --- when nothing is -----------------------------------------------------------------------


def test_small_talk_brings_nothing(room: Room) -> None:
    lines = SMALL_TALK.read_text("utf-8").splitlines()
    said = [json.loads(line)["text"] for line in lines]
    put_session(room, *said)
    brought = {text: memory_text(room.ask(text)) for text in said}
    assert not [text for text, found in brought.items() if found]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"query": "   "}, "memory: nothing was asked"),
        ({"query": "thanks, great"}, "memory: nothing in it to look for"),
        ({"query": "zebra crossings in Peru"}, "memory: nothing was found"),
        (
            {"query": "oven door and zebra crossings in Peru"},
            "less than 0.50 (recall.relevance is 0.50)",
        ),
    ],
)
def test_it_says_why_nothing_is_brought(room: Room, changed: dict[str, str], reason: str) -> None:
    brought = room.ask(**changed)
    assert brought.memory is None
    assert reason in reasons(brought)


def test_a_good_match_in_the_conversation_keeps_memory_out(room: Room) -> None:
    query = "How high is the oven door?"
    inside = room.ask(query, best=0.7)
    assert inside.memory is None
    assert "the conversation itself has a match of 0.70" in reasons(inside)
    assert inside.associations is None, "what is not asked brings nothing to mind"
    assert room.ask(query, best=0.69).memory is not None


# --- what stands in the context already -----------------------------------------------------


def test_the_running_session_and_its_summary_are_no_lasting_memory(room: Room) -> None:
    put_session(room, "The chimney sweep comes on the ninth of April.")
    summary = f"{MEMORY}/summaries/rolling/{SESSION}-2.md"
    room.vault.put(summary, "The chimney sweep comes on the ninth of April, said Anna ^s1\n")
    query = "when does the chimney sweep come"
    assert room.ask(query).memory is not None
    brought = room.ask(query, session=SESSION)
    assert (brought.memory, brought.associations) == (None, None)


# --- who may see what ----------------------------------------------------------------------


def test_a_forgotten_message_is_not_brought(room: Room) -> None:
    put_session(room, "The chimney sweep comes in April.")
    room.vault.hidden.names.add(("main", SESSION, "D1:1"))
    assert room.ask("when does the chimney sweep come").memory is None
