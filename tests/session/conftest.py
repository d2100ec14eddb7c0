"""A vault of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.session.room import Room
from tests.session.samples import Files
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def paths(tmp_path: Path) -> VaultPaths:
    """Return the names in an empty vault."""
    root = tmp_path / "vault"
    root.mkdir()
    return VaultPaths(root.resolve())


@pytest.fixture
def reader(paths: VaultPaths) -> VaultReader:
    """Return a reader with the usual limit."""
    return VaultReader(paths, max_bytes=8_000_000)


@pytest.fixture
def files(paths: VaultPaths) -> Files:
    """Return what stores records."""
    return Files(paths)


@pytest.fixture
def room(paths: VaultPaths) -> Iterator[Room]:
    """Return a vault without a session yet."""
    room = Room(paths)
    yield room
    room.talks.close()
