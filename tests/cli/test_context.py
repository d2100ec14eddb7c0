"""`context`: the text as the agent gets it, what each part costs and why, and many at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.machine import Machine
from vaultmind import tokens
from vaultmind.memory.folder import default_identity

CONTEXT = {"agent", "session", "segment", "budget", "tokens", "parts", "dropped", "notes"}
PART = {"name", "tokens", "messages", "text", "sources", "why"}
SESSION = "2026-03-05_001"
PLANTED = "The boat is called Kormoran and it is moored at pier 17."
QUESTION = "what is the name of the boat at the pier?"


def talk(count: int) -> str:
    """Return a conversation of so many messages as a file to import; the third plants a fact."""
    lines = []
    for number in range(count):
        words = f"Message {number} goes on about bread, flour, the oven and a garden of weeds."
        line = {
            "session": "s1",
            "time": f"2026-03-05T10:{number // 60:02d}:{number % 60:02d}+01:00",
            "role": ("user", "assistant")[number % 2],
            "content": PLANTED if number == 2 else words,
            "id": f"D1:{number}",
        }
        lines.append(json.dumps(line))
    return "\n".join(lines)


def machine_with(folder: Path, talked: str) -> Machine:
    """Return a vault with an agent, a fact, and one conversation that was imported."""
    machine = Machine(folder / "vault", folder / "state")
    agent = machine.vault / "VaultMind/agents/main"
    (agent / "memory").mkdir(parents=True)
    (machine.vault / ".obsidian").mkdir()
    (agent / "identity.md").write_text(default_identity("main", "en"), "utf-8")
    (agent / "memory/brain.md").write_text("## User\n\n- Is called Anna\n", "utf-8")
    export = folder / "talk.jsonl"
    export.write_text(talked, "utf-8")
    machine.begin()
    machine.run("import", str(export))
    return machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One vault with one long conversation, and one daemon, for all tests of this module."""
    machine = machine_with(tmp_path_factory.mktemp("context"), talk(80))
    yield machine
    machine.stop()


def test_the_text_is_what_the_agent_gets_and_nothing_else(machine: Machine) -> None:
    done = run(machine, "context", QUESTION, "--budget", "1500")
    built = machine.run("context", QUESTION, "--budget", "1500")
    assert done.out.strip() == "\n\n".join(one["text"] for one in built["parts"]).strip()
    assert tokens.count(done.out.strip()) <= 1500
    assert "You are Main" in done.out and "Is called Anna" in done.out
    assert QUESTION in done.out and "Kormoran" in done.out
    assert "<<" not in done.out
    assert "of 1,500 tokens" in done.err


def test_the_answer_has_the_documented_names(machine: Machine) -> None:
    built = machine.run("context", QUESTION)
    assert set(built) == CONTEXT
    assert built["session"] == SESSION and built["agent"] == "main"
    assert all(set(one) == PART for one in built["parts"])
    assert f"latest conversation, {SESSION}, which was imported and has ended." in built["notes"][0]
    assert machine.run("context", QUESTION, "--session", SESSION)["notes"] == built["notes"][1:]
    names = [one["name"] for one in built["parts"]]
    assert names[:2] == ["identity", "brain"] and names[-1] == "window"


def test_the_full_messages_of_a_part_are_named(machine: Machine) -> None:
    built = machine.run("context", QUESTION, "--budget", "1200")
    said = {one["name"]: one["messages"] for one in built["parts"]}
    assert "D1:2" in said["earlier"]
    assert "D1:79" in said["window"] and "D1:2" not in said["window"]
    by_id = {json.loads(line)["id"]: json.loads(line)["content"] for line in talk(80).splitlines()}
    for one in built["parts"]:
        assert all(by_id[id_] in one["text"] for id_ in one["messages"] if id_ in by_id)


