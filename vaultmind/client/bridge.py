"""`vaultmind mcp`: a thin pipe between an MCP client's stdio and the vault's daemon.

Whole lines are copied both ways, before they are looked at. The pipe has a name, which tells its
conversation from those of others, with each daemon that it comes to. It remembers the handshake
and which requests are unanswered, so that a daemon that dies is replaced at the next line and
nobody waits for an answer that will not come. Standard library only, and little of it: a client
waits for this process at every start.
"""

from __future__ import annotations

import os
import select
import sys
import time

from vaultmind.client import launch, wire
from vaultmind.client.locate import Where, locate
from vaultmind.errors import VaultMindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

    from vaultmind.client.wire import Wire

HARD_LIMIT_BYTES = 64 * 1024 * 1024
"""Of a longer line not even the id is read."""
REPLAY_ID = "vaultmind-handshake-again"
REPLAY_SECONDS = 15.0
DRAIN_SECONDS = 2.0
"""How long unanswered requests are waited for once the client has closed its end."""
ASK_AGAIN = frozenset(
    [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ]
)
"""Requests that change nothing and are sent again when a daemon dies over them."""
FOLDER_VARIABLE, ID_VARIABLE = "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"
"""In which Claude Code tells its servers the project's folder and, by its version 2.1.154, the
conversation that they were started in."""
INVALID_REQUEST = -32600
UNAVAILABLE = -32000
_READ_BYTES = 65536


