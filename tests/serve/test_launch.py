"""Finding the vault fast, and reaching or starting its daemon."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serve.daemons import ROOT, House, alive
from tests.waiting import until
from vaultmind.client import launch
from vaultmind.config import Flags, load_config
from vaultmind.errors import DaemonUnavailable, VaultLocked
from vaultmind.locate import locate
from vaultmind.serve.lock import VaultLock

HELLO = launch.hello("ops", kind="person", client="test")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder with a vault in it, in an environment that names nothing."""
    for name in [name for name in os.environ if name.startswith(("VAULTMIND_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    (tmp_path / "vault" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    (tmp_path / "bare" / "VaultMind" / "agents").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


CONFIG = 'vault = "~/vault"\nagent = "jaskier"\nstate_dir = "~/elsewhere"\n'


@pytest.mark.parametrize(
    ("flags", "environment", "folder", "config"),
    [
        (Flags("vault"), {}, ".", ""),
        (Flags("~/vault/"), {}, ".", ""),
        (Flags("link", agent="jaskier"), {}, ".", ""),
        (Flags(), {"VAULTMIND_VAULT": "vault/../vault"}, ".", ""),
        (Flags(), {}, "vault/deep/er", ""),
        (Flags(), {}, "link", ""),
        (Flags(), {}, "bare", ""),
        (Flags("vault", state_dir="~/st//a/./b"), {"VAULTMIND_STATE_DIR": "/x"}, ".", ""),
        (Flags("vault"), {"VAULTMIND_STATE_DIR": "st", "VAULTMIND_AGENT": "a"}, ".", ""),
        (Flags("vault"), {"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative"}, ".", ""),
        (Flags(), {}, ".", ".config/vaultmind/config.toml"),
        (Flags(), {"XDG_CONFIG_HOME": "/nowhere", "VAULTMIND_CONFIG": "my.toml"}, ".", "my.toml"),
    ],
)
def test_the_fast_way_finds_what_the_configuration_finds(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: Flags,
    environment: dict[str, str],
    folder: str,
    config: str,
) -> None:
    if config:
        (home / config).parent.mkdir(parents=True, exist_ok=True)
        (home / config).write_text(CONFIG, "utf-8")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)
    slow = load_config(flags)
    for light in (True, False):
        fast = locate(flags.vault, flags.agent, flags.state_dir, light=light)
        assert (fast.vault, fast.state_dir) == (str(slow.vault), str(slow.state_dir))
        assert (fast.agent, fast.agent_named) == (slow.agent, slow.agent_named)


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


def test_nothing_is_started_unless_asked(house: House) -> None:
    with pytest.raises(DaemonUnavailable, match="No daemon runs"):
        launch.connect(house.config, HELLO, start=False)
    assert launch.status(house.config) == {"running": False}
    assert launch.stop(house.config) is False
    assert not house.config.state_dir.exists()


def test_a_daemon_is_started_reached_and_stopped(plain_house: House) -> None:
    house = plain_house
    launch.connect(house.config, HELLO).close()
    found = launch.status(house.config)
    assert found["running"]
    assert found["vault"] == str(house.vault)
    assert found["clients"] == 0
    assert found["memory_mb"] > 5
    assert launch.stop(house.config)
    until(lambda: not alive(found["pid"], []))
    assert not house.socket.exists()
    assert "stopped" in house.log


def test_a_state_folder_that_cannot_be_made_is_named(house: House) -> None:
    house.state_root.write_text("a file", "utf-8")
    with pytest.raises(DaemonUnavailable, match="state folder"):
        launch.connect(house.config, HELLO)


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


@pytest.mark.parametrize(
    ("version", "older"), [("0.0.9", True), ("0.1.0", False), ("0.1.1", False), ("", True)]
)
def test_only_an_older_daemon_is_replaced(version: str, older: bool) -> None:
    assert launch._older(version) is older
