"""The process that owns a vault's index: `python -m vaultmind.serve.daemon --vault DIR`.

It takes the lock, opens its socket, answers at once and loads the rest behind that. It stops on
SIGTERM, when asked to, when it has had no client for long enough, and when its state folder is
gone, since then nobody can reach it any more.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from vaultmind import __version__
from vaultmind.client import wire
from vaultmind.client.launch import LOG
from vaultmind.config import Config, Flags, load_config
from vaultmind.errors import BadArgument, VaultLocked, VaultMindError
from vaultmind.polling import quietly
from vaultmind.ports import Report
from vaultmind.serve.call import Call, problem, readable
from vaultmind.serve.lines import Lines, run_in_thread
from vaultmind.serve.lock import LOCK, VaultLock
from vaultmind.types import Caller, Progress
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App

log = logging.getLogger(__name__)

LOCK_SECONDS, LOCK_POLL_SECONDS = 20.0, 0.02
"""How long to wait for a daemon that is just leaving."""
OPEN_SECONDS = 60.0
HEARTBEAT_SECONDS = 1.0
CLOSE_SECONDS = 20.0
"""After this long a daemon that was told to stop is ended, whatever hangs."""
HANG_UP_SECONDS = 2.0
HELLO_SECONDS = 10.0
"""A peer that says nothing for this long is no client."""
HANDSHAKE_FIRST_SECONDS = 0.3
"""Lead of the waiting client's handshake before the app, index and embedder load beside it."""
FAILED_LINGER_SECONDS = 1.0
"""How long a daemon that could not open its app stays to tell why."""
EXIT_FAILED, EXIT_LOCKED = 1, 3
CLIENT_NAME_LENGTH = 60
THREADS_OF_CLIENTS = 64
"""Operations that run at once, of all connections: of each one at a time."""
WANTED_FILES = 4096
"""Open files that the daemon allows itself, where the system lets it."""
LOG_BYTES, LOGS_KEPT = 1_000_000, 2
FOREIGN = ("mcp", "uvicorn", "httpx2", "asyncio", "watchdog")
"""Libraries whose log is kept from WARNING upward."""
_PIPE_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


