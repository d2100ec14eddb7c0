"""Sync: the database holds what the vault holds, whoever changes what meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.vault import Desk
from vaultmind.errors import VaultNotFound
from vaultmind.index import folder
from vaultmind.index.folder import VaultFolder
from vaultmind.index.sync import Sync
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.close()


def test_a_missing_vault_is_not_an_empty_one(desk: Desk) -> None:
    desk.write("a.md", "words")
    desk.sync.reconcile()
    desk.root.rename(desk.root.with_name("unplugged"))
    with pytest.raises(VaultNotFound):
        desk.sync.reconcile()
    assert desk.indexed() == {"a.md"}


def test_names_of_every_kind_are_indexed_or_left_in_peace(desk: Desk) -> None:
    names = ["żółć.md", "тест.md", "a\u0301.md", "á.md", "emoji 🎉.md", "#tag [x].md", "UP.MD"]
    for name in names:
        desk.write(name, f"words of {name}")
    (desk.root / os.fsdecode(b"latin\xe9.md")).write_text("cannot be named in UTF-8")
    desk.sync.reconcile()
    desk.sync.refresh([os.fsdecode(b"latin\xe9.md"), "no\0good.md", "../out.md", "/etc/passwd"])
    assert desk.indexed() == set(names)
    assert [fault.path for fault in desk.sync.faults()] == ["latin\\udce9.md"]


def test_symlinks_and_folders_named_like_notes_are_no_notes(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside")
    (desk.root / "link.md").symlink_to(tmp_path / "secret.md")
    (desk.root / "folder.md").mkdir()
    desk.write("was.md", "a file before")
    desk.sync.reconcile()
    (desk.root / "was.md").unlink()
    (desk.root / "was.md").mkdir()
    desk.sync.refresh(["link.md", "folder.md", "was.md"])
    desk.sync.reconcile()
    assert desk.indexed() == set()
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


def test_a_note_that_never_rests_is_indexed_and_looked_at_again(desk: Desk) -> None:
    desk.write("a.md", "first words")
    reader = ChangingReader(VaultPaths(desk.root), 0)
    reader.saves[:] = [f"words {'again ' * number}" for number in range(10)]
    ground = VaultFolder(reader.paths)
    ground.reader = reader
    sync = Sync(desk.database, ground)
    sync.refresh(["a.md"])
    assert desk.find("words") == {"a.md"}
    assert "a.md" in sync.marked


def test_one_odd_file_does_not_stop_the_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    real_cut = folder.chunk_file

    def cut(path: str, *rest: object) -> object:
        if path == "odd.md":
            raise RecursionError("too deep")
        return real_cut(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(folder, "chunk_file", cut)
    for name in ("a", "odd", "z"):
        desk.write(f"{name}.md", f"words of {name}")
    desk.write("half.canvas", '{"nodes": [{"type": "text", "text": "half of a letter \\ud83d"}]}')
    desk.sync.reconcile()
    assert desk.indexed() == {"a.md", "z.md"}
    reasons = {fault.path: fault.reason for fault in desk.sync.faults()}
    assert "too deep" in reasons["odd.md"]
    assert "surrogates" in reasons["half.canvas"]
