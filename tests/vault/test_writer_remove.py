"""vault/writer: a file goes only as it was seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.errors import NotFound, PathRefused, WriteConflict
from vaultmind.vault.files import digest
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter


def test_a_file_is_removed_only_while_it_holds_what_was_seen(tmp_path: Path) -> None:
    writer = VaultWriter(VaultPaths(tmp_path))
    path = tmp_path / "VaultMind/x.md"
    path.parent.mkdir()
    path.write_bytes(b"seen")
    with pytest.raises(WriteConflict):
        writer.remove("VaultMind/x.md", digest(b"other"))
    assert path.read_bytes() == b"seen"
    writer.remove("VaultMind/x.md", digest(b"seen"))
    assert not path.exists()
    with pytest.raises(NotFound):
        writer.remove("VaultMind/x.md", digest(b"seen"))
    (tmp_path / "Note.md").write_bytes(b"mine")
    with pytest.raises(PathRefused):
        writer.remove("Note.md", digest(b"mine"))
    assert (tmp_path / "Note.md").exists()
