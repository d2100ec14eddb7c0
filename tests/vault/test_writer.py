"""Writing below the memory folder: what is kept, what is refused."""

from __future__ import annotations

import os
import tempfile
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.errors import PathRefused, UnreadableNote, WriteConflict, WriteFailed
from vaultmind.vault import replacing
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

BRAIN = "VaultMind/agents/main/memory/brain.md"
LOG = "VaultMind/agents/main/memory/audit-x.jsonl"
NOW = datetime(2026, 2, 20, 10, 0, 3, tzinfo=UTC)


@pytest.fixture
def writer(tmp_path: Path) -> VaultWriter:
    return VaultWriter(VaultPaths(tmp_path))


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    path = tmp_path / BRAIN
    path.parent.mkdir(parents=True)
    return path


def left_over(folder: Path) -> list[Path]:
    return list(folder.rglob(f"{replacing.TEMP_PREFIX}*"))


def test_a_file_is_made_with_its_folders(writer: VaultWriter, tmp_path: Path) -> None:
    written = writer.edit(BRAIN, lambda file: "new\n" if file is None else None)
    assert written is not None and written.text == "new\n"
    assert (tmp_path / BRAIN).read_bytes() == b"new\n"
    assert not left_over(tmp_path)


def test_the_change_sees_the_file_and_what_it_returns_is_written(
    writer: VaultWriter, brain: Path
) -> None:
    brain.write_text("one\n")
    written = writer.edit(BRAIN, lambda file: f"{file.text if file else ''}two\n")
    assert brain.read_text() == "one\ntwo\n"
    assert written is not None and written.sha == replacing.digest(b"one\ntwo\n")
    assert not left_over(brain.parent)


