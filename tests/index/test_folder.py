"""What an index stands on, and that nothing leaves it while that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultmind.index.folder import VaultFolder, walked
from vaultmind.index.linked import LinkedFolder
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "vault"
    for path in ("A/a.md", "A/deep/b.md", "A/.hidden/c.md", "A/code.py", ".env"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("words\n")
    return root


def test_a_vault_takes_notes_and_a_linked_folder_code_too(vault: Path) -> None:
    notes, folder = VaultFolder(VaultPaths(vault)), LinkedFolder(vault)
    found = [set(one.scan(one.rules(), 0).entries) for one in (notes, folder)]
    assert found == [{"A/a.md", "A/deep/b.md"}, {"A/a.md", "A/deep/b.md", "A/code.py"}]
    assert [sorted(walked("A", one, one.rules())) for one in (notes, folder)] == [
        ["A/a.md", "A/deep/b.md"],
        ["A/a.md", "A/code.py", "A/deep/b.md"],
    ]
    assert list(walked("A/.hidden", folder, folder.rules())) == []
    assert notes.format != folder.format


def test_globs_of_the_person_hold_on_both(vault: Path) -> None:
    for one in (VaultFolder(VaultPaths(vault), ("deep",)), LinkedFolder(vault, ("deep",))):
        assert "A/deep/b.md" not in one.scan(one.rules(), 0).entries
