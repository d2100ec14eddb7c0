"""Fixtures of the tests that run real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import nursery
from tests.serve.daemons import House
from vaultmind.client import launch


@pytest.fixture
def house(plain_house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """Return a small vault whose processes are forked, also those that `launch` starts."""
    plain_house.forked = True
    monkeypatch.setattr(launch, "_spawn", nursery.spawn)
    return plain_house


@pytest.fixture
def plain_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Return a small vault; every process on it is ended afterwards."""
    house = House(tmp_path)
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