def test_declining_or_returning_the_same_text_writes_nothing(
    writer: VaultWriter, brain: Path
) -> None:
    brain.write_bytes(b"\xef\xbb\xbfone\r\n")
    before = brain.stat()
    assert writer.edit(BRAIN, lambda file: None) is None
    same = writer.edit(BRAIN, lambda file: file.text if file else "")
    assert same is not None and same.text == "one\r\n"
    assert (brain.stat().st_ino, brain.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert writer.edit("VaultMind/none.md", lambda file: None) is None
    assert not (brain.parents[3] / "none.md").exists()


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("ab\n\r é🍞\ufeff"), max_size=40), st.booleans(), st.integers(0, 40))
def test_an_edit_keeps_every_other_byte(text: str, bom: bool, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = VaultWriter(VaultPaths(Path(folder)))
        path = Path(folder) / "VaultMind" / "x.md"
        path.parent.mkdir()
        mark = b"\xef\xbb\xbf" if bom else b""
        path.write_bytes(mark + text.encode())
        shown = text if bom or not text.startswith("\ufeff") else text[1:]
        at = min(at, len(shown))

        def insert(file: FileText | None) -> str:
            assert file is not None and file.text == shown
            return file.text[:at] + "INSERTED" + file.text[at:]

        writer.edit("VaultMind/x.md", insert)
        kept = mark if shown == text else b"\xef\xbb\xbf"
        assert path.read_bytes() == kept + (shown[:at] + "INSERTED" + shown[at:]).encode()


def test_the_file_keeps_its_mode(writer: VaultWriter, brain: Path) -> None:
    brain.write_text("one")
    brain.chmod(0o640)
    writer.edit(BRAIN, lambda file: "two")
    assert brain.stat().st_mode & 0o777 == 0o640


def test_nothing_outside_the_memory_folder_is_written(writer: VaultWriter, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("mine")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "VaultMind").mkdir()
    (tmp_path / "VaultMind" / "way").symlink_to(outside)
    (tmp_path / "VaultMind" / "link.md").symlink_to(note)
    for relative in (
        "note.md",
        "VaultMind/../note.md",
        "VaultMind/way/x.md",
        "VaultMind/link.md",
        str(note),
    ):
        with pytest.raises(PathRefused):
            writer.edit(relative, lambda file: "ours")
        with pytest.raises(PathRefused):
            writer.append(relative, "ours")
    assert note.read_text() == "mine" and not list(outside.iterdir())


def test_a_second_name_of_a_file_elsewhere_is_not_written_through(
    writer: VaultWriter, brain: Path, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("mine\n")
    os.link(note, brain)
    writer.append(BRAIN, "ours\n")
    assert (note.read_text(), brain.read_text()) == ("mine\n", "mine\nours\n")


def test_a_damaged_file_is_never_overwritten(writer: VaultWriter, brain: Path) -> None:
    brain.write_bytes(b"caf\xe9 au lait")
    with pytest.raises(UnreadableNote):
        writer.edit(BRAIN, lambda file: "ours")
    assert brain.read_bytes() == b"caf\xe9 au lait"


def test_a_vault_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    writer = VaultWriter(VaultPaths(tmp_path / "unplugged"))
    with pytest.raises(WriteFailed, match="vault is not there"):
        writer.edit(BRAIN, lambda file: "x")
    with pytest.raises(WriteFailed):
        writer.append(LOG, "x\n")
    assert not (tmp_path / "unplugged").exists()


def test_what_no_text_file_can_hold_is_replaced(writer: VaultWriter, tmp_path: Path) -> None:
    writer.edit(BRAIN, lambda file: "a\0b\ud800c")
    assert (tmp_path / BRAIN).read_text() == "a\ufffdb\ufffdc"
    writer.append(LOG, "a\ud83d\n")
    assert (tmp_path / LOG).read_text() == "a\ufffd\n"


def test_a_file_that_never_stops_changing_is_a_clear_error(
    writer: VaultWriter, brain: Path
) -> None:
    brain.write_text("0")

    def hostile(file: FileText | None) -> str:
        brain.write_text(str(int(file.text if file else "0") + 1))
        return "ours"

    with pytest.raises(WriteConflict, match=f"{BRAIN} kept changing.*tried 3 times"):
        writer.edit(BRAIN, hostile, tries=3)
    assert brain.read_text() == "3" and not left_over(brain.parent)


def test_a_file_deleted_or_made_meanwhile_is_seen(writer: VaultWriter, brain: Path) -> None:
    brain.write_text("one")
    seen = []

    def change(file: FileText | None) -> str:
        seen.append(file.text if file else None)
        if len(seen) == 1:
            brain.unlink()
        elif len(seen) == 2:
            brain.write_text("theirs")
        return f"{seen[-1]} ours"

    writer.edit(BRAIN, change)
    assert seen == ["one", None, "theirs"] and brain.read_text() == "theirs ours"


# --- appending ----------------------------------------------------------------------------


def test_appending_makes_the_file_and_adds_to_it(writer: VaultWriter, tmp_path: Path) -> None:
    writer.append(LOG, "one\n")
    writer.append(LOG, "two\n")
    assert (tmp_path / LOG).read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("torn", "mended"),
    [
        (b'{"a":1}\n{"b"', b'{"a":1}\n{"b"\nnew\n'),
        (b"one\r\ntw", b"one\r\ntw\r\nnew\n"),
        ("one\nzażół".encode()[:-1], "one\nzażó\nnew\n".encode()),
        ("🍞".encode()[:2], b"\nnew\n"),
        (b"", b"new\n"),
    ],
)
def test_a_torn_last_line_is_ended_first(
    writer: VaultWriter, tmp_path: Path, torn: bytes, mended: bytes
) -> None:
    (tmp_path / LOG).parent.mkdir(parents=True)
    (tmp_path / LOG).write_bytes(torn)
    writer.append(LOG, "new\n")
    assert (tmp_path / LOG).read_bytes() == mended


# --- what a crash leaves ------------------------------------------------------------------


def test_old_leftovers_are_swept_but_not_an_edit_that_came_out_of_an_exchange(
    writer: VaultWriter, brain: Path
) -> None:
    name = f"{replacing.TEMP_PREFIX}0-{replacing.digest(b'old')[:16]}-{'f' * 16}"
    torn, replaced = brain.with_name(f"{name}.part"), brain.with_name(name)
    edit, young = brain.with_name(f"{name[:-1]}e"), brain.with_name(f"{name[:-1]}d.part")
    contents = [(torn, "half"), (replaced, "old"), (edit, "a person's"), (young, "half")]
    for path, text in contents:
        path.write_text(text)
    for path in (torn, replaced, edit):
        os.utime(path, (1, 1))
    writer.edit(BRAIN, lambda file: "new")
    assert sorted(left_over(brain.parent)) == sorted([edit, young])


def test_many_threads_of_ours_lose_nothing(writer: VaultWriter, brain: Path) -> None:
    def work(number: int) -> None:
        for line in (f"{number}.{turn}\n" for turn in range(5)):
            writer.edit(BRAIN, lambda file, new=line: (file.text if file else "") + new)
            writer.append(LOG, line)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = sorted(f"{number}.{turn}" for number in range(16) for turn in range(5))
    assert sorted(brain.read_text().split()) == wanted
    assert sorted(brain.with_name("audit-x.jsonl").read_text().split()) == wanted
