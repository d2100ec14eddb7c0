"""Sync: the database holds what the vault holds, whoever changes what meanwhile."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vaultmind.errors import VaultNotFound
from vaultmind.index.fulltext.text_index import TextIndex
from vaultmind.index.ground import ground
from vaultmind.index.ground.ground import VaultGround
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.where import Where
from vaultmind.index.sync import sync as module
from vaultmind.index.sync.freshness import Changes
from vaultmind.index.sync.sync import Sync
from vaultmind.types import Progress
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import VaultPaths


class Desk:
    """A vault on disk and the index that follows it."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.database = Database(folder / "state" / "index.db")
        self.text = TextIndex(self.database)
        self.changes = Changes(0.0)
        self.sync = self.new_sync(VaultReader(VaultPaths(self.vault), 6_000_000))

    def new_sync(self, reader: VaultReader, exclude: tuple[str, ...] = ()) -> Sync:
        stands_on = VaultGround(reader.paths, exclude)
        return Sync(
            self.database, self.text, reader, stands_on, self.changes, lambda: datetime.now(UTC)
        )

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def paths(self) -> set[str]:
        return {row[0] for row in self.rows("SELECT path FROM files WHERE severity != 'skipped'")}

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with self.database.read() as connection:
            return connection.execute(query).fetchall()

    def find(self, query: str) -> set[str]:
        hits = self.text.search(query, Where(), 50)
        paths = dict(self.rows("SELECT rowid, path FROM chunks"))
        return {str(paths[hit.rowid]) for hit in hits}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.database.close()


def test_new_changed_and_deleted_notes_are_followed(desk: Desk) -> None:
    desk.write("a.md", "# Bread\n\nsourdough starter")
    desk.write("Deep/b.md", "rye flour")
    desk.sync.reconcile()
    assert desk.find("sourdough") == {"a.md"}
    desk.write("a.md", "# Bread\n\nfocaccia dough instead")
    (desk.vault / "Deep/b.md").unlink()
    desk.sync.reconcile()
    assert desk.find("focaccia") == {"a.md"}
    assert desk.find("sourdough") == set()
    assert desk.paths() == {"a.md"}


def test_only_what_changed_is_touched(desk: Desk) -> None:
    parts = [
        f"# {name}\n\n" + f"{name.lower()} part " * 60 for name in ("First", "Second", "Third")
    ]
    desk.write("a.md", "\n\n".join(parts))
    desk.sync.reconcile()
    before = dict(desk.rows("SELECT id, rowid FROM chunks"))
    text = (desk.vault / "a.md").read_text()
    desk.write("a.md", "New first line.\n\n" + text.replace("second", "other"))
    desk.sync.refresh(["a.md"])
    after = dict(desk.rows("SELECT id, rowid FROM chunks"))
    kept = {name for name in before if before[name] == after.get(name)}
    assert kept, "the untouched section keeps its chunk"
    for start, end, text_ in desk.rows('SELECT start, "end", text FROM chunks'):
        whole = (desk.vault / "a.md").read_text()
        assert str(text_)[:20] in whole[int(str(start)) : int(str(end))]


def test_deleted_vectors_are_ordered_and_a_return_revokes_the_order(desk: Desk) -> None:
    desk.write("a.md", "a lonely note")
    desk.sync.reconcile()
    (name,) = desk.rows("SELECT id FROM chunks")
    (desk.vault / "a.md").unlink()
    desk.sync.refresh(["a.md"])
    assert desk.rows("SELECT id FROM vector_deletes") == [name]
    desk.write("a.md", "a lonely note")
    desk.sync.refresh(["a.md"])
    assert desk.rows("SELECT id FROM vector_deletes") == []
    assert desk.rows("SELECT id FROM chunks") == [name]


def test_the_same_bytes_with_a_new_stamp_are_not_cut_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.write("a.md", "unchanging")
    desk.sync.reconcile()
    os.utime(file, ns=(1, 1))

    def unexpected(*_: object) -> None:
        raise AssertionError("cut again")

    monkeypatch.setattr(ground, "chunk_file", unexpected)
    desk.sync.reconcile()
    assert desk.rows("SELECT mtime_ns, fault FROM files") == [(1, "")]


def test_a_note_that_becomes_unreadable_leaves_the_index_and_stays_a_fault(desk: Desk) -> None:
    desk.write("a.md", "readable words")
    desk.sync.reconcile()
    desk.write("a.md", b"\xff\xfe\x00broken")
    for _ in range(3):
        desk.sync.reconcile()
        (fault,) = desk.sync.faults()
        assert (fault.path, fault.severity) == ("a.md", "skipped")
        assert "UTF-8" in fault.reason
        assert desk.find("readable") == set()
    desk.write("a.md", "readable again")
    desk.sync.reconcile()
    assert desk.sync.faults() == ()
    assert desk.find("readable") == {"a.md"}


def test_a_note_over_the_limit_is_one_fault(desk: Desk) -> None:
    desk.write("big.md", "small")
    desk.sync.reconcile()
    desk.write("big.md", "word " * 1_300_000)
    desk.sync.reconcile()
    (fault,) = desk.sync.faults()
    assert "over the limit" in fault.reason
    assert desk.paths() == set()


