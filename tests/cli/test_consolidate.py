"""`consolidate` and `log --dropped`: what a person and a script see of them, over a real daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import run
from tests.machine import Machine

SESSION = {"session", "agent", "by", "pending", "facts", "dropped", "summary", "notes"}
FACT = {"category", "fact", "evidence", "replaces", "outcome", "reason"}
DROPPED = {"fact", "reason", "evidence"}
SUMMARY = {"level", "id", "agent", "path", "sources", "tokens", "text", "by", "outcome"}
LOGGED = {"time", "agent", "session", "text", "reason", "evidence", "device", "erased", "words"}
SECRET = "hunter2hunter2"
TALKS = (
    ("I live in Bristol and I work as a bridge engineer.", "Maybe I should buy a boat one day?"),
    (f"My password is {SECRET}, don't keep that.", "My cat is called Momo."),
    ("We decided to rebuild the bread oven in May, with Tomek.",),
    ("I prefer tea to coffee.",),
    ("My sister Irena plays the cello in an orchestra.",),
)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A vault with five imported conversations, which wait until they are asked for."""
    folder = tmp_path_factory.mktemp("consolidate")
    machine = Machine(folder / "vault", folder / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
    machine.run("init")
    machine.run("import", str(_export(folder)))
    yield machine
    machine.stop()


@pytest.fixture(scope="module")
def done(machine: Machine) -> dict[str, Any]:
    """What the first real run came to, after a dry one."""
    waits = machine.run("consolidate", "--status")
    assert (waits["queue"], waits["asked_for"]) == ([], len(TALKS))
    assert "5 sessions wait for `vaultmind consolidate`" in waits["words"]
    dry = machine.run("consolidate", "--dry-run")
    assert [len(one["facts"]) > 0 for one in dry["sessions"]] == [True] * len(TALKS)
    assert [one["outcome"] for one in dry["summaries"]] == ["would be written"]
    assert not list(machine.vault.glob("VaultMind/agents/main/memory/summaries/**/*.md"))
    assert not machine.brain().exists() and machine.run("log", "--dropped")["dropped"] == []
    found: dict[str, Any] = machine.run("consolidate")
    return found


def _export(folder: Path) -> Path:
    lines = [
        {"session": f"s{number}", "role": "user", "content": text, "id": f"{number}:{at}",
         "time": f"2026-02-2{number}T10:0{at}:00+01:00"}
        for number, texts in enumerate(TALKS)
        for at, text in enumerate(texts)
    ]  # fmt: skip
    path = folder / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_a_script_gets_the_documented_names(done: dict[str, Any]) -> None:
    assert set(done) == {"sessions", "summaries", "notes"}
    assert len(done["sessions"]) == len(TALKS)
    assert all(set(one) == SESSION for one in done["sessions"])
    facts = [fact for one in done["sessions"] for fact in one["facts"]]
    assert facts and all(set(fact) == FACT for fact in facts)
    assert all(fact["outcome"] == "written" for fact in facts)
    assert {key for fact in facts for key in fact["evidence"]} <= {
        f"{number}:{at}" for number, texts in enumerate(TALKS) for at in range(len(texts))
    }
    dropped = [fact for one in done["sessions"] for fact in one["dropped"]]
    assert dropped and all(set(fact) == DROPPED for fact in dropped)
    [summary] = done["summaries"]
    assert set(summary) == SUMMARY
    assert (summary["level"], summary["id"], len(summary["sources"])) == ("L1", "L1_001", 5)
    assert SECRET not in json.dumps(done)


def test_facts_and_summary_are_in_the_vault(machine: Machine, done: dict[str, Any]) -> None:
    text = machine.brain().read_text("utf-8")
    assert "bridge engineer" in text and "Momo" in text and "boat" not in text
    [summary] = done["summaries"]
    assert (machine.vault / summary["path"]).is_file()


def test_where_nothing_waits_it_is_said_what_comes_next(
    machine: Machine, done: dict[str, Any]
) -> None:
    again = machine.run("consolidate")
    assert (again["sessions"], again["summaries"]) == ([], [])
    assert again["notes"] == [
        "main: 5 more sessions until the next L1, 4 more L1 until the next L2."
    ]
    words = run(machine, "consolidate")
    assert "Nothing waits." in words.out and "5 more sessions" in words.out


def test_a_session_and_a_summary_are_done_anew_by_their_ids(
    machine: Machine, done: dict[str, Any]
) -> None:
    name = done["sessions"][0]["session"]
    [session] = machine.run("consolidate", "--again", name)["sessions"]
    assert session["session"] == name
    assert all(fact["outcome"] != "written" for fact in session["facts"])
    [summary] = machine.run("consolidate", "--again", "L1_001")["summaries"]
    assert summary["id"] == "L1_001"
    shown = run(machine, "consolidate", "--again", name, "--dry-run").out
    assert "Nothing was written; it would be:" in shown


def test_a_session_that_is_not_there_is_not_found(machine: Machine) -> None:
    told = run(machine, "consolidate", "--session", "2026-01-01_001")
    assert told.code == 5 and "2026-01-01_001" in told.err


def test_what_was_dropped_is_shown_with_its_reason_and_never_a_secret(
    machine: Machine, done: dict[str, Any]
) -> None:
    answer = machine.run("log", "--dropped")
    assert all(set(one) == LOGGED for one in answer["dropped"])
    boat = next(one for one in answer["dropped"] if "boat" in one["text"])
    assert boat["reason"] == "hypothetical" and boat["session"] == done["sessions"][0]["session"]
    hidden = [one for one in answer["dropped"] if not one["text"]]
    assert {one["reason"] for one in hidden} <= {"secret", "asked not to keep"}
    piped = run(machine, "log", "--dropped").out
    assert "boat one day" in piped and SECRET not in piped
    assert "drop" not in {line["op"] for line in machine.run("log", "--all")["lines"]}


def test_a_filter_of_what_was_dropped_that_fits_nothing_says_so(machine: Machine) -> None:
    future = machine.run("log", "--dropped", "--since", "2099-01-01")
    assert future["dropped"] == [] and "without --since" in future["message"]
    both = run(machine, "log", "--dropped", "--op", "forget")
    assert both.code == 2 and "--dropped" in both.err


def test_the_work_in_the_background_is_shown_paused_and_resumed(
    machine: Machine, done: dict[str, Any]
) -> None:
    stands = machine.run("consolidate", "--status")
    assert (stands["queue"], stands["paused"], stands["running"]) == ([], False, "")
    assert stands["last_time"] and stands["dropped"] and "nothing waits" in stands["words"]
    assert "--resume" in run(machine, "consolidate", "--pause").out
    assert machine.run("consolidate", "--status")["paused"]
    assert "paused" in run(machine, "status").out
    assert not machine.run("consolidate", "--resume")["paused"]
    assert machine.run("status")["consolidation"]["waiting"] == 0
