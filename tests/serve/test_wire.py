"""The socket: private, short, and whole lines both ways."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmind.client import wire
from vaultmind.client.wire import Wire
from vaultmind.errors import DaemonUnavailable


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Wire(ours), theirs


@pytest.mark.parametrize("line", [b"", b"nonsense\n", b"[1]\n", b"\xff\n", b"[" * 100_000])
def test_a_line_that_is_no_object_is_empty(line: bytes) -> None:
    assert wire.decode(line) == {}


def test_lines_arrive_whole_however_they_are_cut(ends: tuple[Wire, socket.socket]) -> None:
    near, far = ends
    far.sendall(b'{"a"')
    assert near.take() == []
    far.sendall(b':1}\n{"b":2}\n{"c"')
    assert near.take() == [b'{"a":1}\n', b'{"b":2}\n']
    far.sendall(b":3}\n")
    assert near.receive() == {"c": 3}
    far.close()
    assert near.take() is None
    assert near.receive() == {}


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


def test_the_peer_of_this_user_is_known(tmp_path: Path) -> None:
    with wire.listen(str(tmp_path)) as listener:
        near = wire.dial(str(tmp_path))
        far, _ = listener.accept()
        with near, far:
            assert wire.same_user(far)
