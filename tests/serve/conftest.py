"""Fixtures of the tests that run real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.daemons import House


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Return a small vault; every process on it is ended afterwards."""
    house = House(tmp_path)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for name, value in house.environment.items():
        monkeypatch.setenv(name, value)  # what `launch` starts from here inherits this
    yield house
    house.close()


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Return a small vault with a running daemon, for tests that do the daemon no harm."""
    house = House(tmp_path_factory.mktemp("shared"))
    house.running()
    yield house
    house.close()
