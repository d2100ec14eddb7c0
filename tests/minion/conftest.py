"""A real model for the tests that need one, opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.minion.model import config, gguf
from vaultmind.minion.gguf import read_head
from vaultmind.minion.models import LocalGenerator
from vaultmind.minion.state import learn


@pytest.fixture(scope="session")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state folder in which it is known that the model needs careful settings.

    On some machines the usual ones crash llama.cpp, which each test would have to live through.
    """
    folder = tmp_path_factory.mktemp("state")
    learn(folder, read_head(gguf()).key, safe=True)
    return folder


@pytest.fixture(scope="session")
def smol(careful: Path) -> Iterator[LocalGenerator]:
    """Return the model of all tests."""
    generator = LocalGenerator(gguf(), config(idle_seconds=600.0), careful, background=False)
    yield generator
    generator.close()
