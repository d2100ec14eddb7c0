"""The process that owns a vault's index: `python -m vaultmind.serve.daemon.daemon --vault DIR`.

It takes the lock, opens its socket, answers at once and loads the rest behind that. It stops on
SIGTERM, when asked to, when it has had no client for long enough, and when its state folder is
gone, since then nobody can reach it any more.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from vaultmind import __version__
from vaultmind.client import wire
from vaultmind.config import Config, Flags, load_config
from vaultmind.errors import DaemonUnavailable, VaultLocked, VaultMindError
from vaultmind.serve.calls.lines import Lines
from vaultmind.serve.daemon.connections import serve_client
from vaultmind.serve.daemon.descriptors import MORE_FILES, check_files
from vaultmind.serve.daemon.late import late_app
from vaultmind.serve.daemon.lock import LOCK, VaultLock, VaultTaken
from vaultmind.serve.daemon.logs import write_log
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.app import App

log = logging.getLogger(__name__)

LOCK_SECONDS = 20.0
"""How long to wait for a daemon that is just leaving."""
TAKEN_SECONDS = 10.0
"""The same where the vault's folder is held, and its state folder is not."""
LOCK_POLL_SECONDS = 0.02
HEARTBEAT_SECONDS = 1.0
CLOSE_SECONDS = 20.0
"""After this long a daemon that was told to stop is ended, whatever hangs."""
HANG_UP_SECONDS = 2.0
HANDSHAKE_FIRST_SECONDS = 0.3
"""Lead of the waiting client's handshake before the app, index and embedder load beside it."""
FAILED_LINGER_SECONDS = 1.0
"""How long a daemon that could not open its app stays to tell why."""
EXIT_FAILED = 1
EXIT_LOCKED = 3


