"""Import files are taken for what they are, and every gap has a line number."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.samples import (
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_node,
    gpt_text,
    write_json,
    write_lines,
)
from vaultmind.errors import UnreadableNote
from vaultmind.session.imports.formats import Skipped, read_conversations
from vaultmind.session.imports.record import Conversation

WARSAW_WINTER = timezone(timedelta(hours=1))


def _read(path: Path) -> list[Conversation]:
    found = list(read_conversations(path, UTC))
    assert not [item for item in found if isinstance(item, Skipped)]
    return [item for item in found if isinstance(item, Conversation)]


def _faults(path: Path) -> list[str]:
    return [item.reason for item in read_conversations(path, UTC) if isinstance(item, Skipped)]


def test_a_json_line_is_a_message_with_its_id_speaker_and_local_time(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "talk.jsonl",
        {
            "session": "session_1",
            "time": "2023-05-08T13:56:00",
            "speaker": "Caroline",
            "content": "Hey Mel!",
            "id": "D1:1",
        },
    )
    (one,) = read_conversations(path, WARSAW_WINTER)
    assert isinstance(one, Conversation)
    (message,) = one.messages
    assert one.name == "session_1"
    assert (message.role, message.speaker, message.id) == ("user", "Caroline", "D1:1")
    assert message.time == "2023-05-08T13:56:00+01:00"
    assert message.how == "captured"


@pytest.mark.parametrize(
    ("given_fields", "role"),
    [
        ({"role": "assistant"}, "assistant"),
        ({"role": "human"}, "user"),
        ({"speaker": "Claude"}, "assistant"),
        ({"speaker": "ChatGPT"}, "assistant"),
        ({"speaker": "Melanie"}, "user"),
        ({"speaker": "Claude", "role": "user"}, "user"),
        ({}, "user"),
    ],
)
def test_roles_are_given_or_seen_by_the_speakers_name(
    tmp_path: Path, given_fields: dict[str, str], role: str
) -> None:
    record = {"session": 1, "time": "2023-05-08", "content": "x", **given_fields}
    (one,) = _read(write_lines(tmp_path / "talk.jsonl", record))
    assert one.messages[0].role == role
    assert one.name == "1"


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
    reasons = [item.reason for item in found if isinstance(item, Skipped)]
    assert len(found) - len(reasons) == 2
    for number, word in ((3, "broken JSON"), (4, "yesterday"), (5, "robot"), (6, "list")):
        assert any(r.startswith(f"line {number}:") and word in r for r in reasons)
    assert any(r.startswith("line 7:") and "'session'" in r for r in reasons)
    assert any(r.startswith("line 9:") and "UTF-8" in r for r in reasons)


def test_a_claude_export_gives_its_words_in_local_time(tmp_path: Path) -> None:
    tool = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "I looked it up."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "rye"}},
        {"type": "tool_result", "name": "web_search", "content": [], "is_error": False},
        {"type": "text", "text": "Bake at 230 °C."},
    ]
    path = write_json(
        tmp_path / "conversations.json",
        [
            claude_conversation(
                claude_message(1, "human", "Jak upiec chleb?", files=[{"file_name": "rye.pdf"}]),
                claude_message(2, "assistant", "```\nThis block is not supported", content=tool),
                claude_message(3, "human", "", content=[]),
                claude_message(4, "human", "Old exports have text alone", content=[]),
            )
        ],
    )
    (one,) = list(read_conversations(path, WARSAW_WINTER))
    assert isinstance(one, Conversation)
    assert [(m.role, m.text) for m in one.messages] == [
        ("user", "Jak upiec chleb?\n\n[attached: rye.pdf]"),
        ("assistant", "I looked it up.\n\nBake at 230 °C."),
        ("user", "Old exports have text alone"),
    ]
    assert one.messages[0].time == "2025-11-03T20:01:07+01:00"
    assert one.messages[0].id.startswith("5f0c9a52")
    assert (one.topic, one.left_out) == ("Rye bread", 1)
    assert one.name == "c1a0de00-0000-4000-8000-000000000001"


def test_a_chatgpt_export_follows_the_branch_last_seen(tmp_path: Path) -> None:
    audio = {"content_type": "audio_transcription", "text": "spoken words"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    multimodal = {"content_type": "multimodal_text", "parts": [picture, audio, "typed words"]}
    hidden = {"is_visually_hidden_from_conversation": True}
    path = write_json(
        tmp_path / "conversations.json",
        [
            gpt_conversation(
                gpt_node("s", "client-created-root", "system", gpt_text(""), metadata=hidden),
                gpt_node("q0", "s", "user", gpt_text("the question before its edit")),
                gpt_node("a0", "q0", "assistant", gpt_text("an answer nobody kept")),
                gpt_node("q1", "s", "user", gpt_text("Where to go in May?"), create_time=None),
                gpt_node("t1", "q1", "assistant", {"content_type": "thoughts", "thoughts": []}),
                gpt_node(
                    "c1",
                    "t1",
                    "assistant",
                    {"content_type": "code", "language": "json", "text": "search('May')"},
                    recipient="browser",
                ),
                gpt_node(
                    "r1",
                    "c1",
                    "tool",
                    {"content_type": "execution_output", "text": "x" * 5000},
                    author_name="browser",
                ),
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


def test_a_chatgpt_tree_without_a_current_node_or_with_a_loop_ends(tmp_path: Path) -> None:
    first = gpt_node("a", "b", "user", gpt_text("one"), create_time=1.0)
    second = gpt_node("b", "a", "user", gpt_text("two"), create_time=2.0)
    leaf = gpt_node("c", "b", "user", gpt_text("three"), create_time=3.0)
    path = write_json(tmp_path / "c.json", [gpt_conversation(first, second, leaf, current=None)])
    (one,) = _read(path)
    assert [message.text for message in one.messages] == ["one", "two", "three"]


def test_a_zip_is_read_as_it_was_downloaded(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    one = claude_conversation(claude_message(1, "human", "Hello"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("data/conversations.json", json.dumps([one]))
    assert _read(path)[0].messages[0].text == "Hello"


def test_a_zip_without_conversations_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("users.json", "[]")
    with pytest.raises(UnreadableNote, match=r"users\.json"):
        _read(path)


def test_a_download_that_broke_off_gives_what_is_whole(tmp_path: Path) -> None:
    whole = json.dumps([claude_conversation(claude_message(1, "human", "Hello"))] * 2)
    path = tmp_path / "conversations.json"
    path.write_text(whole[:-40], "utf-8")
    found = list(read_conversations(path, UTC))
    assert isinstance(found[0], Conversation)
    assert _faults(path)[0].startswith("item 2: broken JSON")


def test_one_conversation_over_many_lines_is_one(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(claude_conversation(claude_message(1, "human", "Hi")), indent=2))
    assert _read(path)[0].messages[0].text == "Hi"


def test_a_bom_and_a_list_of_flat_records_are_read(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    record = {"session": "s", "time": "2023-05-08T13:56:00Z", "content": "x"}
    path.write_bytes(b"\xef\xbb\xbf\n" + json.dumps([record]).encode())
    assert _read(path)[0].messages[0].time == "2023-05-08T13:56:00+00:00"


def test_a_message_without_an_id_gets_the_same_one_each_time(tmp_path: Path) -> None:
    records = [{"session": "s", "time": "2023-05-08", "content": text} for text in ("x", "y")]
    path = write_lines(tmp_path / "talk.jsonl", *records)
    first, again = ([conversation.messages[0].id for conversation in _read(path)] for _ in range(2))
    assert first == again
    assert len(set(first)) == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableNote, match=r"gone\.jsonl"):
        _read(tmp_path / "gone.jsonl")


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
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(_json_values, max_size=3))
def test_no_json_makes_reading_fail(tmp_path: Path, values: list[object]) -> None:
    path = write_json(tmp_path / "odd.json", values)
    for item in read_conversations(path, UTC):
        assert isinstance(item, (Conversation, Skipped))


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_our_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "odd.bin"
    path.write_bytes(raw)
    try:
        list(read_conversations(path, UTC))
    except UnreadableNote as error:
        assert "odd.bin" in str(error)


def test_an_empty_file_is_refused_in_words(tmp_path: Path) -> None:
    for raw in (b"", b"\xef\xbb\xbf \n\n"):
        path = tmp_path / "empty.jsonl"
        path.write_bytes(raw)
        with pytest.raises(UnreadableNote, match=r"empty\.jsonl.*it is empty"):
            list(read_conversations(path, UTC))


def test_a_message_without_words_is_left_out_and_a_missing_field_is_named(tmp_path: Path) -> None:
    full = {"session": "s", "time": "2023-05-08T13:56:00", "content": "Hello"}
    missing = [{key: full[key] for key in full if key != gone} for gone in full]
    path = write_lines(tmp_path / "x.jsonl", {**full, "content": " \n"}, *missing)
    assert _faults(path)[1].startswith("line 3: 'time' is missing")
    named = [fault.split(";")[0] for fault in _faults(path)]
    assert named == ["line 2: 'session' is missing", "line 3: 'time' is missing",
                     "line 4: 'content' is missing"]  # fmt: skip
    first = next(iter(read_conversations(path, UTC)))
    assert isinstance(first, Conversation)
    assert (first.messages, first.left_out) == ((), 1)