def test_a_note_of_five_megabytes_is_indexed(desk: Desk) -> None:
    line = f"An entry of the long log: {'0123456789abcdef' * 12}.\n\n"
    desk.write("big.md", "# Log\n\n" + line * (5_000_000 // len(line)) + "needleword")
    assert (desk.vault / "big.md").stat().st_size > 4_990_000
    desk.sync.reconcile()
    assert desk.find("needleword") == {"big.md"}


def test_broken_front_matter_is_reported_and_indexed(desk: Desk) -> None:
    desk.write("a.md", "---\ntags: [a: b: c\n---\nbody words")
    desk.sync.reconcile()
    (fault,) = desk.sync.faults()
    assert fault.severity == "partial"
    assert desk.find("body words") == {"a.md"}


def test_excluded_notes_leave_when_the_rules_change(desk: Desk) -> None:
    desk.write("Private/a.md", "private words")
    desk.write("b.md", "public words")
    desk.sync.reconcile()
    assert desk.paths() == {"Private/a.md", "b.md"}
    desk.write(".obsidian/app.json", '{"userIgnoreFilters": ["Private/"]}')
    desk.sync.reconcile()
    assert desk.paths() == {"b.md"}
    desk.sync.refresh(["Private/a.md"])
    assert desk.paths() == {"b.md"}
    (desk.vault / ".obsidian/app.json").unlink()
    desk.sync.reconcile()
    assert desk.paths() == {"Private/a.md", "b.md"}


def test_a_folder_that_moved_is_followed_both_ways(desk: Desk, tmp_path: Path) -> None:
    for number in range(5):
        desk.write(f"Old/Deep/n{number}.md", f"note number {number}")
    desk.sync.reconcile()
    (desk.vault / "Old").rename(desk.vault / "New")
    desk.sync.refresh_folders(["Old", "New"])
    assert desk.paths() == {f"New/Deep/n{number}.md" for number in range(5)}
    (desk.vault / "New").rename(tmp_path / "outside")
    desk.sync.refresh_folders(["New"])
    assert desk.paths() == set()
    (tmp_path / "outside").rename(desk.vault / "Back")
    desk.sync.refresh_folders(["Back"])
    assert len(desk.paths()) == 5


def test_folders_with_a_common_beginning_are_not_mixed_up(desk: Desk) -> None:
    for path in ("Work/a.md", "Work 2/b.md", "Work-3/c.md", "Work0/d.md"):
        desk.write(path, "words")
    desk.sync.reconcile()
    shutil.rmtree(desk.vault / "Work")
    desk.sync.refresh_folders(["Work"])
    assert desk.paths() == {"Work 2/b.md", "Work-3/c.md", "Work0/d.md"}


def test_a_missing_vault_is_not_an_empty_one(desk: Desk) -> None:
    desk.write("a.md", "words")
    desk.sync.reconcile()
    desk.vault.rename(desk.vault.with_name("unplugged"))
    with pytest.raises(VaultNotFound):
        desk.sync.reconcile()
    assert desk.paths() == {"a.md"}


def test_names_of_every_kind_are_indexed_or_left_in_peace(desk: Desk) -> None:
    names = ["żółć.md", "тест.md", "a\u0301.md", "á.md", "emoji 🎉.md", "#tag [x].md", "UP.MD"]
    for name in names:
        desk.write(name, f"words of {name}")
    (desk.vault / os.fsdecode(b"latin\xe9.md")).write_text("cannot be named in UTF-8")
    desk.sync.reconcile()
    desk.sync.refresh([os.fsdecode(b"latin\xe9.md"), "no\0good.md", "../out.md", "/etc/passwd"])
    assert desk.paths() == set(names)
    assert [fault.path for fault in desk.sync.faults()] == ["latin\\udce9.md"]


def test_symlinks_and_folders_named_like_notes_are_no_notes(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside")
    (desk.vault / "link.md").symlink_to(tmp_path / "secret.md")
    (desk.vault / "folder.md").mkdir()
    desk.write("was.md", "a file before")
    desk.sync.reconcile()
    (desk.vault / "was.md").unlink()
    (desk.vault / "was.md").mkdir()
    desk.sync.refresh(["link.md", "folder.md", "was.md"])
    desk.sync.reconcile()
    assert desk.paths() == set()
    assert desk.sync.faults() == ()


class ChangingReader(VaultReader):
    """Reads a file, and then someone saves it, as often as asked for."""

    __slots__ = ()
    saves: list[str] = []  # noqa: RUF012 - shared on purpose: the reader itself is frozen

    def read(self, relative: str) -> FileText:
        found = super().read(relative)
        if self.saves:
            self.paths.absolute(relative).write_text(self.saves.pop())
        return found


def test_a_note_modified_while_it_was_read_is_read_again(desk: Desk) -> None:
    desk.write("a.md", "first words")
    reader = ChangingReader(VaultPaths(desk.vault), 0)
    reader.saves[:] = ["final words, and more", "second words, longer"]
    desk.new_sync(reader).refresh(["a.md"])
    assert desk.find("final") == {"a.md"}
    assert desk.find("first") == set()


def test_a_note_that_never_rests_is_indexed_and_looked_at_again(desk: Desk) -> None:
    desk.write("a.md", "first words")
    reader = ChangingReader(VaultPaths(desk.vault), 0)
    reader.saves[:] = [f"words {'again ' * number}" for number in range(10)]
    desk.new_sync(reader).refresh(["a.md"])
    assert desk.find("words") == {"a.md"}
    assert desk.changes.state("a.md") != "FRESH"
    assert "a.md" in desk.changes.take(float("inf"))


def test_a_slow_reader_does_not_overwrite_a_newer_state(desk: Desk) -> None:
    desk.write("a.md", "older words")
    slow = desk.sync._prepare("a.md")
    desk.write("a.md", "newer and longer words")
    desk.sync.refresh(["a.md"])
    desk.sync._store([slow])
    assert desk.find("newer") == {"a.md"}
    assert desk.find("older") == set()


def test_a_file_changed_a_moment_ago_is_looked_at_once_more(desk: Desk) -> None:
    desk.write("a.md", "words")
    desk.sync.refresh(["a.md"])
    assert desk.changes.take(float("inf")) == ("a.md",)
    os.utime(desk.vault / "a.md", ns=(1, 1))
    stat = (desk.vault / "a.md").stat()
    assert module._is_settled(module.FileStat(1, stat.st_ctime_ns - 10**9, 5))


def test_one_odd_file_does_not_stop_the_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    real_cut, real_add = ground.chunk_file, desk.text.add

    def cut(path: str, *rest: object) -> object:
        if path == "odd.md":
            raise RecursionError("too deep")
        return real_cut(path, *rest)  # type: ignore[arg-type]

    def add(rows: list[tuple[int, object]]) -> None:
        if any("poison" in str(chunk) for _, chunk in rows):
            raise ValueError("no such word")
        real_add(rows)  # type: ignore[arg-type]

    monkeypatch.setattr(ground, "chunk_file", cut)
    monkeypatch.setattr(desk.text, "add", add)
    for name in ("a", "odd", "poisoned", "z"):
        desk.write(f"{name}.md", f"words of {name} {'poison' if name == 'poisoned' else ''}")
    desk.sync.reconcile()
    assert desk.paths() == {"a.md", "z.md"}
    reasons = {fault.path: fault.reason for fault in desk.sync.faults()}
    assert "too deep" in reasons["odd.md"]
    assert "no such word" in reasons["poisoned.md"]


def test_a_new_format_indexes_everything_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("a.md", "some words")
    desk.sync.reconcile()
    with desk.database.write() as connection:
        connection.execute("DELETE FROM fts")
    desk.sync.reconcile()
    monkeypatch.setattr(ground, "VAULT_FORMAT", "another")
    desk.sync.reconcile()
    assert desk.find("words") == {"a.md"}
    assert desk.rows("SELECT * FROM vector_deletes") == []


def test_many_threads_leave_the_last_state(desk: Desk) -> None:
    desk.write("a.md", "start")

    def save(number: int) -> None:
        for turn in range(10):
            desk.write("a.md", f"thread {number} turn {turn} " + "x" * (number * 10 + turn))
            desk.sync.refresh(["a.md"])

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    desk.sync.refresh(["a.md"])
    (row,) = desk.rows("SELECT text FROM chunks")
    assert row[0] == (desk.vault / "a.md").read_text()


def test_progress_counts_every_file_and_stopping_ends_after_a_batch(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH_FILES", 4)
    for number in range(20):
        desk.write(f"n{number:02}.md", "words")
    steps: list[Progress] = []

    def report(progress: Progress) -> None:
        steps.append(progress)
        if progress.done == 8:
            desk.sync.stop()

    desk.sync.reconcile(report)
    assert [step.done for step in steps] == [0, 4, 8]
    assert {step.total for step in steps} == {20}
    assert len(desk.paths()) == 8


def test_memory_comes_first_and_identities_are_not_indexed(desk: Desk) -> None:
    desk.write("Aaa.md", "a note")
    desk.write("VaultMind/agents/main/memory/brain.md", "# user\n- Likes rye bread ^k3f9\n")
    desk.write("VaultMind/agents/main/identity.md", "# Who I am\n")
    desk.sync.reconcile()
    first = desk.rows("SELECT path FROM chunks ORDER BY rowid LIMIT 1")
    assert first == [("VaultMind/agents/main/memory/brain.md",)]
    assert desk.sync.total == 2
    kinds = dict(desk.rows("SELECT kind, agent FROM chunks"))
    assert kinds == {"fact": "main", "note": ""}


def test_an_outdated_stamp_is_noticed_by_the_hash_alone(desk: Desk) -> None:
    file = desk.write("a.md", "words one")
    desk.sync.reconcile()
    stat = file.stat()
    file.write_text("words two")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    desk.sync.refresh(["a.md"])
    assert desk.find("two") == {"a.md"}
