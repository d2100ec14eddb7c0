"""`vaultmind session`, and an import as one session, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.machine import Machine
from vaultmind.vault.transcript import parse_session


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