def test_without_a_message_it_shows_what_is_there_before_any(machine: Machine) -> None:
    built = machine.run("context", "--session", SESSION)
    assert built["parts"][-1]["name"] == "window"
    assert "earlier" not in [one["name"] for one in built["parts"]]


def test_many_questions_in_one_process_in_their_order(machine: Machine, tmp_path: Path) -> None:
    asked: list[dict[str, object]] = [
        {"id": f"q{n}", "query": f"message {n} on bread"} for n in range(30)
    ]
    asked += [{"id": 7, "query": QUESTION}]
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in asked), "utf-8")
    done = run(machine, "context", "--queries", str(path), "--budget", "1200", "--json")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [one["id"] for one in answers] == [one["id"] for one in asked]
    assert all(set(one) == CONTEXT | {"id"} for one in answers)
    assert all(one["tokens"] <= 1200 for one in answers)
    single = machine.run("context", QUESTION, "--budget", "1200")
    assert answers[-1]["parts"] == single["parts"]


def test_a_faulty_line_of_questions_is_named_before_anything_is_asked(
    machine: Machine, tmp_path: Path
) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "a", "query": "bread"}\n\n{"id": "b"}\n', "utf-8")
    done = run(machine, "context", "--queries", str(path))
    assert done.code == 2
    assert "queries.jsonl line 3" in done.err and not done.out


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["--session", "2020-01-01_001"], 5, "2020-01-01_001"),
        (["--session", "yesterday"], 2, "2026-02-20_001"),
        (["--session", SESSION, "--task", "daily"], 2, "sub-agent"),
        (["--budget", "0"], 2, "budget"),
        (["--task", "../x"], 2, "task"),
        (["--agent", "ghost"], 5, "ghost"),
        (["--queries", "none.jsonl"], 2, "none.jsonl"),
    ],
)
def test_what_cannot_be_is_said_in_words(
    machine: Machine, arguments: list[str], code: int, word: str
) -> None:
    done = run(machine, "context", *([] if "--queries" in arguments else ["hello"]), *arguments)
    assert done.code == code, done.err
    assert word in done.err


def test_a_sub_agent_gets_its_runs_and_no_conversation(machine: Machine) -> None:
    folder = machine.vault / "VaultMind/conversations/scheduler_daily"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"role": "user", "type": "text", "content": "Summarise the day."},
        {"role": "assistant", "type": "text", "content": "The oven was fired twice."},
    ]
    (folder / "2026-03-05.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    built = machine.run("context", "Summarise today.", "--task", "daily")
    names = [one["name"] for one in built["parts"]]
    assert "history" in names and not {"earlier", "summary"} & set(names)
    assert "fired twice" in run(machine, "context", "Go.", "--task", "daily").out
    assert "Kormoran" not in str(built)
    mistyped = run(machine, "context", "Go.", "--task", "dayly")
    assert "There are no runs of the task 'dayly'; there are runs of daily." in mistyped.err
    with (folder / "2026-03-06.jsonl").open("w", encoding="utf-8") as file:
        file.write(json.dumps(lines[0]))
    shown = run(machine, "context", "Go.", "--task", "daily", "--explain").out
    assert "the last run: it is unfinished" in shown


def test_an_agent_without_a_conversation_has_still_a_context(machine: Machine) -> None:
    machine.run("agents", "new", "dexter")
    shown = run(machine, "context", "hello there", "--agent", "dexter", "--explain")
    assert shown.code == 0
    assert "dexter" in shown.out and "session" not in shown.out.splitlines()[0]
    assert "hello there" in run(machine, "context", "hello there", "--agent", "dexter").out


def test_an_empty_vault_says_how_to_begin(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "vault", tmp_path / "state")
    (machine.vault / ".obsidian").mkdir(parents=True)
    try:
        done = run(machine, "context", "--in-process")
        assert done.code == 0
        assert "Nothing is remembered yet" in done.out and "vaultmind init" in done.out
    finally:
        machine.stop()