class Daemon:
    """One vault's app, and the clients it serves."""

    def __init__(self, config: Config, listener: socket.socket, first: str) -> None:
        self._config = config
        self._listener = listener
        self._first = first
        self._door = wire.socket_path(os.fspath(config.state_dir))
        self._mark = _mark(self._door)
        self._lock = os.fspath(config.state_dir / LOCK)
        self._lock_mark = _mark(self._lock)
        self._started = datetime.now(UTC)
        self._clients = 0
        self._alone_since = time.monotonic()
        self._connections: set[asyncio.Task[Any]] = set()
        self._witnesses: list[socket.socket] = []
        self._stopping = asyncio.Event()
        self._opened: Future[App] = Future()
        self.late_app = late_app(self._opened)
        self._mcp: asyncio.Task[Any] | None = None
        self._http: asyncio.Task[None] | None = None
        self._http_port = 0
        self._server: asyncio.Server | None = None
        self.failure = ""
        """Why the daemon stopped by itself though it was needed; empty where it did not."""

    async def run(self) -> None:
        """Serve until it is time to stop, then finish what was begun."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._odd)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        self._server = await asyncio.start_unix_server(
            self._receive, sock=self._listener, limit=wire.MAX_LINE_BYTES
        )
        loading = asyncio.create_task(self._load())
        heart = asyncio.create_task(self._beat())
        await self._stopping.wait()
        heart.cancel()
        await self._leave(loading)

    # --- what a connection asks of its host -------------------------------------------------

    async def app(self) -> App:
        """Return the open app; raises VaultMindError when it could not be opened."""
        return await asyncio.shield(asyncio.wrap_future(self._opened))

    async def imported(self) -> None:
        """Return once the MCP library is loaded; raises DaemonUnavailable when it cannot be."""
        if self._mcp is None:
            self._mcp = asyncio.create_task(_load_mcp())
        await asyncio.shield(self._mcp)

    def agents(self) -> tuple[str, ...]:
        """Return the agents there are."""
        return VaultPaths(self._config.vault, self._config.memory_dir).agent_names()

    def status(self) -> dict[str, Any]:
        """Return what `vaultmind daemon status` shows."""
        return {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
            "started": self._started.isoformat(timespec="seconds"),
            "vault": os.fspath(self._config.vault),
            "clients": self._clients,
            "memory_mb": round(_memory_bytes() / 1e6, 1),
            "http_port": self._http_port or None,
        }

    def stop(self, witness: socket.socket | None = None) -> None:
        """Take no more clients and leave. A witness is hung up on by the process's very end."""
        if witness is not None:
            self._witnesses.append(witness)
        if self._stopping.is_set():
            return
        log.info("stopping")
        if self._server is not None:
            self._server.close()
        if _mark(self._door) == self._mark:
            wire.remove(self._door)
        self._stopping.set()

    # --- its life ---------------------------------------------------------------------------

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; whatever goes wrong in it stays in it."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        lines = Lines(reader, writer)
        seat = _Seat(self)
        try:
            if wire.same_user(writer.get_extra_info("socket")):
                await serve_client(self, lines, seat.take)
            else:
                log.warning("refused a connection of another user")
        except asyncio.CancelledError:
            log.debug("hung up on a client")
        except Exception:  # a surface: one client's fault must not end the others
            log.exception("a connection failed")
        finally:
            seat.leave()
            self._connections.discard(task)
            await lines.close()

    async def _load(self) -> None:
        """Open the app and let it load; a handshake that waits goes before both."""
        if self._first == "mcp":
            with suppress(DaemonUnavailable):  # it is logged, and told to whoever needs it
                await self.imported()
            await asyncio.sleep(HANDSHAKE_FIRST_SECONDS)
        try:
            app = await asyncio.to_thread(_open, self._config)
        except Exception as error:  # told to every client, in words
            self._fail(error)
            return
        self._opened.set_result(app)
        if self._stopping.is_set():
            return
        await asyncio.to_thread(app.start)
        if self._stopping.is_set():
            return
        await asyncio.to_thread(app.sessions.end_idle)  # what a stop or a crash left open
        await asyncio.to_thread(_run_errands, app)
        with suppress(DaemonUnavailable):
            await self.imported()
        gc.freeze()
        gc.enable()
        if self._config.daemon.http:
            self._http = asyncio.create_task(self._serve_http(app))
        await asyncio.to_thread(app.ears.warm)

    def _odd(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop where no file can be opened any more; nobody could be answered."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            self.failure = f"The daemon stopped: {(error.strerror or 'too many files').lower()}."
            log.error("%s %s", self.failure, MORE_FILES)
            self.stop()
        else:
            loop.default_exception_handler(context)

    def _fail(self, error: Exception) -> None:
        log.error("the vault could not be opened", exc_info=error)
        if not isinstance(error, VaultMindError):
            kind = type(error).__name__
            error = DaemonUnavailable(f"The vault could not be opened: {kind}, see daemon.log.")
        self._opened.set_exception(error)
        asyncio.get_running_loop().call_later(FAILED_LINGER_SECONDS, self.stop)

    async def _serve_http(self, app: App) -> None:
        from vaultmind.serve.surfaces.http import serve_http

        def started(port: int) -> None:
            self._http_port = port
            log.info("HTTP on port %d", port)

        try:
            await serve_http(app, started)
        except OSError as error:
            log.error("no HTTP on port %d: %s", self._config.daemon.http_port, error.strerror)

    async def _beat(self) -> None:
        """Stop when nobody needs this daemon, or nobody can reach it."""
        idle_seconds = self._config.daemon.idle_exit_minutes * 60
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, idle_seconds / 4))
            if _mark(self._door) != self._mark or _mark(self._lock) != self._lock_mark:
                log.warning("the socket is gone or another's: the state folder was removed")
                self.stop()
            alone = self._clients == 0 and not self._config.daemon.http
            if alone and time.monotonic() - self._alone_since >= idle_seconds:
                log.info("no client for %.1f minutes", idle_seconds / 60)
                self.stop()

    async def _leave(self, loading: asyncio.Task[None]) -> None:
        deadline = threading.Timer(CLOSE_SECONDS, os._exit, (EXIT_FAILED,))
        deadline.daemon = True
        deadline.start()
        ending = {*self._connections, *filter(None, (self._http, self._mcp))}
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=HANG_UP_SECONDS)
        await asyncio.wait([loading])
        if self._opened.done() and self._opened.exception() is None:
            await asyncio.to_thread(self._opened.result().close)
        log.info("stopped")