class Daemon:
    """One vault's app, and the clients it serves."""

    def __init__(self, config: Config, listener: socket.socket, first: str) -> None:
        self._config = config
        self._listener = listener
        self._first = first
        self._lock = config.state_dir / LOCK
        self._lock_inode = _inode(self._lock)
        self._started = datetime.now(UTC)
        self._clients = 0
        self._alone_since = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopping = asyncio.Event()
        self._opened: Future[App] = Future()
        self._mcp: asyncio.Task[Any] | None = None
        self._http_port = 0
        self._limiter = anyio.CapacityLimiter(THREADS_OF_CLIENTS)
        self._server: asyncio.Server | None = None

    async def run(self) -> None:
        """Serve until it is time to stop, then finish what was begun."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        self._server = await asyncio.start_unix_server(
            self._receive, sock=self._listener, limit=wire.MAX_LINE_BYTES
        )
        loading = asyncio.create_task(self._load())
        heart = asyncio.create_task(self._beat(loading))
        await self._stopping.wait()
        heart.cancel()
        await self._leave(loading)

    def stop(self) -> None:
        """Take no more clients and leave."""
        if self._stopping.is_set():
            return
        log.info("stopping")
        if self._server is not None:
            self._server.close()
        if _inode(self._lock) == self._lock_inode:  # else the socket is another daemon's
            wire.remove(wire.socket_path(os.fspath(self._config.state_dir)))
        self._stopping.set()

    # --- its clients ------------------------------------------------------------------------

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; whatever goes wrong in it stays in it.

        One that is open while the daemon stops ends with the process: its client sees that it left.
        """
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        lines, is_client = Lines(reader, writer), False
        try:
            # A socket under a hashed name outlives the state folder.
            if wire.same_user(writer.get_extra_info("socket")) and not self._is_lost():
                hello = wire.decode(await asyncio.wait_for(anext(lines), HELLO_SECONDS))
                caller, is_mcp = caller_of(hello), hello.get("mode") == "mcp"
                self._clients, is_client = self._clients + 1, True
                if is_mcp:
                    await asyncio.shield(self._importing())
                greeting = {"vaultmind": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}
                await lines.send(greeting)
                await (self._talk if is_mcp else self._operate)(caller, lines, hello)
        except (StopAsyncIteration, TimeoutError, asyncio.CancelledError):
            pass  # it is gone, or hung up on
        except Exception as error:  # a surface: one client's fault must not end the others
            await lines.send({"id": None, "error": problem(error, "The connection")})
        finally:
            if is_client:
                self._clients -= 1
                self._alone_since = time.monotonic()
            self._tasks.discard(task)
            if not self._stopping.is_set():
                await lines.close()

    async def _talk(self, caller: Caller, lines: Lines, hello: dict[str, Any]) -> None:
        """Serve one MCP session; the app may still be opening, and the index loading."""
        from vaultmind.serve.mcp import serve_connection

        def called(client: str) -> Caller:
            name = " ".join(client.split())[:CLIENT_NAME_LENGTH]
            return replace(caller, client=name or caller.client)

        opened = partial(self._opened.result, OPEN_SECONDS)  # a handshake needs no app
        await serve_connection(opened, called, lines, _pipe(hello))

    async def _operate(self, caller: Caller, lines: Lines, hello: dict[str, Any]) -> None:
        """Run one connection's operations, one after the other."""
        async for line in lines:
            request = wire.decode(line)
            number, op = request.get("id"), str(request.get("op", ""))
            try:
                result = await self._result(caller, lines, op, request)
            except Exception as error:  # a surface: the client reads it in words
                await lines.send({"id": number, "error": problem(error, op[:80])})
            else:
                await lines.send({"id": number, "ok": result})

    async def _result(
        self, caller: Caller, lines: Lines, op: str, request: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what an operation comes to, run in a worker thread."""
        if op in ("daemon_status", "daemon_stop"):
            if op == "daemon_stop":
                self.stop()
            return self._status()

        async def tell(step: Progress) -> None:
            await lines.send({"id": request.get("id"), "progress": asdict(step)})

        if not self._opened.done():
            await tell(Progress(0, 0, "opening the vault"))
        app = await asyncio.shield(asyncio.wrap_future(self._opened))
        from vaultmind.serve.op import run_operation

        def work(report: Report) -> dict[str, Any]:
            return run_operation(app, Call(caller, report), op, request.get("args", {}))

        return await run_in_thread(work, self._limiter, tell)

    def _status(self) -> dict[str, Any]:
        """Return what `vaultmind daemon status` shows; who asks is no client."""
        return {
            "running": True,
            "pid": os.getpid(),
            "started": self._started.isoformat(timespec="seconds"),
            "clients": self._clients - 1,
            "http_port": self._http_port or None,
        }

    # --- its life ---------------------------------------------------------------------------

    def _importing(self) -> asyncio.Task[Any]:
        """Return the task that loads the MCP library, begun by whoever needs it first."""
        if self._mcp is None:
            loading = asyncio.to_thread(import_module, "vaultmind.serve.mcp")
            self._mcp = asyncio.create_task(loading)
        return self._mcp

    async def _load(self) -> None:
        """Open the app and let it load; a handshake that waits goes before both."""
        if self._first == "mcp":
            await asyncio.wait([self._importing()])
            await asyncio.sleep(HANDSHAKE_FIRST_SECONDS)
        try:
            app_module = await asyncio.to_thread(import_module, "vaultmind.app")
            app: App = await asyncio.to_thread(app_module.open_app, self._config)
        except Exception as error:  # told to every client, in words
            log.error("the vault could not be opened: %s", type(error).__name__)
            self._opened.set_exception(readable(error, "Opening the vault"))
            asyncio.get_running_loop().call_later(FAILED_LINGER_SECONDS, self.stop)
            return
        self._opened.set_result(app)
        for work in (app.start, app.sessions.end_idle):
            if self._stopping.is_set():
                return
            try:
                await asyncio.to_thread(work)
            except Exception:  # the daemon must come up all the same
                log.exception("a part of the start failed")
        await asyncio.wait([self._importing()])
        gc.freeze()
        gc.enable()
        if self._config.daemon.http:
            self._tasks.add(asyncio.create_task(self._serve_http(app)))
        await asyncio.to_thread(app.words.understand, "remember that I like tea")

    async def _serve_http(self, app: App) -> None:
        from vaultmind.serve.http import serve_http

        def started(port: int) -> None:
            self._http_port = port
            log.info("HTTP on port %d", port)

        try:
            await serve_http(app, started)
        except OSError as error:
            log.error("no HTTP on port %d: %s", self._config.daemon.http_port, error.strerror)

    async def _beat(self, loading: asyncio.Task[None]) -> None:
        """Take up what hooks left; stop when nobody needs this daemon, or nobody can reach it."""
        idle_seconds = self._config.daemon.idle_exit_minutes * 60
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, idle_seconds / 4))
            if not self._is_lost() and loading.done() and not self._opened.exception():
                from vaultmind.serve.ops.hooks import catch_up_hooks

                await asyncio.to_thread(quietly, partial(catch_up_hooks, self._opened.result()))
            alone = self._clients == 0 and not self._config.daemon.http
            if alone and time.monotonic() - self._alone_since >= idle_seconds:
                log.info("no client for %.1f minutes", idle_seconds / 60)
                self.stop()

    def _is_lost(self) -> bool:
        """Tell whether the state folder was removed, and stop if it was."""
        if _inode(self._lock) == self._lock_inode:
            return False
        log.warning("the state folder was removed")
        self.stop()
        return True

    async def _leave(self, loading: asyncio.Task[None]) -> None:
        deadline = threading.Timer(CLOSE_SECONDS, os._exit, (EXIT_FAILED,))
        deadline.daemon = True
        deadline.start()
        ending = {*self._tasks, *filter(None, [self._mcp])}
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=HANG_UP_SECONDS)
        await asyncio.wait([loading])
        if self._opened.done() and self._opened.exception() is None:
            await asyncio.to_thread(self._opened.result().close)
        log.info("stopped")


class FramesOnly(logging.Formatter):
    """Shows where an exception arose, not what it says: that may quote a message."""

    def formatException(self, ei: Any) -> str:  # noqa: ANN401
        """Return the type of an exception and the lines it came through."""
        kind, _, trace = ei
        frames = "".join(traceback.format_tb(trace)).rstrip()
        return f"{kind.__name__ if kind else 'no exception'}\n{frames}"


def caller_of(hello: dict[str, Any]) -> Caller:
    """Return who calls, as the hello says; raise BadArgument for one we cannot serve."""
    if hello.get("vaultmind") != wire.PROTOCOL:
        raise BadArgument("vaultmind", hello.get("vaultmind"), f"wire protocol {wire.PROTOCOL}")
    client = str(hello.get("client", ""))[:CLIENT_NAME_LENGTH]
    if hello.get("kind") == "person" and hello.get("mode") != "mcp":
        return Caller("person", "", client)
    return Caller("agent", agent_name(str(hello.get("agent", ""))), client)


def _pipe(hello: dict[str, Any]) -> tuple[str, str] | None:
    """Return what a pipe says of itself; None for one that names none."""
    name, host = (str(hello.get(one) or "") for one in ("pipe", "host_id"))
    return (name, host) if _PIPE_NAME.fullmatch(name) else None


def run(config: Config, first: str = "ops") -> None:
    """Be the vault's daemon until it is time to stop.

    `first` is the mode of the client that waits: for `mcp` that library is loaded before the
    index. Raises VaultLocked when another process owns the vault.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if most == resource.RLIM_INFINITY else min(WANTED_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    gc.disable()  # until everything is imported: a tenth of the start-up
    lock = VaultLock(config, "daemon")
    _own(config, lock)
    _write_log(config.state_dir)
    try:
        with wire.listen(os.fspath(config.state_dir)) as listener:
            log.info("daemon %s for %s, pid %d", __version__, config.vault, os.getpid())
            asyncio.run(Daemon(config, listener, first).run())
    finally:
        lock.release()


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process of its own; a daemon that finds another at work leaves politely."""
    values = dict(zip(*[iter(sys.argv[1:] if argv is None else argv)] * 2, strict=True))
    flags = Flags(vault=values.get("--vault", ""), state_dir=values.get("--state-dir", ""))
    try:
        config = load_config(flags)
        run(config, values.get("--first", "ops"))
    except VaultLocked as error:
        if not _answers(config.state_dir):
            sys.stderr.write(f"{error}\n")
            return EXIT_LOCKED
    except VaultMindError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED
    return 0


def _own(config: Config, lock: VaultLock) -> None:
    """Take the lock, waiting for a daemon that is leaving; raise VaultLocked for one that stays.

    One that lost its state folder soon notices, too.
    """
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return lock.acquire()
        except VaultLocked:
            holder = lock.holder()  # nobody has signed a folder that was made anew
            stays = holder.get("what") == "in-process" or (holder and _answers(config.state_dir))
            if stays or time.monotonic() > until:
                raise
        time.sleep(LOCK_POLL_SECONDS)


def _answers(state_dir: Path) -> bool:
    with suppress(OSError, ValueError):
        wire.dial(os.fspath(state_dir)).close()
        return True
    return False


def _write_log(state_dir: Path) -> None:
    """Send what is logged to the state folder's daemon.log."""
    path = state_dir / LOG
    path.touch(mode=0o600)
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    handler.setFormatter(FramesOnly("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in FOREIGN:
        logging.getLogger(name).setLevel(logging.WARNING)


def _inode(path: Path) -> int:
    """Return what tells one file at a path from the next; 0 when there is none."""
    with suppress(OSError):
        return path.stat().st_ino
    return 0


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    os._exit(code)  # all is written; a thread in the middle of an import must not delay the end
