"""`say`: a conversation with the memory in three languages, and what it must not do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine


@pytest.mark.parametrize(
    ("remember", "fact", "know", "forget"),
    [
        ("Remember that my bike is a blue Kona", "Kona", "What do you know about me?",
         "Forget that."),
        ("Zapamiętaj, że mój rower to niebieski Romet", "Romet", "Co o mnie wiesz?",
         "Zapomnij o tym."),
        ("Запомни, что мой велосипед — синий Аист", "Аист", "Что ты обо мне знаешь?",
         "Забудь это."),
    ],
)  # fmt: skip
def test_remember_ask_and_forget_in_the_persons_language(
    machine: Machine, remember: str, fact: str, know: str, forget: str
) -> None:
    done = machine.run("say", remember)
    assert done["intent"] == "remember" and done["outcome"] == "written", done
    assert fact in done["message"] and done["path"].endswith("brain.md")
    assert fact in machine.brain().read_text("utf-8")
    assert any(fact in known for known in machine.run("say", know)["facts"])
    gone = machine.run("say", forget)
    assert gone["intent"] == "forget_that" and gone["outcome"] == "written", gone
    assert fact not in machine.brain().read_text("utf-8")


def test_a_correction_takes_the_old_facts_place(machine: Machine) -> None:
    machine.run("say", "Remember that my dentist is Dr. Novak")
    done = machine.run("say", "Actually, my dentist is Dr. Sowa, not Dr. Novak")
    assert done["intent"] == "correct", done
    brain = machine.brain().read_text("utf-8")
    assert "Sowa" in brain or done["outcome"] == "not_found"


def test_an_idiom_deletes_nothing(machine: Machine) -> None:
    machine.run("say", "Remember that pizza night is Friday")
    before = machine.brain().read_bytes()
    done = machine.run("say", "Oh forget it, let's order pizza")
    assert done["intent"] == "none"
    assert machine.brain().read_bytes() == before


def test_an_agent_can_be_named_whose_memory_is_meant(machine: Machine) -> None:
    machine.run("agents", "new", "jaskier")
    done = machine.run("say", "Remember that my lute has fifteen strings", "--agent", "jaskier")
    assert (done["outcome"], done["agent"]) == ("written", "jaskier")
    assert "fifteen strings" in machine.brain("jaskier").read_text("utf-8")


def test_a_dry_run_tells_and_does_nothing(machine: Machine) -> None:
    heard = machine.run("say", "remember that I hate coriander", "--dry-run")
    assert set(heard) == {"intent", "lang", "payload", "confidence"}
    assert heard["payload"] == "I hate coriander"
    assert "coriander" not in json.dumps(machine.run("show"))


def test_many_sentences_of_a_file(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "u.jsonl"
    lines = [{"id": "a", "text": "remember that I row"}, {"id": 2, "text": "It is late."}]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    done = run(machine, "say", "--utterances", str(file))
    heard = [json.loads(line) for line in done.out.splitlines()]
    assert [(one["id"], one["intent"]) for one in heard] == [("a", "remember"), (2, "none")]
