"""An import writes each session once, whatever happens, and however often it is repeated."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
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
from tests.waiting import until
from vaultmind.errors import AlreadyThere, BadArgument
from vaultmind.session.imports.imports import Imported, Importer
from vaultmind.session.records.store import session_ids
from vaultmind.types import Progress
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.transcript import Transcript, parse_session

PROCESS = """
import sys
from pathlib import Path
from tests.session.samples import Files
from vaultmind.session.imports.imports import Importer
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

paths = VaultPaths(Path(sys.argv[1]))
importer = Importer(Files(paths), VaultReader(paths, 8_000_000), paths)
importer.import_file(Path(sys.argv[2]), "main", lambda progress: print(progress.done, flush=True))
"""


@pytest.fixture
def importer(paths: VaultPaths, reader: VaultReader, files: Files) -> Importer:
    return Importer(files, reader, paths)


def _transcripts(paths: VaultPaths, agent: str = "main") -> list[Transcript]:
    texts = ((paths.root / paths.session(agent, s)) for s in session_ids(paths, agent))
    return [parse_session(path.read_text("utf-8")) for path in texts]


def _bytes(paths: VaultPaths) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (paths.root / paths.sessions("main")).iterdir()}


def _ids(paths: VaultPaths) -> list[tuple[str, str]]:
    return [(t.meta.source, m.message.id) for t in _transcripts(paths) for m in t.messages]


def test_a_long_conversation_is_imported_fast_with_ids_and_names(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    path = write_lines(tmp_path / "locomo.jsonl", *locomo())
    steps: list[Progress] = []
    started = time.perf_counter()
    imported = importer.import_file(path, "main", steps.append)
    assert time.perf_counter() - started < 5  # 0.2 s when alone
    days = tuple(f"2023-05-{day:02d}_001" for day in range(1, 20))
    assert imported == Imported(sessions=19, messages=600, skipped=0, session_ids=days)
    assert (steps[0].done, steps[-1].done, steps[-1].total) == (0, 19, 19)

    first = _transcripts(paths)[0]
    assert first.meta.id == "2023-05-01_001"
    assert (first.meta.source, first.meta.state) == ("session_1", "ended")
    assert first.meta.ended == first.messages[-1].message.time
    message = first.messages[0].message
    assert (message.id, message.speaker, message.block) == ("D1:1", "Caroline", "m1")
    assert message.time.startswith("2023-05-01T13:01:00")
    assert all(not transcript.faults for transcript in _transcripts(paths))


def test_the_same_file_twice_changes_no_byte(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    path = write_lines(tmp_path / "locomo.jsonl", *locomo())
    importer.import_file(path, "main")
    before = _bytes(paths)
    again = importer.import_file(path, "main")
    assert again == Imported(sessions=0, messages=0, skipped=600)
    assert _bytes(paths) == before


def test_a_grown_file_appends_only_what_is_new(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    records = locomo()
    importer.import_file(write_lines(tmp_path / "a.jsonl", *records[:570]), "main")
    before = _bytes(paths)
    grown = importer.import_file(write_lines(tmp_path / "b.jsonl", *records), "main")
    assert (grown.messages, grown.skipped) == (30, 570)
    after = _bytes(paths)
    changed = {name for name in after if after[name] != before.get(name)}
    assert len(changed) == grown.sessions < 3
    assert _ids(paths) == [(record["session"], record["id"]) for record in records]
    last = _transcripts(paths)[-1]
    assert last.meta.ended == last.messages[-1].message.time


def test_a_persons_edit_of_an_imported_session_survives_its_growth(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    records = locomo(sessions=1, turns=4)
    importer.import_file(write_lines(tmp_path / "a.jsonl", *records[:2]), "main")
    file = paths.root / paths.session("main", "2023-05-01_001")
    text = file.read_text("utf-8").replace("Turn 1", "My turn one").replace("\n", "\r\n")
    file.write_bytes(text.encode() + b"A remark at the end")
    importer.import_file(write_lines(tmp_path / "a.jsonl", *records), "main")
    raw = file.read_bytes()
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert b"A remark at the end" in raw
    (transcript,) = _transcripts(paths)
    assert [m.message.id for m in transcript.messages] == ["D1:1", "D1:2", "D1:3", "D1:4"]
    assert transcript.messages[0].message.text.startswith("My turn one")


def test_two_conversations_of_one_name_stay_apart(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    one = {"session": "1", "time": "2023-05-08T10:00:00", "content": "of tea", "id": "D1:1"}
    two = {"session": "1", "time": "2023-06-09T11:00:00", "content": "of rye", "id": "D1:1"}
    for _ in range(2):
        importer.import_file(write_lines(tmp_path / "a.jsonl", one), "main")
        importer.import_file(write_lines(tmp_path / "b.jsonl", two), "main")
    texts = [[m.message.text for m in t.messages] for t in _transcripts(paths)]
    assert texts == [["of tea"], ["of rye"]]


def test_a_repeated_record_counts_once_and_a_reused_id_loses_nothing(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    one = {"session": "1", "time": "2023-05-08T10:00:00", "content": "tea", "id": "x"}
    path = write_lines(tmp_path / "a.jsonl", one, one, {**one, "content": "rye"})
    for _ in range(2):
        importer.import_file(path, "main")
    (transcript,) = _transcripts(paths)
    assert [(m.message.id, m.message.text) for m in transcript.messages] == [
        ("x", "tea"),
        ("x~2", "rye"),
    ]


def test_exports_become_ended_sessions_with_their_title_as_topic(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    claude = claude_conversation(
        claude_message(1, "human", "Jak upiec chleb?"), claude_message(2, "assistant", "Powoli.")
    )
    gpt = gpt_conversation(
        gpt_node("q", "client-created-root", "user", gpt_text("Where to?")), current="q"
    )
    importer.import_file(write_json(tmp_path / "claude.json", [claude]), "main")
    importer.import_file(write_json(tmp_path / "gpt.json", [gpt]), "main")
    first, second = sorted(_transcripts(paths), key=lambda t: t.meta.topics)
    assert (first.meta.topics, first.meta.source) == (("Planning a trip",), "gpt-1")
    assert (second.meta.topics, second.meta.state) == (("Rye bread",), "ended")


def test_two_imports_at_once_double_nothing(
    tmp_path: Path, reader: VaultReader, paths: VaultPaths, files: Files
) -> None:
    path = write_lines(tmp_path / "locomo.jsonl", *locomo(turns=190))
    barrier = threading.Barrier(3)
    failures: list[BaseException] = []

    def run() -> None:
        barrier.wait()
        try:
            Importer(files, reader, paths).import_file(path, "main")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(_ids(paths)) == len(set(_ids(paths))) == 190


def test_two_processes_importing_at_once_double_nothing(tmp_path: Path, paths: VaultPaths) -> None:
    path = write_lines(tmp_path / "locomo.jsonl", *locomo(turns=190))
    runs = [_start(paths, path) for _ in range(2)]
    assert [run.wait(60) for run in runs] == [0, 0]
    for run in runs:
        run.communicate()
    assert len(_ids(paths)) == len(set(_ids(paths))) == 190
    assert len(session_ids(paths, "main")) == 18


def test_a_kill_leaves_whole_sessions_and_a_repeat_completes_them(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    records = locomo(sessions=28, turns=560)
    path = write_lines(tmp_path / "locomo.jsonl", *records)
    for _ in range(3):
        before = len(session_ids(paths, "main"))
        run = _start(paths, path)
        until(lambda so_far=before: len(session_ids(paths, "main")) > so_far, 30)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        for transcript in _transcripts(paths):
            source = transcript.meta.source
            wanted = [record["id"] for record in records if record["session"] == source]
            assert [m.message.id for m in transcript.messages] == wanted
    importer.import_file(path, "main")
    assert _ids(paths) == [(record["session"], record["id"]) for record in records]


def _start(paths: VaultPaths, path: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROCESS, str(paths.root), str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_a_session_too_large_to_read_again_is_cut_in_parts(
    tmp_path: Path, paths: VaultPaths, files: Files
) -> None:
    small = VaultReader(paths, max_bytes=20_000)
    records = locomo(sessions=1, turns=40)
    records[5]["content"] = "word " * 5000
    path = write_lines(tmp_path / "a.jsonl", *records)
    imported = Importer(files, small, paths).import_file(path, "main")
    assert "too long" in imported.faults[0]
    before = _bytes(paths)
    assert all(len(raw) < 20_000 for raw in before.values())
    assert len(before) > 1
    assert Importer(files, small, paths).import_file(path, "main").messages == 0
    assert _bytes(paths) == before


def test_many_conversations_take_linear_time(
    tmp_path: Path, importer: Importer, paths: VaultPaths, files: Files
) -> None:
    talks = [
        gpt_conversation(
            gpt_node(f"q{n}", "client-created-root", "user", gpt_text("a question " * 50)),
            gpt_node(f"a{n}", f"q{n}", "assistant", gpt_text("an answer " * 500)),
            current=f"a{n}",
            key=f"gpt-{n}",
        )
        for n in range(150)
    ]
    imported = importer.import_file(write_json(tmp_path / "c.json", talks), "main")
    assert (imported.sessions, imported.messages) == (150, 300)
    assert files.saves == 150  # one write a session


def test_a_file_that_holds_no_conversation_is_refused_in_words(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Just a note.\n", "utf-8")
    with pytest.raises(BadArgument, match=r"JSON Lines.*line 1: broken JSON"):
        importer.import_file(path, "main")
    assert not session_ids(paths, "main")


def test_lines_that_cannot_be_taken_do_not_stop_the_rest(
    tmp_path: Path, importer: Importer
) -> None:
    good = json.dumps({"session": "s", "time": "2023-05-08", "content": "x"})
    path = tmp_path / "talk.jsonl"
    path.write_text(f"{good}\n{{oops\n", "utf-8")
    imported = importer.import_file(path, "main")
    assert imported.messages == 1
    assert imported.faults[0].startswith("line 2: broken JSON")


def test_ten_thousand_messages_become_one_session_of_one_segment(
    tmp_path: Path, importer: Importer, paths: VaultPaths, reader: VaultReader
) -> None:
    records = [
        {
            "session": f"s{n // 250}",
            "time": f"2026-02-{1 + n // 500:02d}T{n // 60 % 24:02d}:{n % 60:02d}:00",
            "speaker": "Caroline" if n % 2 else "Melanie",
            "content": f"Turn {n}: the pottery class was great, and {n % 7} of us went there.",
            "id": f"D{n}",
        }
        for n in range(10_000)
    ]
    path = write_lines(tmp_path / "long.jsonl", *records)
    imported = importer.import_file(path, "main", one_session=True)
    assert (imported.sessions, imported.messages, imported.faults) == (1, 10_000, ())
    [session] = session_ids(paths, "main")
    transcript = parse_session(reader.read(paths.session("main", session)).text)
    assert [one.message.id for one in transcript.messages] == [one["id"] for one in records]
    assert {one.segment for one in transcript.messages} == {1}
    assert (transcript.meta.source, transcript.meta.state) == ("long.jsonl", "ended")


def test_a_session_is_not_cut_up_to_the_largest_file_that_is_read(
    tmp_path: Path, paths: VaultPaths, files: Files
) -> None:
    """Counted in bytes as they are written: most of these letters take two."""
    reader = VaultReader(paths, max_bytes=1_000_000)
    importer = Importer(files, reader, paths)
    records = [
        {"session": f"s{n // 100}", "time": f"2026-02-20T10:00:{n % 60:02d}+01:00",
         "content": "Żółw śpi, ёжик спит. " * 150, "id": f"id-{n}"}
        for n in range(190)
    ]  # fmt: skip
    path = write_lines(tmp_path / "large.jsonl", *records)
    importer.import_file(path, "main", one_session=True)
    [session] = session_ids(paths, "main")
    assert 930_000 < reader.read(paths.session("main", session)).stat.size <= 1_000_000
    more = [*records, *({**one, "id": f"more-{one['id']}"} for one in records[:30])]
    grown = write_lines(tmp_path / "large.jsonl", *more)
    assert importer.import_file(grown, "main", one_session=True).messages == 30
    sizes = [
        reader.read(paths.session("main", one)).stat.size for one in session_ids(paths, "main")
    ]
    assert len(sizes) == 2 and max(sizes) <= 1_000_000
    assert importer.import_file(grown, "main", one_session=True).messages == 0


@pytest.mark.parametrize("one_session", [False, True])
@pytest.mark.parametrize("with_ids", [False, True])
def test_a_file_that_was_imported_the_other_way_is_refused_with_words(
    tmp_path: Path, importer: Importer, paths: VaultPaths, *, one_session: bool, with_ids: bool
) -> None:
    records = locomo(sessions=3, turns=30)
    if not with_ids:
        records = [{name: one[name] for name in one if name != "id"} for one in records]
    path = write_lines(tmp_path / "talk.jsonl", *records)
    importer.import_file(path, "main", one_session=one_session)
    before = _bytes(paths)
    with pytest.raises(AlreadyThere, match=r"2023-05-01_001.*--one-session"):
        importer.import_file(path, "main", one_session=not one_session)
    assert _bytes(paths) == before
    assert importer.import_file(path, "main", one_session=one_session).messages == 0


def test_another_file_with_the_same_names_is_imported_either_way(
    tmp_path: Path, importer: Importer, paths: VaultPaths
) -> None:
    importer.import_file(write_lines(tmp_path / "talk.jsonl", *locomo(3, 30)), "main")
    other = [one | {"content": f"Another: {one['content']}"} for one in locomo(3, 30)]
    path = write_lines(tmp_path / "other.jsonl", *other)
    assert importer.import_file(path, "main", one_session=True).messages == 30


def test_the_answer_names_the_sessions_that_were_written_of_many_the_first_and_the_last(
    tmp_path: Path, importer: Importer
) -> None:
    records = locomo(sessions=25, turns=600)
    few = importer.import_file(write_lines(tmp_path / "a.jsonl", *records[:30]), "main")
    assert few.session_ids == ("2023-05-01_001", "2023-05-02_001")
    many = importer.import_file(write_lines(tmp_path / "a.jsonl", *records), "main")
    assert many.session_ids == ("2023-05-02_001", "2023-05-24_001") and many.sessions == 23
    again = importer.import_file(write_lines(tmp_path / "a.jsonl", *records), "main")
    assert again.session_ids == ()
