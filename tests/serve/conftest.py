"""Fixtures of the tests that run real processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests import nursery
from tests.machine import TWO_NOTES, Machine
from tests.serve.vaults import config_of, open_vault, write_vault
from vaultmind.app import App, open_app
from vaultmind.client import launch
from vaultmind.client.client import Client


def furnished(folder: Path) -> Machine:
    machine = Machine(folder / "vault", folder / "state")
    machine.furnish(TWO_NOTES)
    return machine


@pytest.fixture
def plain_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Return a small vault; every process on it is ended afterwards."""
    machine = furnished(tmp_path)
    machine.forked = False
    for name, value in machine.env.items():
        monkeypatch.setenv(name, value)  # what `launch` starts from here inherits this
    yield machine
    machine.close()


@pytest.fixture
def house(plain_house: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a small vault whose processes are forked, also those that `launch` starts."""
    plain_house.forked = True
    monkeypatch.setattr(launch, "_spawn", nursery.spawn)
    return plain_house


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Return a small vault with a daemon that has read it, for tests that do it no harm."""
    machine = furnished(tmp_path_factory.mktemp("shared"))
    machine.begin()
    with Client.connect(machine.config) as client:
        client.call("index", {"vectors": False})
    yield machine
    machine.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """Return an app over a small vault of which all is searchable."""
    with open_vault(tmp_path) as app:
        yield app


@pytest.fixture
def unread_app(tmp_path: Path) -> Iterator[App]:
    """Return an app whose index is not needed, and so is not loaded."""
    write_vault(tmp_path / "vault")
    with closing(open_app(config_of(tmp_path))) as app:
        yield app
