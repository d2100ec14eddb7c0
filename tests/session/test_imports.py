"""Exports are taken for what they are, each message once, and every gap is named."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.session.samples import Files
from vaultmind.memory.forget.hiding import render_tombstones
from vaultmind.session.imports import import_file, read_export
from vaultmind.session.log import SessionLog
from vaultmind.types import MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

DAY, TIME = "2026-02-20", "2026-02-20T12:00:00+00:00"


@pytest.fixture
def log(reader: VaultReader, files: Files) -> SessionLog:
    return opened(files, reader)


def opened(files: Files, reader: VaultReader) -> SessionLog:
    return SessionLog(files, reader, lambda: datetime.now(UTC), 30)


def said(log: SessionLog) -> list[tuple[str, str, list[str]]]:
    """Return the state, the topic and the words of each session."""
    found = [log.read("main", head.id) for head in log.heads("main")]
    return [
        (one.meta.state, *one.meta.topics, [placed.message.text for placed in one.messages])
        for one in found
    ]


def claude(*texts: str) -> dict[str, Any]:
    """Return a conversation of Claude's export."""
    messages = [
        {
            "uuid": f"5f0c9a52-0000-4000-8000-{number:012d}",
            "sender": "assistant" if number % 2 else "human",
            "created_at": f"2025-11-03T19:{number:02d}:07.123456Z",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
            "files": [{"file_name": "oven.pdf"}] if number == 0 else [],
        }
        for number, text in enumerate(texts)
    ]
    return {"uuid": "c1a0de00", "name": "Rye bread", "chat_messages": messages}


def test_a_zip_is_read_as_it_was_downloaded_and_again_when_it_has_grown(
    tmp_path: Path, log: SessionLog
) -> None:
    def exported(*texts: str) -> Path:
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("users.json", "[]")
            archive.writestr("data/conversations.json", json.dumps([claude(*texts)]))
        return path

    asked = "Jak upiec chleb?\n\n[attached: oven.pdf]"
    for _ in range(2):
        import_file(log, exported("Jak upiec chleb?", "Powoli."), "main")
    assert said(log) == [("ended", "Rye bread", [asked, "Powoli."])]
    grown = import_file(log, exported("Jak upiec chleb?", "Powoli.", "Jak długo?"), "main")
    assert (grown.messages, grown.skipped) == (1, 2)
    assert said(log)[1] == ("ended", "Rye bread", ["Jak długo?"])


def node(parent: str, key: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a node of ChatGPT's `mapping`."""
    content = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": more.pop("author_name", None)}
    message = {"id": key, "author": author, "content": content, "recipient": "all", **more}
    return {"id": key, "message": message, "parent": parent, "children": []}


def test_a_chatgpt_export_follows_the_branch_last_seen(tmp_path: Path, log: SessionLog) -> None:
    audio = {"content_type": "audio_transcription", "text": "spoken words"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    multimodal = {"content_type": "multimodal_text", "parts": [picture, audio, "typed words"]}
    hidden = {"is_visually_hidden_from_conversation": True}
    code = {"content_type": "code", "language": "json", "text": "search('May')"}
    printed = {"content_type": "execution_output", "text": "x" * 5000}
    nodes = [
        node("root", "s", "system", "", metadata=hidden),
        node("s", "q0", "user", "the question before its edit"),
        node("q0", "a0", "assistant", "an answer nobody kept"),
        node("s", "q1", "user", "Where to go in May?"),
        node("q1", "t1", "assistant", {"content_type": "thoughts", "thoughts": []}),
        node("t1", "c1", "assistant", code, recipient="browser"),
        node("c1", "r1", "tool", printed, author_name="browser"),
        node("r1", "a1", "assistant", "Lisbon."),
        node("a1", "q2", "user", multimodal),
    ]
    own = {"title": "Planning a trip", "create_time": 1730662800.0, "current_node": "q2", "id": "g"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{**own, "mapping": {one["id"]: one for one in nodes}}]), "utf-8")
    assert import_file(log, path, "main").left_out == 2
    words = ["Where to go in May?", "search('May')", "x" * 200, "Lisbon."]
    heard = "[image]\n\nspoken words\n\ntyped words"
    assert said(log) == [("ended", "Planning a trip", [*words, heard])]


def lines(path: Path, *records: object) -> Path:
    """Write JSON Lines."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return path


def test_every_line_that_cannot_be_taken_is_named(tmp_path: Path) -> None:
    good = {"session": "s", "time": "2023-05-08T13:56:00", "content": "kept"}
    nameless = {**good, "session": None}
    path = lines(
        tmp_path / "talk.jsonl", good, "", "{broken", {**good, "time": "yesterday"},
        {**good, "role": "robot"}, [1], nameless, good,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + b"\xff\xfe\n")
    found = read_export(path)
    assert [len(said) for _, said in found.conversations.values()] == [2]
    named = {3: "broken JSON", 4: "yesterday", 5: "robot", 6: "list", 7: "session", 9: "utf-8"}
    for number, word in named.items():
        assert any(r.startswith(f"line {number}:") and word in r for r in found.faults)


def test_a_session_too_large_to_read_again_is_cut_in_parts(
    tmp_path: Path, paths: VaultPaths, files: Files
) -> None:
    small = VaultReader(paths, max_bytes=20_000)
    turns = [{"session": "s", "time": f"2023-05-01T13:{turn:02d}:00", "speaker": "Caroline",
              "content": "word " * (5000 if turn == 5 else 60)} for turn in range(40)]  # fmt: skip
    path = lines(tmp_path / "a.jsonl", *turns)
    imported = import_file(opened(files, small), path, "main")
    assert imported.messages == 40 and "too long" in imported.faults[0]
    held = [one.stat().st_size for one in (paths.root / paths.sessions("main")).iterdir()]
    assert len(held) > 1 and max(held) < 20_000
    assert import_file(opened(files, small), path, "main").messages == 0


def test_an_import_takes_no_number_that_was_used_and_keeps_erased_what_was_erased(
    paths: VaultPaths, files: Files, reader: VaultReader, tmp_path: Path
) -> None:
    own = {"session": "s", "role": "user", "time": TIME}
    told = lines(tmp_path / "told.jsonl", {**own, "content": "A secret.", "id": "a1"},
                 {**own, "content": "The boat.", "id": "a2"})  # fmt: skip
    erased = MessageRef("main", f"{DAY}_001", "m1", "a1")
    stones = paths.root / paths.tombstones("main", "x")
    stones.parent.mkdir(parents=True)
    stones.write_text(render_tombstones([erased], TIME, erased=True), "utf-8")
    log = opened(files, reader)
    import_file(log, told, "main")
    placed = log.read("main", f"{DAY}_002").messages
    assert [one.message.text for one in placed] == ["", "The boat."]


KEYS = (
    "mapping chat_messages message content parts author role text sender created_at create_time "
    "current_node parent metadata id session time attachments files uuid recipient children"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=6)
    ),
    max_leaves=12,
)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(JSON, max_size=3))
def test_no_json_makes_reading_fail(tmp_path: Path, values: list[object]) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(values), "utf-8")
    read_export(path)
