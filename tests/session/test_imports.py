"""An import writes each session once, whatever happens, and however often it is repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.session.samples import (
    Files,
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_node,
    gpt_text,
    locomo,
    write_json,
    write_lines,
)
from vaultmind.memory.forget.hiding import Tombstones, render_tombstones
from vaultmind.session.files import session_ids
from vaultmind.session.imports import import_file
from vaultmind.session.log import Listeners, SessionLog
from vaultmind.types import MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import Transcript, parse_session

DAY, TIME = "2026-02-20", "2026-02-20T12:00:00+00:00"


@pytest.fixture
def log(reader: VaultReader, files: Files) -> SessionLog:
    return opened(files, reader)


def opened(files: Files, reader: VaultReader, listeners: Listeners | None = None) -> SessionLog:
    return SessionLog(files, reader, lambda: datetime.now(UTC), 30, listeners)


def _transcripts(paths: VaultPaths, agent: str = "main") -> list[Transcript]:
    texts = ((paths.root / paths.session(agent, s)) for s in session_ids(paths, agent))
    return [parse_session(path.read_text("utf-8")) for path in texts]


def _bytes(paths: VaultPaths) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (paths.root / paths.sessions("main")).iterdir()}


def test_exports_become_ended_sessions_with_their_title_as_topic(
    tmp_path: Path, log: SessionLog, paths: VaultPaths
) -> None:
    claude = claude_conversation(
        claude_message(1, "human", "Jak upiec chleb?"), claude_message(2, "assistant", "Powoli.")
    )
    gpt = gpt_conversation(
        gpt_node("q", "client-created-root", "user", gpt_text("Where to?")), current="q"
    )
    import_file(log, write_json(tmp_path / "claude.json", [claude]), "main")
    import_file(log, write_json(tmp_path / "gpt.json", [gpt]), "main")
    first, second = sorted(_transcripts(paths), key=lambda t: t.meta.topics)
    assert (first.meta.topics, first.meta.source) == (("Planning a trip",), "gpt-1")
    assert (second.meta.topics, second.meta.state) == (("Rye bread",), "ended")


def test_a_session_too_large_to_read_again_is_cut_in_parts(
    tmp_path: Path, paths: VaultPaths, files: Files
) -> None:
    small = VaultReader(paths, max_bytes=20_000)
    records = locomo(sessions=1, turns=40)
    records[5]["content"] = "word " * 5000
    path = write_lines(tmp_path / "a.jsonl", *records)
    imported = import_file(opened(files, small), path, "main")
    assert "too long" in imported.faults[0]
    before = _bytes(paths)
    assert all(len(raw) < 20_000 for raw in before.values())
    assert len(before) > 1
    assert import_file(opened(files, small), path, "main").messages == 0
    assert _bytes(paths) == before


def test_an_import_takes_no_number_that_was_used_and_keeps_erased_what_was_erased(
    paths: VaultPaths, files: Files, reader: VaultReader, tmp_path: Path
) -> None:
    told = tmp_path / "told.jsonl"
    begun = f'{{"session": "s", "role": "user", "time": "{TIME}", '
    secret, kept = '"content": "A secret.", "id": "a1"}', '"content": "The boat.", "id": "a2"}'
    told.write_text(f"{begun}{secret}\n{begun}{kept}\n")
    erased = MessageRef("main", f"{DAY}_001", "m1", "a1")
    stones = paths.root / paths.tombstones("main", "x")
    stones.parent.mkdir(parents=True)
    stones.write_text(render_tombstones([erased], TIME, erased=True), "utf-8")
    listeners = Listeners(erased=Tombstones(paths).erased)
    import_file(opened(files, reader, listeners), told, "main")
    text = (paths.root / paths.session("main", f"{DAY}_002")).read_text("utf-8")
    assert [one.message.text for one in parse_session(text).messages] == ["", "The boat."]
