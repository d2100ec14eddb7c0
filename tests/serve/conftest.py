"""Fixtures of the tests that run real processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests import nursery
from tests.serve.daemons import House
from tests.serve.vaults import config_of, open_vault, write_vault
from vaultmind.app import App, open_app
from vaultmind.client import launch
from vaultmind.client.client import Client


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


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """Return an app over a small vault of which all is searchable."""
    with open_vault(tmp_path) as app:
        yield app


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Return such an app for tests that do each other no harm."""
    with open_vault(tmp_path_factory.mktemp("app")) as app:
        yield app


@pytest.fixture
def unread_app(tmp_path: Path) -> Iterator[App]:
    """Return an app whose index is not needed, and so is not loaded."""
    write_vault(tmp_path / "vault")
    with closing(open_app(config_of(tmp_path))) as app:
        yield app


@pytest.fixture(scope="module")
def indexed_house(shared_house: House) -> House:
    """Return a house whose daemon has indexed the vault."""
    with Client.connect(shared_house.config) as client:
        client.call("index", {"vectors": False})
    return shared_house


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Return a small vault with a running daemon, for tests that do the daemon no harm."""
    house = House(tmp_path_factory.mktemp("shared"))
    house.running()
    yield house
    house.close()
