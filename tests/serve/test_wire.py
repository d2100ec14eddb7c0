"""The socket: private, short, and whole lines both ways."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from vaultmind.client import wire
from vaultmind.errors import DaemonUnavailable


def test_socket_and_folder_are_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o755)
    mask = os.umask(0)
    try:
        with wire.listen(str(folder)):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert stat.S_IMODE((folder / wire.SOCKET).stat().st_mode) == 0o600
    finally:
        os.umask(mask)


def test_a_long_state_folder_gets_a_short_socket(tmp_path: Path) -> None:
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
