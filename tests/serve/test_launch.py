"""Finding the vault fast, and reaching or starting its daemon."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.serve.daemons import ROOT, House
from vaultmind.client import launch
from vaultmind.errors import DaemonUnavailable, VaultLocked
from vaultmind.serve.lock import VaultLock

HELLO = launch.hello("ops", kind="person", client="test")


def test_the_pipe_imports_next_to_nothing() -> None:
    code = (
        "import sys; from vaultmind.entry import main; from vaultmind.client import bridge;"
        "bridge.locate('.'); print(' '.join(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("VAULTMIND_CONFIG", None)
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, check=True
    )
    loaded = set(done.stdout.decode().split())
    heavy = {"mcp", "chromadb", "numpy", "click", "asyncio", "argparse", "typing", "pathlib"}
    assert not loaded & (heavy | {"dataclasses", "tomllib", "logging", "subprocess", "filelock"})


def test_an_in_process_owner_is_respected(house: House) -> None:
    lock = VaultLock(house.config)
    lock.acquire()
    try:
        with pytest.raises(DaemonUnavailable, match=f"An in-process call .pid {os.getpid()}"):
            launch.connect(house.config, HELLO)
    finally:
        lock.release()
    launch.connect(house.config, HELLO).close()
    with pytest.raises(VaultLocked, match=f"The daemon .pid {house.pid()}"):
        VaultLock(house.config).acquire()
