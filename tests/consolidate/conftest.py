"""A vault of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.consolidate.sleeping import Bed


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    """Return a vault in which conversations are held and consolidated."""
    root = tmp_path / "vault"
    root.mkdir()
    return Bed(root.resolve())
