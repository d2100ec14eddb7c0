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
from vaultmind.errors import VaultMindError
from vaultmind.locate import Where, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vaultmind.client.wire import Wire

ASK_AGAIN = frozenset(("initialize", "ping", "tools/list", "prompts/list", "resources/list"))
"""Requests that change nothing and are sent again when a daemon dies over them."""
REPLAY_ID = "vaultmind-handshake-again"
REPLAY_SECONDS = 15.0
DRAIN_SECONDS = 2.0
"""How long unanswered requests are waited for once the client has closed its end."""
ID_VARIABLE = "CLAUDE_CODE_SESSION_ID"
"""In which Claude Code, by its version 2.1.154, tells its servers the conversation that they were
started in."""
INVALID_REQUEST, UNAVAILABLE = -32600, -32000
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
        self._unanswered: dict[Any, tuple[str, bytes]] = {}
        """Requests by their ids: the method, and the line where it may be sent again."""
        self._initialize: dict[str, Any] = {}
        self._initialized = b""

    def run(self) -> None:
        """Copy lines until the client closes its end, and a moment longer what is due."""
        until = 0.0
        while not until or (self._wire and self._unanswered and time.monotonic() < until):
            ends: list[Any] = [] if until else [self._source]
            ends += [self._wire.sock] if self._wire is not None else []
            ready = select.select(ends, [], [], 0.05 if until else None)[0]
            if self._wire is not None and self._wire.sock in ready:
                self._from_daemon(self._wire)
            if self._source in ready and not self._from_client():
                until = time.monotonic() + DRAIN_SECONDS

    def _from_client(self) -> bool:
        """Forward what lines there are; False at the end."""
        data = os.read(self._source, _READ_BYTES)
        self._partial += data
        if b"\n" not in data:
            return bool(data)
        *lines, self._partial = self._partial.split(b"\n")
        for line in lines:
            if len(line) >= wire.MAX_LINE_BYTES:
                limit = wire.MAX_LINE_BYTES // 1_000_000
                words = f"This message is too long: at most {limit} MB fit in one."
                self._say_error(wire.decode(line).get("id"), words, INVALID_REQUEST)
            elif line.strip():
                self._forward(bytes(line) + b"\n")
        return True

    def _forward(self, line: bytes) -> None:
        """Send a line to the daemon, or say why not."""
        message = wire.decode(line)
        method, number = str(message.get("method", "")), message.get("id")
        try:
            self._send(line, method)
        except (VaultMindError, OSError) as error:
            words = str(error) if isinstance(error, VaultMindError) else f"No daemon: {error}."
            os.write(sys.stderr.fileno(), f"vaultmind: {words}\n".encode("utf-8", "replace"))
            if method and number is not None:
                self._say_error(number, words, UNAVAILABLE)
        else:
            if method and number is not None:
                again = line if method in ASK_AGAIN else b""
                self._unanswered[_key(number)] = method, again
        if method == "initialize":
            self._initialize, self._initialized = message, b""
        elif method == "notifications/initialized":
            self._initialized = line
        elif method == "notifications/cancelled":
            self._unanswered.pop(_key((message.get("params") or {}).get("requestId")), None)

    def _send(self, line: bytes, method: str) -> None:
        if self._wire is not None:
            try:
                self._wire.sock.sendall(line)
                return
            except OSError:
                self._from_dead_daemon()
        if self._wire is None:
            self._wire = self._connect(method)
        self._wire.sock.sendall(line)

    def _connect(self, method: str) -> Wire:
        """Return a connection to a daemon, to which the client's handshake is said anew."""
        where = self._find()
        greeting = launch.hello("mcp", kind="agent", agent=where.agent, client="mcp")
        reached = launch.connect(where, {**greeting, **self._itself})
        if self._initialize and method != "initialize":
            reached.sock.settimeout(REPLAY_SECONDS)
            reached.send({**self._initialize, "id": REPLAY_ID})
            while (answer := reached.receive()) and answer.get("id") != REPLAY_ID:
                pass
            if self._initialized:
                reached.sock.sendall(self._initialized)
            reached.sock.settimeout(None)
        return reached

    def _from_daemon(self, reached: Wire) -> None:
        """Pass on what lines there are, and see which requests they answer."""
        lines = reached.take()
        if lines is None:
            self._from_dead_daemon()
            return
        self._say(b"".join(lines))
        for line in lines if self._unanswered else ():
            message = wire.decode(line)
            if "method" not in message:
                self._unanswered.pop(_key(message.get("id")), None)

    def _from_dead_daemon(self) -> None:
        """Settle what the dead daemon leaves unanswered: ask a new one, once, or say so."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        left, self._unanswered = self._unanswered, {}
        for key, (method, line) in left.items():
            if line:
                self._forward(line)
                if key in self._unanswered:
                    self._unanswered[key] = method, b""
                continue
            words = f"VaultMind's daemon stopped while it worked on this ({method}). "
            words += "Ask again: a new one starts by itself."
            self._say_error(key[1], words, UNAVAILABLE)

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
    except (ConnectionError, KeyboardInterrupt):
        pass  # the client is gone
    return 0


def itself() -> dict[str, Any]:
    """Return what tells this pipe from others: a random name, and its host's conversation."""
    return {"pipe": os.urandom(8).hex(), "host_id": os.environ.get(ID_VARIABLE, "")}


def _key(number: object) -> tuple[str, Any]:
    """Return a request id as a key: 1, "1" and true are three different ones."""
    return type(number).__name__, number if isinstance(number, (int, str, float)) else str(number)