class _Seat:
    """A client's place, counted from its greeting to its end."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._taken = False

    def take(self) -> None:
        self._taken = True
        self._daemon._clients += 1

    def leave(self) -> None:
        if self._taken:
            self._daemon._clients -= 1
            self._daemon._alone_since = time.monotonic()


def run(config: Config, first: str = "ops") -> None:
    """Be the vault's daemon until it is time to stop.

    `first` is the mode of the client that waits: for `mcp` that library is loaded before the
    index. Raises VaultLocked when another process owns the vault.
    """
    check_files()
    gc.disable()  # until everything is imported: a tenth of the start-up
    lock = VaultLock(config, "daemon")
    _own(config, lock)
    try:
        with write_log(config.state_dir), wire.listen(os.fspath(config.state_dir)) as listener:
            log.info("daemon %s for %s, pid %d", __version__, config.vault, os.getpid())
            asyncio.run(_serve(config, listener, first))
    finally:
        lock.release()


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process of its own; a daemon that finds another at work leaves politely."""
    values = dict(zip(*[iter(sys.argv[1:] if argv is None else argv)] * 2, strict=True))
    flags = Flags(vault=values.get("--vault", ""), state_dir=values.get("--state-dir", ""))
    try:
        config = load_config(flags)
        try:
            run(config, values.get("--first", "ops"))
        except VaultLocked as error:
            return 0 if _answers(config.state_dir) else _complain(error, EXIT_LOCKED)
    except VaultMindError as error:
        return _complain(error, EXIT_FAILED)
    return 0


def _complain(error: VaultMindError, code: int) -> int:
    sys.stderr.write(f"{error}\n")
    return code


async def _serve(config: Config, listener: socket.socket, first: str) -> None:
    daemon = Daemon(config, listener, first)
    await daemon.run()
    if daemon.failure:
        raise DaemonUnavailable(daemon.failure, hint=MORE_FILES)


def _own(config: Config, lock: VaultLock) -> None:
    """Take the lock, waiting for a daemon that is leaving; raise VaultLocked for one that stays."""
    began = time.monotonic()
    while True:
        try:
            return lock.acquire()
        except VaultTaken:
            # Served with another state folder, or by one that lost ours, which soon notices.
            if time.monotonic() - began > TAKEN_SECONDS:
                raise
        except VaultLocked:
            stays = lock.holder().get("what") == "in-process" or _answers(config.state_dir)
            if stays or time.monotonic() - began > LOCK_SECONDS:
                raise
        time.sleep(LOCK_POLL_SECONDS)


def _answers(state_dir: Path) -> bool:
    try:
        wire.dial(os.fspath(state_dir)).close()
    except (OSError, ValueError):
        return False
    return True


def _open(config: Config) -> App:
    from vaultmind.app import open_app

    return open_app(config)


def _run_errands(app: App) -> None:
    """Do what hooks left to be done; starts are given with the next hook of each conversation."""
    from vaultmind.serve.ops.hooks import run_errands

    try:
        run_errands(app, starts=False)
    except Exception:  # they wait on; the daemon must come up all the same
        log.exception("errands could not be run")


async def _load_mcp() -> None:
    try:
        name = "vaultmind.serve.surfaces.mcp"
        await anyio.to_thread.run_sync(import_module, name, abandon_on_cancel=True)
    except Exception as error:  # whatever a library does: the rest of the daemon must go on
        log.exception("MCP could not be loaded")
        raise DaemonUnavailable(f"MCP could not be loaded: {error}.") from error


def _mark(path: str) -> tuple[int, int] | None:
    """Return what tells one file at a path from the next; None when there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _memory_bytes() -> int:
    """Return the resident memory of this process; on macOS its peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    os._exit(code)  # all is written; a thread in the middle of an import must not delay the end
