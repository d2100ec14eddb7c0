"""What the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.planner.shelf import Shelf
from vaultmind.index.linked import LinkedFolder


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Shelf]:
    """A vault without a note."""
    shelf = Shelf(tmp_path / "vault")
    yield shelf
    shelf.close()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Shelf]:
    """A linked folder without a file."""
    root = tmp_path / "shop"
    root.mkdir()
    shelf = Shelf(root, LinkedFolder(root.resolve()))
    yield shelf
    shelf.close()
