"""`vaultmind chat`: a talk with a real small model over a real memory."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.program import environment, run
from tests.fakes import QueueGenerator
from tests.machine import Machine
from tests.minion.model import gguf
from tests.told import opened
from vaultmind.cli.chat import take_turn
from vaultmind.minion.gguf import read_head
from vaultmind.minion.state import Spending, learn


@pytest.fixture
def talker(machine: Machine) -> Machine:
    learn(machine.config.state_dir, read_head(gguf()).key, safe=True)
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
    typed = "remember that I bake rye bread on Fridays\nWhen do I bake?\n/end\nnever read\n"
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


HELLO = "Hello, I live in Krakow with my dog."


@pytest.mark.parametrize(
    ("typed", "kept", "gone"),
    [
        (["<private>QUENTINA is mine</private> and it rains."], "and it rains.", "QUENTINA"),
        ([HELLO, "I earn 9417 zlotys.", "Don't remember what I just said."], HELLO, "9417"),
    ],
)
def test_a_model_is_not_sent_again_what_the_memory_does_not_keep(
    tmp_path: Path, typed: list[str], kept: str, gone: str
) -> None:
    model = QueueGenerator(*[f"Fine {at}." for at in range(4)])
    with opened(tmp_path, lambda: datetime.now().astimezone()) as person:
        settings = person.settings()
        for at, one in enumerate((*typed, "And now?")):
            take_turn(settings, model, 1500, f"chat:{at}", one)  # type: ignore[arg-type]
        config = person.app.config
        spent = Spending(config.state_dir, 60.0, datetime.now().astimezone).today()
    system, asked = (turn.text for turn in model.asked[-1].turns)
    assert kept in system and gone not in system and asked == "And now?"
    assert spent > 0, "what a talk takes is counted into the day"
