"""One daemon per vault, whatever happens to it, and how it is reached."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.machine import ROOT, Machine
from vaultmind.client import launch, wire
from vaultmind.client.client import Client
from vaultmind.config import Flags, load_config
from vaultmind.errors import DaemonUnavailable, VaultLocked
from vaultmind.serve.lock import VaultLock

HELLO = launch.hello("ops", kind="person", client="test")


def test_many_who_start_it_at_once_share_one_daemon(house: Machine) -> None:
    config = house.config
    with ThreadPoolExecutor(5) as pool:
        reached = list(pool.map(lambda _: launch.connect(config, HELLO), range(5)))
    pids = {one.peer["pid"] for one in reached}
    for one in reached:
        one.close()
    assert len(pids) == 1


def test_a_vault_has_one_daemon_whatever_the_state_folder(house: Machine, tmp_path: Path) -> None:
    house.begin()
    flags = Flags(vault=str(house.vault), state_dir=str(tmp_path / "other"))
    other = load_config(flags, env=house.env)
    before = sorted(house.vault.rglob("*"))
    with pytest.raises(VaultLocked, match=r"serves the vault .* with another state folder"):
        VaultLock(other).acquire()
    assert sorted(house.vault.rglob("*")) == before, "the guard writes nothing into the vault"
    house.kill()
    launch.connect(other, HELLO).close()
    assert launch.stop(other)


def test_a_killed_daemon_leaves_nothing_that_hinders_the_next(house: Machine) -> None:
    house.begin()
    first = house.pid()
    house.kill()
    assert house.socket.exists(), "the stale socket is what this test is about"
    launch.connect(house.config, HELLO).close()
    assert house.pid() != first
    assert stat.S_IMODE(house.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(house.config.state_dir.stat().st_mode) == 0o700


def test_a_signal_ends_it_cleanly(house: Machine) -> None:
    child = house.begin()
    client = launch.connect(house.config, HELLO)
    assert child
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 0
    assert client.receive() == {}
    client.close()
    assert not house.socket.exists()
    assert house.log.rstrip().endswith("stopped")


def test_with_its_state_folder_gone_it_makes_way(house: Machine) -> None:
    child, folder = house.begin(), house.config.state_dir
    gone = folder.rename(folder.with_name("gone"))  # at once, while the daemon writes into it
    shutil.rmtree(gone, ignore_errors=True)
    with Client.connect(house.config) as client:
        assert child and client.call("daemon_status", {})["pid"] != child.pid
    assert child.wait(20) == 0
    assert house.pid(), "the old daemon left the new one's socket alone"


def test_an_older_daemon_is_replaced(house: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    child = house.begin()
    monkeypatch.setattr(launch, "__version__", "999.0.0")
    reached = launch.connect(house.config, HELLO)
    assert child and reached.peer["pid"] != child.pid, "a new one, though it is no younger"
    reached.close()
    assert child.wait(20) == 0


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


def test_an_in_process_owner_is_respected(house: Machine) -> None:
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


# --- the socket -------------------------------------------------------------------------------


def test_a_long_state_folder_gets_a_short_socket_closed_to_others(tmp_path: Path) -> None:
    folder = str(tmp_path / ("deep" * 40))
    path = wire.socket_path(folder)
    assert len(os.fsencode(path)) <= wire.MAX_PATH_BYTES
    with wire.listen(folder):
        assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700
        wire.dial(folder).close()
    wire.remove(path)


def test_a_folder_that_others_can_change_is_not_trusted(tmp_path: Path) -> None:
    with wire.listen(str(tmp_path)):
        tmp_path.chmod(0o770)
        with pytest.raises(DaemonUnavailable, match="can be changed by other users"):
            wire.dial(str(tmp_path))