class Bridge:
    """One client's pipe. `find` names the vault anew for each daemon, since it may move."""

    def __init__(self, find: Callable[[], Where], source: int, sink: int) -> None:
        self._find = find
        self._itself = itself()
        self._source = source
        self._sink = sink
        self._wire: Wire | None = None
        self._partial = bytearray()
        self._too_long = False
        self._unanswered: dict[Any, tuple[str, bytes]] = {}
        self._initialize: dict[str, Any] = {}
        self._initialized = b""
        self._complained = ""

    def run(self) -> None:
        """Copy lines until the client closes its end."""
        while True:
            ready = select.select(self._ends(), [], [])[0]
            if self._wire is not None and self._wire.sock in ready:
                self._from_daemon()
            if self._source in ready and not self._from_client():
                break
        self._drain()

    def _ends(self) -> list[int | socket.socket]:
        return [self._source] if self._wire is None else [self._source, self._wire.sock]

    # --- from the client --------------------------------------------------------------------

    def _from_client(self) -> bool:
        """Forward what lines there are; False at the end."""
        data = os.read(self._source, _READ_BYTES)
        if not data:
            return False
        self._partial += data
        if b"\n" in data:
            *lines, rest = self._partial.split(b"\n")
            self._partial = rest
            for line in lines:
                self._take(bytes(line) + b"\n")
        elif len(self._partial) > HARD_LIMIT_BYTES:
            self._too_long = True
            self._partial.clear()
        return True

    def _take(self, line: bytes) -> None:
        """Forward one line, or say why not."""
        if self._too_long or len(line) > wire.MAX_LINE_BYTES:
            message = {} if self._too_long else wire.decode(line)
            self._too_long = False
            limit = wire.MAX_LINE_BYTES // 1_000_000
            words = f"This message is too long: at most {limit} MB fit in one. Send less at once."
            self._say_error(message.get("id"), words, INVALID_REQUEST)
        elif not line.isspace():
            self._forward(line)

    def _forward(self, line: bytes) -> None:
        try:
            self._send(line)
        except (VaultMindError, OSError) as error:
            self._refuse(line, error)
        else:
            self._remember(line)

    def _send(self, line: bytes) -> None:
        """Send a line to the daemon; to a new one when the old is found dead."""
        if self._wire is not None:
            try:
                self._wire.sock.sendall(line)
                return
            except OSError:
                self._from_dead_daemon()
        if self._wire is None:
            self._wire = self._connect(line)
        self._wire.sock.sendall(line)

    def _connect(self, line: bytes) -> Wire:
        where = self._find()
        greeting = launch.hello(
            "mcp", kind="agent", agent=where.agent, named=where.agent_named, client="mcp"
        )
        reached = launch.connect(where, {**greeting, **self._itself})
        if self._initialize and wire.decode(line).get("method") != "initialize":
            self._shake_hands(reached)
        return reached

    def _shake_hands(self, reached: Wire) -> None:
        """Say to a new daemon what the client once said to the old one."""
        reached.sock.settimeout(REPLAY_SECONDS)
        reached.send({**self._initialize, "id": REPLAY_ID})
        while (answer := reached.receive()) and answer.get("id") != REPLAY_ID:
            pass
        if self._initialized:
            reached.sock.sendall(self._initialized)
        reached.sock.settimeout(None)

    def _remember(self, line: bytes) -> None:
        message = wire.decode(line)
        method, number = str(message.get("method", "")), message.get("id")
        if method == "initialize":
            self._initialize, self._initialized = message, b""
        elif method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            self._unanswered.pop(_key((message.get("params") or {}).get("requestId")), None)
        if method and number is not None:
            self._unanswered[_key(number)] = (method, line if method in ASK_AGAIN else b"")

    def _refuse(self, line: bytes, error: Exception) -> None:
        """Answer a request that cannot be forwarded, in words."""
        words = str(error) if isinstance(error, VaultMindError) else f"No daemon: {error}."
        if words != self._complained:
            self._complained = words
            os.write(sys.stderr.fileno(), f"vaultmind: {words}\n".encode("utf-8", "replace"))
        message = wire.decode(line)
        if message.get("method") and message.get("id") is not None:
            if message["method"] == "initialize":
                self._initialize, self._initialized = message, b""
            self._say_error(message["id"], words, UNAVAILABLE)

    # --- from the daemon --------------------------------------------------------------------

    def _from_daemon(self) -> None:
        """Pass on what lines there are, and see which requests they answer."""
        assert self._wire is not None
        lines = self._wire.take()
        if lines is None:
            self._from_dead_daemon()
            return
        self._say(b"".join(lines))
        for line in lines if self._unanswered else ():
            message = wire.decode(line)
            if "method" not in message:
                self._unanswered.pop(_key(message.get("id")), None)

    def _from_dead_daemon(self) -> None:
        """Settle what the dead daemon leaves unanswered: ask again once, or say so."""
        assert self._wire is not None
        self._wire.close()
        self._wire = None
        left, self._unanswered = self._unanswered, {}
        for key, (method, line) in left.items():
            if line:
                self._forward(line)
                if key in self._unanswered:
                    self._unanswered[key] = (method, b"")
            else:
                words = (
                    f"VaultMind's daemon stopped while it worked on this ({method}). "
                    "Ask again: a new one starts by itself."
                )
                self._say_error(key[1], words, UNAVAILABLE)

    def _drain(self) -> None:
        """Wait a moment for answers that are still due, unless nobody reads them any more."""
        until = time.monotonic() + DRAIN_SECONDS
        while self._unanswered and self._wire is not None and time.monotonic() < until:
            if _closed(self._sink):
                return
            if select.select([self._wire.sock], [], [], 0.05)[0]:
                lines = self._wire.take()
                if lines is None:
                    return
                self._say(b"".join(lines))
                for line in lines:
                    self._unanswered.pop(_key(wire.decode(line).get("id")), None)

    # --- to the client ----------------------------------------------------------------------

    def _say_error(self, number: object, words: str, code: int) -> None:
        error = {"code": code, "message": words}
        self._say(wire.encode({"jsonrpc": "2.0", "id": number, "error": error}))

    def _say(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._sink, data) :]


def main(vault: str = "", agent: str = "", state_dir: str = "") -> int:
    """Be the pipe between this process's stdio and the daemon, until stdin ends."""
    source, sink = sys.stdin.fileno(), sys.stdout.fileno()
    try:
        Bridge(lambda: locate(vault, agent, state_dir), source, sink).run()
    except (BrokenPipeError, ConnectionError, KeyboardInterrupt):
        return 0  # the client is gone
    return 0


def itself() -> dict[str, Any]:
    """Return what tells this pipe from others: a random name, and what is known of its window."""
    folder = os.environ.get(FOLDER_VARIABLE, "")
    try:
        folder = folder or os.getcwd()
    except OSError:
        pass  # it was deleted under us
    return {
        "pipe": os.urandom(8).hex(),
        "parent": os.getppid(),
        "folder": folder,
        "host_id": os.environ.get(ID_VARIABLE, ""),
    }


def _key(number: object) -> tuple[str, Any]:
    """Return a request id as a key: 1, "1" and true are three different ones."""
    return type(number).__name__, number if isinstance(number, (int, str, float)) else str(number)


def _closed(sink: int) -> bool:
    """Tell whether nobody reads what we write."""
    poll = select.poll()
    poll.register(sink, 0)
    return any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
