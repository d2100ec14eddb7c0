"""The daemon's socket and the words on it: JSON, one object a line. Standard library only.

The client speaks first:  {"vaultmind": 1, "version", "mode": "mcp" | "ops", "kind", "agent",
"client"}, a pipe also "pipe" (its random name), "parent", "folder" and "host_id" (which
window it belongs to); the daemon answers {"vaultmind": 1, "version", "pid"} or {"error": …}.
Then mode `mcp` is MCP as on stdio, and mode `ops` is {"id", "op", "args"} answered by any number
of {"id", "progress"} and one {"id", "ok"} or {"id", "error"}.

The socket is a Unix one in the state folder, or under a short hashed name.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys

from vaultmind.errors import DaemonUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PROTOCOL = 1
MAX_LINE_BYTES = 4 * 1024 * 1024
"""The longest line the daemon takes; a message larger than this belongs in a file."""
SOCKET = "daemon.sock"
MAX_PATH_BYTES = 100
"""A Unix socket's path may have 108 bytes on Linux, 104 on macOS, the closing zero included."""
SHORT_ROOT = "/tmp"
_BACKLOG = 128
_READ_BYTES = 65536


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(line: bytes | bytearray | str) -> dict[str, Any]:
    """Return the object a line holds, empty when it holds none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


class Wire:
    """The client's end of a connection, blocking, a line at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.peer: dict[str, Any] = {}
        """What the daemon said of itself in the greeting."""
        self._rest = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; raises OSError when the daemon is gone."""
        self.sock.sendall(encode(message))

    def receive(self) -> dict[str, Any]:
        """Return the next message; empty when the daemon is gone."""
        while b"\n" not in self._rest:
            data = self._read()
            if not data:
                return {}
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return decode(line)

    def ask(
        self, op: str, args: dict[str, Any], tell: Callable[[dict[str, Any]], object] | None = None
    ) -> dict[str, Any]:
        """Return the answer to an operation, `ok` or `error`; empty when the daemon is gone.

        `tell` takes how far it is. Raises OSError.
        """
        self.send({"id": 1, "op": op, "args": args})
        while answer := self.receive():
            if "progress" not in answer:
                return answer
            if tell is not None:
                tell(answer["progress"])
        return {}

    def take(self) -> list[bytes] | None:
        """Read once and return the lines that are whole, newlines kept; None at the end."""
        data = self._read()
        if not data:
            return None
        self._rest += data
        if b"\n" not in data:
            return []
        whole, _, self._rest = self._rest.rpartition(b"\n")
        return [bytes(line) + b"\n" for line in whole.split(b"\n")]

    def close(self) -> None:
        """Hang up."""
        self.sock.close()

    def _read(self) -> bytes:
        try:
            return self.sock.recv(_READ_BYTES)
        except ConnectionError:
            return b""


def socket_path(state_dir: str) -> str:
    """Return where the daemon of a state folder listens: there, or under a short hashed name."""
    path = os.path.join(state_dir, SOCKET)
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    import hashlib

    name = hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:16]
    return f"{SHORT_ROOT}/vaultmind-{os.getuid()}/{name}.sock"


def dial(state_dir: str) -> socket.socket:
    """Return a connected socket; raises OSError when nobody listens."""
    path = socket_path(state_dir)
    check_private(os.path.dirname(path))
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


def listen(state_dir: str) -> socket.socket:
    """Return the daemon's listening socket, open to its owner alone.

    Call with the vault's lock held: what stands at the path is then a dead daemon's.
    """
    make_private(state_dir)
    path = socket_path(state_dir)
    make_private(os.path.dirname(path))
    remove(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        sock.bind(path)
    finally:
        os.umask(mask)
    sock.listen(_BACKLOG)
    return sock


def remove(path: str) -> None:
    """Remove a file that may be gone already."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def make_private(folder: str) -> None:
    """Make a folder for its owner alone; raise DaemonUnavailable when it is another's."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.lstat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o700)
    check_private(folder)


def check_private(folder: str) -> None:
    """Raise DaemonUnavailable unless only this user can put a socket into a folder.

    Raises FileNotFoundError when there is none.
    """
    found = os.lstat(folder) if folder.startswith(f"{SHORT_ROOT}/") else os.stat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise DaemonUnavailable(
            f"The folder {folder} is not this user's, so no daemon is trusted there.",
            hint="Remove it, or name another with --state-dir.",
        )
    if found.st_mode & 0o022:
        mode = f"{stat.S_IMODE(found.st_mode):o}"
        raise DaemonUnavailable(
            f"The folder {folder} can be changed by other users (mode {mode}).",
            hint=f"Close it: chmod 700 {folder}",
        )


def same_user(sock: socket.socket) -> bool:
    """Tell whether the peer runs as this process's user; True where no system call says."""
    import struct

    if sys.platform.startswith("linux"):
        raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return bool(struct.unpack("3i", raw)[1] == os.getuid())
    if sys.platform == "darwin":
        local, peer_credentials, size = 0, 1, 76  # SOL_LOCAL, LOCAL_PEERCRED, struct xucred
        raw = sock.getsockopt(local, peer_credentials, size)
        return bool(struct.unpack("II", raw[:8])[1] == os.getuid())
    return True
