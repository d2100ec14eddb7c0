"""Import files are taken for what they are, and every gap has a line number."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.samples import (
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_node,
    gpt_text,
    write_json,
)
from vaultmind.session.imports import Conversation, read_conversations


def _read(path: Path) -> list[Conversation]:
    found = list(read_conversations(path, UTC))
    assert not [item for item in found if isinstance(item, str)]
    return [item for item in found if isinstance(item, Conversation)]


def test_every_line_that_cannot_be_taken_is_named(tmp_path: Path) -> None:
    good = {"session": "s", "time": "2023-05-08T13:56:00", "content": "kept"}
    lines = [
        json.dumps(good),
        "",
        "{broken",
        json.dumps({**good, "time": "yesterday"}),
        json.dumps({**good, "role": "robot"}),
        json.dumps([1]),
        json.dumps({"time": good["time"], "content": "x"}),
        json.dumps(good),
    ]
    path = tmp_path / "talk.jsonl"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    found = list(read_conversations(path, UTC))
    reasons = [item for item in found if isinstance(item, str)]
    assert len(found) - len(reasons) == 2
    for number, word in ((3, "broken JSON"), (4, "yesterday"), (5, "robot"), (6, "list")):
        assert any(r.startswith(f"line {number}:") and word in r for r in reasons)
    assert any(r.startswith("line 7:") and "'session'" in r for r in reasons)
    assert any(r.startswith("line 9:") and "UTF-8" in r for r in reasons)


def test_a_chatgpt_export_follows_the_branch_last_seen(tmp_path: Path) -> None:
    audio = {"content_type": "audio_transcription", "text": "spoken words"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    multimodal = {"content_type": "multimodal_text", "parts": [picture, audio, "typed words"]}
    hidden = {"is_visually_hidden_from_conversation": True}
    code = {"content_type": "code", "language": "json", "text": "search('May')"}
    printed = {"content_type": "execution_output", "text": "x" * 5000}
    path = write_json(
        tmp_path / "conversations.json",
        [
            gpt_conversation(
                gpt_node("s", "client-created-root", "system", gpt_text(""), metadata=hidden),
                gpt_node("q0", "s", "user", gpt_text("the question before its edit")),
                gpt_node("a0", "q0", "assistant", gpt_text("an answer nobody kept")),
                gpt_node("q1", "s", "user", gpt_text("Where to go in May?"), create_time=None),
                gpt_node("t1", "q1", "assistant", {"content_type": "thoughts", "thoughts": []}),
                gpt_node("c1", "t1", "assistant", code, recipient="browser"),
                gpt_node("r1", "c1", "tool", printed, author_name="browser"),
                gpt_node("a1", "r1", "assistant", gpt_text("Lisbon.")),
                gpt_node("q2", "a1", "user", multimodal),
                current="q2",
            )
        ],
    )
    (one,) = _read(path)
    assert [(m.role, m.speaker, m.text[:40]) for m in one.messages] == [
        ("user", "", "Where to go in May?"),
        ("tool", "browser", "search('May')"),
        ("tool", "browser", "x" * 40),
        ("assistant", "", "Lisbon."),
        ("user", "", "[image]\n\nspoken words\n\ntyped words"),
    ]
    assert len(one.messages[2].text) == 200
    assert one.messages[0].time == "2024-11-03T19:40:00+00:00"  # the conversation's own
    assert (one.name, one.topic, one.left_out) == ("gpt-1", "Planning a trip", 2)


def test_a_zip_is_read_as_it_was_downloaded(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    one = claude_conversation(claude_message(1, "human", "Hello"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("data/conversations.json", json.dumps([one]))
    assert _read(path)[0].messages[0].text == "Hello"


_KEYS = (
    "mapping chat_messages message content parts author role text sender created_at create_time "
    "current_node parent metadata id session time attachments files uuid recipient children"
)
_json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_KEYS.split()), inner, max_size=6)
    ),
    max_leaves=12,
)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(_json_values, max_size=3))
def test_no_json_makes_reading_fail(tmp_path: Path, values: list[object]) -> None:
    path = write_json(tmp_path / "odd.json", values)
    for item in read_conversations(path, UTC):
        assert isinstance(item, (Conversation, str))
