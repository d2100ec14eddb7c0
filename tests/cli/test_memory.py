"""`remember`, `forget` and `show`: outcomes, exit codes, and what is asked back."""

from __future__ import annotations

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind.cli.terminal import OUTCOME_EXIT

OUTCOME = {"outcome", "agent", "section", "fact", "path", "block", "before", "message", "reason",
           "nearest", "hidden_messages", "archived", "restored", "redacted"}  # fmt: skip


def test_a_fact_is_written_once(machine: Machine) -> None:
    done = machine.run("remember", "I take the tram to work")
    assert set(done) == OUTCOME
    assert done["outcome"] == "written"
    assert done["agent"] == "main"
    assert done["path"] == "VaultMind/agents/main/memory/brain.md"
    again = run(machine, "remember", "I", "take", "the", "tram", "to", "work")
    assert again.code == 0 and again.out.startswith("=")
    assert machine.brain().read_text("utf-8").count("tram") == 1


def test_a_section_can_be_named(machine: Machine) -> None:
    done = machine.run("remember", "No calls before nine", "--section", "preferences")
    assert done["section"] == "preferences"


def test_a_fact_takes_anothers_place(machine: Machine) -> None:
    machine.run("remember", "The cellar key is with Piotr")
    done = machine.run("remember", "The cellar key is with Kasia", "--instead-of",
                       "The cellar key is with Piotr")  # fmt: skip
    assert done["outcome"] == "written"
    assert "Piotr" in done["before"]
    assert "with Piotr" not in machine.brain().read_text("utf-8")


def test_a_forgotten_fact_is_gone_from_every_command(machine: Machine) -> None:
    machine.run("remember", "The parrot is called Admiral")
    done = machine.run("forget", "The parrot is called Admiral")
    assert done["outcome"] == "written"
    assert done["hidden_messages"] >= 1
    assert "Admiral" not in machine.brain().read_text("utf-8")
    assert "Admiral" not in str(machine.run("show"))
    found = machine.run("search", "parrot Admiral", ok=(0, 5))["hits"]
    assert not any("Admiral" in hit["text"] for hit in found)


def test_a_fact_can_be_named_by_its_id(machine: Machine) -> None:
    block = machine.run("remember", "My locker is number 19")["block"]
    assert machine.run("forget", f"^{block}")["outcome"] == "written"


def test_what_is_not_known_is_five_and_the_nearest_are_offered(machine: Machine) -> None:
    machine.run("remember", "The ferry to Hel leaves at ten")
    done = run(machine, "forget", "the ferry to Gdynia")
    assert done.code == 5
    assert "The ferry to Hel leaves at ten" in done.out
    assert machine.run("forget", "qqq zzz", ok=(5,))["outcome"] == "not_found"


def test_show_has_facts_counts_and_files(machine: Machine) -> None:
    machine.run("remember", "I collect stamps")
    shown = machine.run("show")
    known = {"agent", "sections", "counts", "last_session", "files", "notes", "new"}
    assert set(shown) == known
    assert set(shown["counts"]) == {
        "facts",
        "archived",
        "sessions",
        "messages",
        "requests",
        "l1",
        "l2",
        "episodes",
    }
    facts = [fact["text"] for part in shown["sections"] for fact in part["facts"]]
    assert shown["counts"]["facts"] == len(facts)
    words = run(machine, "show").out
    machine.run("say", "Remember that I collect old maps.")
    counts = machine.run("show")["counts"]
    assert counts["requests"] > 0 and " request" in run(machine, "show").out
    assert all(text in words for text in [*facts, *shown["files"]])


def test_an_agent_is_named_before_or_after_the_command(machine: Machine) -> None:
    machine.run("init", "--agent", "ferryman")
    before = run(machine, "--agent", "ferryman", "remember", "I cross at dawn", "--json").json
    after = run(machine, "--json", "show", "--agent", "ferryman").json
    both = run(machine, "--agent", "main", "show", "--agent", "ferryman", "--json").json
    assert before["agent"] == after["agent"] == both["agent"] == "ferryman"
    assert "ferryman" in before["path"]


@pytest.mark.parametrize(
    "command", [("remember", "I cross at dawn"), ("forget", "dawn"), ("show",)]
)
def test_a_slip_in_an_agents_name_makes_no_agent(
    machine: Machine, command: tuple[str, ...]
) -> None:
    done = run(machine, *command, "--agent", "bbo")
    assert done.code == 5
    assert "no agent 'bbo'" in done.err and "main" in done.err
    assert "vaultmind agents new bbo" in done.err
    assert not machine.brain("bbo").parent.exists()


def test_an_agents_name_that_is_a_path_is_refused(machine: Machine) -> None:
    error = machine.run("remember", "x y z", "--agent", "../evil", ok=(1, 2))["error"]
    assert "evil" in error["message"]


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("written", 0), ("unchanged", 0), ("suggested", 3), ("denied", 4), ("not_found", 5)],
)
def test_every_outcome_has_its_exit_code(outcome: str, code: int) -> None:
    assert OUTCOME_EXIT.get(outcome, 0) == code


def test_a_household_code_is_kept_when_asked_and_a_password_never(machine: Machine) -> None:
    done = machine.run("remember", "The front door code is 4821")
    assert done["outcome"] == "written" and "4821" in machine.brain().read_text("utf-8")
    assert "plain text in your vault" in done["message"]
    said = machine.run("say", "Zapamiętaj, że kod do furtki to 7719")
    assert said["outcome"] == "written" and "otwartym tekstem" in said["message"]
    done = machine.run("remember", "The wifi password at home is Kartoffel99!")
    assert "Kartoffel99" not in machine.brain().read_text("utf-8") + str(done)
    assert "password" in done["redacted"] and "plain text" not in done["message"]
