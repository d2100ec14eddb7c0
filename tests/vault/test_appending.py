"""Appending beside an editor that saves in the same moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vaultmind.vault.appending import append_file


@pytest.mark.parametrize("had_read", [True, False])
def test_an_editor_that_saves_in_the_middle_takes_nothing_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, had_read: bool
) -> None:
    file = tmp_path / "talk.md"
    file.write_bytes(b"begin\n")
    flush, saved = os.fsync, []

    def editor(descriptor: int) -> None:
        """Save in its place what was read just now, or a moment before ours was there."""
        if not saved:
            text = file.read_bytes() if had_read else b"begin\n"
            saved.append(text)
            file.write_bytes(text.replace(b"begin", b"begun by hand"))
        flush(descriptor)

    monkeypatch.setattr("vaultmind.vault.appending.os.fsync", editor)
    append_file(file, b"one more ^m2\n")
    assert file.read_bytes() == b"begun by hand\none more ^m2\n"
