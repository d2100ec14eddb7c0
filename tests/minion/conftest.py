"""A real model for the tests that need one, opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.minion.model import config, gguf
from vaultmind.minion.local import LocalGenerator
from vaultmind.minion.notes import Notes, model_key


@pytest.fixture(scope="session")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state folder in which it is known that the model needs careful settings.

    On some machines the usual ones crash llama.cpp, which each test would have to live through.
    """
    folder = tmp_path_factory.mktemp("state")
    Notes(folder).learn(model_key(gguf()), safe=True)
    return folder


@pytest.fixture(scope="session")
def smol(careful: Path) -> Iterator[LocalGenerator]:
    """Return the model of all tests that leave it as it was."""
    generator = LocalGenerator(gguf(), config(idle_seconds=600.0), careful, background=False)
    yield generator
    generator.close()


@pytest.fixture
def own(careful: Path) -> Iterator[LocalGenerator]:
    """Return a model that a test may ill-treat."""
    generator = LocalGenerator(gguf(), config(), careful, background=False)
    yield generator
    generator.close()
