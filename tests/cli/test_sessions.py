"""`vaultmind session`, and an import as one session, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import run, run_on_terminal
from tests.machine import Machine
from vaultmind.vault.transcript import parse_session

LOGGED = {"agent", "session", "segment", "new", "known", "ended", "message",
          "facts", "recap"}  # fmt: skip
SESSION = {"id", "path", "state", "started", "ended", "messages", "segments", "topics", "source",
           "conversation", "fault"}  # fmt: skip


def test_a_conversation_is_logged_parted_and_ended_by_hand(machine: Machine) -> None:
    first = machine.run("session", "log", "We", "should rebuild the shed.", "--id", "1")
    assert set(first) == LOGGED
    again = machine.run("session", "log", "We should rebuild the shed.", "--id", "1")
    assert (again["new"], again["known"], again["session"]) == (0, 1, first["session"])
    assert machine.run("session", "new")["segment"] == 2
    done = run(machine, "session", "log", "--role", "assistant", "We decided on larch.")
    assert done.out == f"1 message written down in {first['session']} of main, segment 2.\n"
    assert run(machine, "session", "end").out == f"{first['session']} of main has ended.\n"
    assert run(machine, "session", "end").out == "main has no conversation open.\n"
    assert run(machine, "session", "end", first["session"]).code == 0
    active = machine.vault / "VaultMind/agents/main/memory/active_context.md"
    assert "larch" in active.read_text("utf-8")


def test_sessions_are_listed_newest_last(machine: Machine) -> None:
    for text in ("one", "two"):
        machine.run("session", "log", text)
        machine.run("session", "end")
    found = machine.run("session", "list")
    assert all(set(one) == SESSION for one in found["sessions"])
    ids = [one["id"] for one in found["sessions"]]
    assert ids == sorted(ids)
    last = run(machine, "session", "list", "--limit", "1").out
    assert ids[-1] in last and ids[0] not in last
    shown = run_on_terminal(machine, "session", "list", columns=60)
    assert all(len(line) <= 60 for line in shown.splitlines())
    empty = run(machine, "session", "list", "--agent", "nobody")
    assert empty.code == 5 and "nobody" in empty.err


def test_a_mistyped_agent_is_no_new_one(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"text": "hi"}', "utf-8")
    for rest in (["hi"], ["--file", str(file)]):
        done = run(machine, "session", "log", *rest, "--agent", "newbie")
        assert done.code == 5 and "newbie" in done.err and "agents new newbie" in done.err
    assert run(machine, "session", "end", "--agent", "newbie").code == 5
    assert not (machine.vault / "VaultMind/agents/newbie").exists()
    machine.run("agents", "new", "newbie")
    logged = run(machine, "session", "log", "hi", "--agent", "newbie")
    assert "of newbie, segment 1" in logged.out


def test_a_file_of_messages_is_logged_and_a_bad_line_is_named(
    machine: Machine, tmp_path: Path
) -> None:
    file = tmp_path / "talk.jsonl"
    said = [{"role": "user", "text": f"zażółć {n} 🙂", "id": f"f{n}"} for n in range(3)]
    file.write_text("\ufeff" + "\r\n".join(map(json.dumps, said)) + "\r\n", "utf-8")
    assert machine.run("session", "log", "--file", str(file))["new"] == 3
    file.write_text('{"text": "a"}\n{"text": \n', "utf-8")
    done = run(machine, "session", "log", "--file", str(file))
    assert done.code == 2 and "line 2" in done.err
    assert run(machine, "session", "log").code == 2
    assert run(machine, "session", "log", "words", "--file", str(file)).code == 2
    assert run(machine, "session", "end", "not-an-id").code == 2


def test_both_kinds_of_file_may_call_the_words_content_or_text(
    machine: Machine, tmp_path: Path
) -> None:
    machine.run("agents", "new", "both")
    file = tmp_path / "talk.jsonl"
    lines = [{"content": "one", "id": "1"}, {"text": "two", "id": "2"}]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert machine.run("session", "log", "--file", str(file), "--agent", "both")["new"] == 2
    dated = [one | {"time": "2026-02-20T10:00:00"} for one in lines]
    file.write_text("\n".join(map(json.dumps, dated)), "utf-8")
    none = run(machine, "import", str(file))
    assert none.code == 2 and "--one-session" in none.err and ".." not in none.err
    assert machine.run("import", str(file), "--one-session", "--agent", "both")["messages"] == 2
    texts = [
        [one.message.text for one in parse_session(path.read_text("utf-8")).messages]
        for path in (machine.vault / "VaultMind/agents/both/memory/sessions").iterdir()
    ]
    assert texts == [["one", "two"]] * 2


def test_a_bad_message_of_a_file_is_named_by_its_line(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"text": "a"}\n\n{"role": "user"}\n', "utf-8")
    done = run(machine, "session", "log", "--file", str(file))
    assert done.code == 2 and f"content in line 3 of {file}" in done.err
    assert "messages[" not in done.err
    file.write_text('{"text": "a", "role": "god"}\n', "utf-8")
    assert "role in line 1" in run(machine, "session", "log", "--file", str(file)).err
    assert "messages[" not in run(machine, "session", "log", " ").err


def test_an_import_can_be_one_session(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "long talk.jsonl"
    records = [
        {"session": f"s{n // 10}", "time": f"2023-05-{1 + n // 10:02d}T10:{n % 10:02d}:00",
         "role": "user", "content": f"Turn {n}", "id": f"D{n}"}
        for n in range(50)
    ]  # fmt: skip
    file.write_text("\n".join(map(json.dumps, records)), "utf-8")
    for new in (50, 0):
        body = machine.run("import", str(file), "--one-session", "--agent", "long")
        assert (body["messages"], body["sessions"]) == (new, bool(new))
    [session] = (machine.vault / "VaultMind/agents/long/memory/sessions").iterdir()
    transcript = parse_session(session.read_text("utf-8"))
    assert [one.message.id for one in transcript.messages] == [f"D{n}" for n in range(50)]
    assert transcript.meta.source == "long talk.jsonl" and transcript.segment == 1
    [listed] = machine.run("session", "list", "--agent", "long")["sessions"]
    assert (listed["messages"], listed["source"]) == (50, "long talk.jsonl")
    text = session.read_text("utf-8")
    assert [f"### 2023-05-{day:02d}" in text for day in range(1, 7)] == [True] * 5 + [False]
    shown = run(machine, "session", "list", "--agent", "long").out
    assert "2023-05-01 10:00 – 2023-05-05 10:09" in shown
