"""A transcript's lines become what the two said, read from where it was left."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.transcripts import Script
from vaultmind.errors import BadArgument
from vaultmind.session.transcripts import CALLED, Line, Place, parse_line, read_on
from vaultmind.types import Message

NOW = datetime(2026, 2, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "talk.jsonl", began=datetime(2026, 2, 20, 10, 0, tzinfo=UTC))


def read(script: Script) -> list[Message]:
    tools: dict[str, str] = {}
    lines = [parse_line(raw, tools, NOW, UTC) for raw in script.path.read_bytes().splitlines()]
    return [message for line in lines for message in line.messages]


def shown(script: Script) -> list[tuple[str, str, str]]:
    return [(one.role, one.speaker, one.text) for one in read(script)]


def test_the_words_of_both_are_taken_with_their_line_s_id_and_time(script: Script) -> None:
    asked = script.user("How hot is the oven?")
    answered = script.says({"type": "thinking", "thinking": "hm", "signature": "x"}, "230 degrees.")
    one, other = read(script)
    assert (one.role, one.text, one.id, one.how) == (
        "user", "How hot is the oven?", asked, "captured"
    )  # fmt: skip
    assert (other.role, other.text, other.id) == ("assistant", "230 degrees.", answered)
    assert one.time == "2026-02-20T10:00:05+00:00"


def test_a_tool_keeps_its_name_and_200_characters_of_its_result(script: Script) -> None:
    script.calls("Bash", "toolu_1", command="cat secret.txt")
    script.result("toolu_1", "x" * 5000)
    script.calls("Read", "toolu_2", file_path="/a")
    script.result("toolu_2", [{"type": "text", "text": "one"}, {"type": "image", "source": {}}])
    script.result("toolu_unknown", "")
    assert shown(script) == [
        ("tool", "Bash", CALLED),
        ("tool", "Bash", "x" * 200),
        ("tool", "Read", CALLED),
        ("tool", "Read", "one"),
        ("tool", "tool", "(no text)"),
    ]


def test_what_was_typed_while_it_worked_is_taken(script: Script) -> None:
    queued = {"type": "queued_command", "prompt": "And the bread?", "commandMode": "prompt"}
    script.add({"type": "attachment", "attachment": queued})
    done = {**queued, "prompt": "a task ended", "commandMode": "task-notification"}
    script.add({"type": "attachment", "attachment": done})
    assert shown(script) == [("user", "", "And the bread?")]


def test_a_compaction_is_seen_and_its_summary_left_out(script: Script) -> None:
    script.compacts()
    lines = [parse_line(raw, {}, NOW) for raw in script.path.read_bytes().splitlines()]
    assert lines == [Line(compacted=True), Line(compacted=True)]


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
        assert isinstance(parse_line(raw + b' "user"', {}, NOW), Line)
        assert isinstance(parse_line(raw, {}, NOW), Line)


# --- the file

BIG = 1_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"one\ntwo\n")
    return path


def test_links_pipes_and_folders_are_refused_without_waiting(file: Path, tmp_path: Path) -> None:
    link, pipe, folder = (tmp_path / f"{name}.jsonl" for name in ("link", "pipe", "folder"))
    link.symlink_to(file)
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (link, pipe, folder):
        with pytest.raises(BadArgument, match="transcript_path"):
            read_on(path, Place(), BIG)
