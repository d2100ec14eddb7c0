"""`vaultmind chat`: a talk with a real small model over a real memory."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pytest

from tests.cli.program import environment, run
from tests.fakes import QueueGenerator
from tests.machine import Machine
from tests.minion.model import gguf
from vaultmind.cli.sessions.chat import Talk
from vaultmind.config import MinionConfig
from vaultmind.memory.intents import recogniser
from vaultmind.minion.notes import Notes, model_key
from vaultmind.minion.spending import Spending

if TYPE_CHECKING:
    from vaultmind.cli.options import Settings
    from vaultmind.minion.choice import ClosableGenerator


@pytest.fixture
def talker(machine: Machine) -> Machine:
    Notes(machine.config.state_dir).learn(model_key(gguf()), safe=True)
    config = machine.state / "none.toml"
    config.write_text("[minion]\nanswer_tokens = 16\ncontext_tokens = 1024\n", "utf-8")
    return machine


def chat(machine: Machine, typed: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vaultmind", "chat", "--model", str(gguf()), *arguments],
        env=environment(machine),
        cwd=machine.vault,
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )


@pytest.mark.minion
def test_a_talk_is_answered_from_memory_costed_and_written_down(talker: Machine) -> None:
    typed = "remember that I bake rye bread on Fridays\nWhen do I bake?\n/new\n/end\nnever read\n"
    done = chat(talker, typed, "--json")
    assert done.returncode == 0, done.stderr
    did, answered = map(json.loads, done.stdout.splitlines())
    assert "rye bread" in did["did"] and did["tokens"] == 0
    assert answered["answer"] and 0 < answered["tokens"] <= 16
    assert "rye bread" in " ".join(one["text"] for one in answered["context"]["parts"])
    assert answered["context"]["tokens"] <= answered["context"]["budget"] < 1024
    assert answered["prompt_tokens"] > 0 < answered["took_ms"]
    (path,) = (talker.vault / "VaultMind/agents/main/memory/sessions").glob("*.md")
    session = path.read_text("utf-8")
    assert "When do I bake?" in session and answered["answer"].split("\n")[0] in session
    assert "state: ended" in session and "never read" not in session


def test_a_talk_needs_a_model_and_says_where_to_name_one(machine: Machine) -> None:
    done = run(machine, "chat")
    assert done.code == 5
    assert "vaultmind minion use MODEL" in done.err
    assert not Path(machine.vault, "chat").exists()


class Memory:
    """Implements the backend of a talk: it hears, writes down, and has every message in view."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def call(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if op == "say":
            heard = recogniser().recognise(args["utterances"][0])
            done = {"message": "Done.", "facts": []}
            return {"heard": [{"intent": heard.intent, "payload": heard.payload} | done]}
        if op == "session_log":
            self.ids += [one["id"] for one in args["messages"]]
            return {"session": "2026-02-20_001"}
        window = {"name": "window", "text": "", "tokens": 1, "messages": list(self.ids)}
        return {"parts": [window], "tokens": 1, "budget": 500}


class Set:
    """Settings as a talk uses them."""

    target: ClassVar[dict[str, Any]] = {}

    def __init__(self, folder: Path) -> None:
        self.config = SimpleNamespace(state_dir=folder, minion=MinionConfig())
        self.memory = Memory()

    def backend(self) -> Memory:
        return self.memory


def sent(folder: Path, *typed: str) -> list[str]:
    """Return what a model is sent after all these messages, turn by turn, without its own."""
    model = QueueGenerator(*[f"Fine {at}." for at in range(len(typed))])
    talk = Talk(cast("Settings", Set(folder)), cast("ClosableGenerator", model), 500)
    for one in typed:
        talk.answer(one)
    return [turn.text for turn in model.asked[-1].turns if turn.role == "user"]


def test_a_model_is_not_sent_again_what_the_memory_masks(tmp_path: Path) -> None:
    typed = ("<private>QUENTINA is my lover</private> and it rains.",
             "My key is sk-ant-api03-Zq81hfKs92mdLLq0P4dd88aa77ccbbee99", "And now?")  # fmt: skip
    turns = sent(tmp_path, *typed)
    assert "and it rains." in turns[0] and turns[-1] == "And now?"
    assert not [one for one in ("QUENTINA", "sk-ant-api03") if one in " ".join(turns)]


def test_what_is_not_to_be_kept_is_left_out_of_later_turns(tmp_path: Path) -> None:
    hello = "Hello, I live in Krakow with my dog."
    turns = sent(tmp_path, hello, "Off the record: my salary is 9417 zlotys.", "And now?")
    assert turns == [hello, "And now?"]
    turns = sent(tmp_path, hello, "I earn 9417 zlotys.", "Don't remember what I just said.", "Now?")
    assert turns == [hello, "Now?"]
    assert sent(tmp_path, hello, "Forget that I love OWLBIRD.", "Now?") == [hello, "Now?"]


def test_what_a_talk_takes_is_counted_into_the_day(tmp_path: Path) -> None:
    sent(tmp_path, "Hello there.")
    assert Spending(tmp_path, 60.0, datetime.now().astimezone).today() > 0


@pytest.mark.minion
def test_another_conversation_is_no_part_of_a_talk_and_a_message_stands_once(
    talker: Machine,
) -> None:
    talker.run("session", "log", "My dentist moved to Hill Street.")
    talker.run("session", "end")
    (answered,) = map(
        json.loads, chat(talker, "Hello, who are you?\n", "--json").stdout.splitlines()
    )
    parts = {one["name"]: one["text"] for one in answered["context"]["parts"]}
    assert "Hill Street" not in parts["window"] and parts["window"].count("who are you") == 1
