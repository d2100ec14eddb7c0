"""A transcript's lines become what the two said, read from where it was left."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.transcripts import Script
from vaultmind.session.capture import parse_line
from vaultmind.types import Message


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "talk.jsonl", began=datetime(2026, 2, 20, 10, 0, tzinfo=UTC))


def read(script: Script) -> list[Message]:
    tools: dict[str, str] = {}
    lines = [parse_line(raw, tools) for raw in script.path.read_bytes().splitlines()]
    return [message for line in lines for message in line or ()]


def test_what_both_say_and_a_tool_s_name_with_200_characters_are_taken(script: Script) -> None:
    asked = script.user("How hot is the oven?")
    script.calls("Bash", "toolu_1", command="cat secret.txt")
    script.result("toolu_1", "x" * 5000)
    script.result("toolu_unknown", "")
    queued = {"type": "queued_command", "prompt": "And the bread?", "commandMode": "prompt"}
    script.add({"type": "attachment", "attachment": queued})
    done = {**queued, "prompt": "a task ended", "commandMode": "task-notification"}
    script.add({"type": "attachment", "attachment": done})
    script.says({"type": "thinking", "thinking": "hm", "signature": "x"}, "230 degrees.")
    said = read(script)
    assert [(one.role, one.speaker, one.text) for one in said] == [
        ("user", "", "How hot is the oven?"),
        ("tool", "Bash", "command: cat secret.txt"),
        ("tool", "Bash", "x" * 200),
        ("tool", "tool", "(no text)"),
        ("user", "", "And the bread?"),
        ("assistant", "", "230 degrees."),
    ]
    assert (said[0].id, said[0].how) == (asked, "captured")
    assert datetime.fromisoformat(said[0].time) == datetime(2026, 2, 20, 10, 0, 5, tzinfo=UTC)


def test_a_compaction_is_seen_and_its_summary_left_out(script: Script) -> None:
    script.compacts()
    lines = [parse_line(raw, {}) for raw in script.path.read_bytes().splitlines()]
    assert lines == [None, None]


JSON = st.recursive(
    st.sampled_from([None, True, 7, "", "x", "text", "tool_use", "tool_result"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "message", "content", "text", "uuid", "timestamp", "name", "id",
                         "origin", "forkedFrom", "attachment", "prompt"]), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(JSON, st.sampled_from(["user", "assistant", "attachment", "system"]))
def test_no_line_breaks_it(value: Any, kind: str) -> None:
    record = {**value, "type": kind} if isinstance(value, dict) else value
    for raw in (json.dumps(record).encode(), json.dumps({"type": kind, "message": value}).encode()):
        assert isinstance(parse_line(raw + b' "user"', {}), tuple)
        assert isinstance(parse_line(raw, {}), tuple)
