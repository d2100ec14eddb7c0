"""A session begins with a message, goes on, ends after a silence, and survives a crash."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from tests.session.samples import Files
from vaultmind.errors import NotFound
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import (
    SessionMeta,
    parse_session,
    render_header,
    render_message,
)

NOON = datetime(2026, 2, 20, 12, 0, 0, tzinfo=UTC)
CRASHING = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from tests.session.samples import Files
from vaultmind.session.lifecycle.lifecycle import SessionLog
from vaultmind.types import Message
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

paths = VaultPaths(Path(sys.argv[1]))
log = SessionLog(Files(paths), VaultReader(paths, 0), paths, lambda: datetime.now(UTC), 30)
for number in range(1, 6):
    log.log("main", Message("user", f"message {number}", "2026-02-20T12:00:00+00:00", str(number)))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def log(files: Files, reader: VaultReader, paths: VaultPaths) -> SessionLog:
    return _log(files, reader, paths)


def _log(files: Files, reader: VaultReader, paths: VaultPaths) -> SessionLog:
    return SessionLog(files, reader, paths, lambda: NOON, idle_minutes=30)


def _said(text: str, id: str = "") -> Message:
    return Message("user", text, "", id=id, how="reported")


def _texts(log: SessionLog, session: str, agent: str = "main") -> list[str]:
    return [placed.message.text for placed in log.read(agent, session).messages]


def test_a_first_message_begins_a_session_named_by_its_day(log: SessionLog) -> None:
    ref = log.log("main", _said("Hello"))
    assert (ref.agent, ref.session, ref.block) == ("main", "2026-02-20_001", "m1")
    meta = log.read("main", ref.session).meta
    assert meta == SessionMeta("2026-02-20_001", "main", started="2026-02-20T12:00:00+00:00")
    assert log.read("main", ref.session).messages[0].message.time == "2026-02-20T12:00:00+00:00"


def test_messages_go_on_until_a_silence_ends_the_session(log: SessionLog) -> None:
    first = log.log("main", _said("one"), now=NOON)
    second = log.log("main", _said("two"), now=NOON + timedelta(minutes=29))
    third = log.log("main", _said("three"), now=NOON + timedelta(minutes=59))
    assert first.session == second.session == "2026-02-20_001"
    assert (third.session, third.block) == ("2026-02-20_002", "m1")
    meta = log.read("main", first.session).meta
    assert (meta.state, meta.ended) == ("ended", "2026-02-20T12:29:00+00:00")
    assert log.sessions("main") == ("2026-02-20_001", "2026-02-20_002")


def test_a_message_with_a_time_of_its_own_is_placed_by_it(log: SessionLog) -> None:
    later = (NOON + timedelta(hours=2)).isoformat()
    log.log("main", _said("one"))
    ref = log.log("main", Message("assistant", "two", later))
    assert ref.session == "2026-02-20_002"


def test_the_same_message_twice_is_written_once(log: SessionLog) -> None:
    refs = [log.log("main", _said("one", "a")) for _ in range(3)]
    assert refs[0] == refs[1] == refs[2]
    assert _texts(log, refs[0].session) == ["one"]


def test_a_session_is_found_again_after_a_restart(
    files: Files, reader: VaultReader, paths: VaultPaths
) -> None:
    _log(files, reader, paths).log("main", _said("one", "a"))
    again = _log(files, reader, paths)
    assert again.log("main", _said("one", "a")).block == "m1"
    ref = again.log("main", _said("two"))
    assert (ref.session, ref.block) == ("2026-02-20_001", "m2")


def test_agents_have_sessions_of_their_own(log: SessionLog, paths: VaultPaths) -> None:
    log.log("main", _said("for main"))
    ref = log.log("Jaskier", _said("for jaskier"))
    assert (ref.agent, ref.session) == ("jaskier", "2026-02-20_001")
    assert _texts(log, ref.session, "jaskier") == ["for jaskier"]
    assert _texts(log, ref.session) == ["for main"]


def test_ending_changes_the_front_matter_and_nothing_else(
    log: SessionLog, paths: VaultPaths
) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    edited = file.read_text("utf-8").replace("topics: []", "topics: [bread] # mine\nmood: fine")
    file.write_text(edited + "My remark\n", "utf-8")
    assert log.end("main", now=NOON + timedelta(minutes=5)) == ref.session
    ended = file.read_text("utf-8")
    wanted = edited.replace("state: open", "state: ended")
    assert parse_session(ended).meta.ended == "2026-02-20T12:05:00+00:00"
    assert parse_session(ended).meta.pending == "extraction"
    kept = [line for line in ended.split("\n") if not line.startswith(("ended:", "pending:"))]
    assert kept == [
        line for line in f"{wanted}My remark\n".split("\n") if not line.startswith("ended:")
    ]
    assert log.end("main") == ""
    assert log.log("main", _said("two")).session == "2026-02-20_002"


def test_a_persons_edit_between_messages_is_kept(log: SessionLog, paths: VaultPaths) -> None:
    ref = log.log("main", _said("one", "a"))
    file = paths.root / paths.session("main", ref.session)
    file.write_text(file.read_text("utf-8").replace("> one", "> ONE") + "A remark", "utf-8")
    log.log("main", _said("two"))
    text = file.read_text("utf-8")
    assert "A remark\n\n> [!user]" in text
    assert _texts(log, ref.session) == ["ONE", "two"]


def test_a_file_with_crlf_goes_on_with_crlf(log: SessionLog, paths: VaultPaths) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    log.log("main", _said("two\nlines"))
    log.log("main", _said("three"))
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    assert _texts(log, ref.session) == ["one", "two\nlines", "three"]


def test_a_deleted_session_is_not_written_to_again(log: SessionLog, paths: VaultPaths) -> None:
    ref = log.log("main", _said("one"))
    (paths.root / paths.session("main", ref.session)).unlink()
    log.log("main", _said("two"))
    assert _texts(log, "2026-02-20_001") == ["two"]


def test_an_imported_session_is_never_continued(
    log: SessionLog, paths: VaultPaths, files: Files
) -> None:
    meta = SessionMeta("2026-02-20_001", "main", started=NOON.isoformat(), source="export")
    files.append(paths.session("main", meta.id), render_header(meta))
    assert log.log("main", _said("one")).session == "2026-02-20_002"


def test_a_damaged_session_is_left_alone(log: SessionLog, paths: VaultPaths) -> None:
    ref = log.log("main", _said("one"))
    file = paths.root / paths.session("main", ref.session)
    damaged = file.read_bytes() + b"\xff\xfe broken\n"
    file.write_bytes(damaged)
    assert log.log("main", _said("two")).session == "2026-02-20_002"
    assert file.read_bytes() == damaged


def test_a_secret_is_masked_before_it_is_written(log: SessionLog) -> None:
    ref = log.log("main", _said("my key is sk-ant-api03-" + "Ab3" * 31))
    assert "sk-ant" not in _texts(log, ref.session)[0]
    assert _texts(log, ref.session)[0].startswith("my key is ")


def test_a_crash_loses_at_most_the_message_in_flight(
    paths: VaultPaths, files: Files, reader: VaultReader
) -> None:
    command = [sys.executable, "-c", CRASHING, str(paths.root)]
    assert subprocess.run(command, check=False, timeout=60).returncode < 0
    log = _log(files, reader, paths)
    ref = log.log("main", _said("after the crash"))
    assert _texts(log, ref.session) == [f"message {n}" for n in range(1, 6)] + ["after the crash"]


def test_a_torn_message_is_completed_wherever_the_crash_cut_it(
    files: Files, reader: VaultReader, paths: VaultPaths
) -> None:
    header = render_header(SessionMeta("2026-02-20_001", "main", started=NOON.isoformat()))
    messages = [
        Message("user", f"zażółć {n}\nline two", NOON.isoformat(), f"id{n}", block=f"m{n}")
        for n in range(1, 11)
    ]
    whole = header + "".join(map(render_message, messages[:9]))
    last = render_message(messages[9]).encode()
    file = paths.root / paths.session("main", "2026-02-20_001")
    file.parent.mkdir(parents=True)
    for cut in range(len(last) + 1):
        file.write_bytes(whole.encode() + last[:cut])
        log = _log(files, reader, paths)
        retried = log.log("main", Message("user", messages[9].text, "", "id10"), now=NOON)
        ref = log.log("main", _said("next"))
        texts = _texts(log, ref.session)
        assert texts == [*(message.text for message in messages), "next"], cut
        assert retried.block == "m10"
        assert ref.block == "m11"


def test_sixteen_threads_at_once_lose_nothing(log: SessionLog) -> None:
    barrier = threading.Barrier(16)
    failures: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            for turn in range(5):
                log.log("main", _said(f"{number}.{turn}", f"{number}.{turn}"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert log.sessions("main") == ("2026-02-20_001",)
    transcript = log.read("main", "2026-02-20_001")
    assert len(transcript.messages) == 80
    assert {m.message.block for m in transcript.messages} == {f"m{n}" for n in range(1, 81)}
    assert not transcript.faults


def test_a_session_that_is_not_there_is_named(log: SessionLog) -> None:
    with pytest.raises(NotFound, match="2026-02-20_009"):
        log.read("main", "2026-02-20_009")
