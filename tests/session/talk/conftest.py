"""A conversation of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.session.talk.room import Room
from vaultmind.vault.paths import VaultPaths


@pytest.fixture
def room(paths: VaultPaths) -> Iterator[Room]:
    """Return a vault without a session yet."""
    room = Room(paths)
    yield room
    room.talks.close()
