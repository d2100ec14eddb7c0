"""Processes of the program that start at once: an interpreter that has imported it forks them.

They are processes like any other, each with an environment, a folder, output and an end of its
own; a daemon that they start is forked, too. Only the seconds in which Python starts and imports
are spent once, and not in every test.
What a start costs, and what it imports, has tests of its own with the plain interpreter.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PROGRAM, DAEMON = "vaultmind", "vaultmind.serve.daemon"
_STEP_SECONDS = 0.005
_born_behind = ""
"""The door of the nursery that forked this process."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left behind."""

    returncode: int
    stdout: str
    stderr: str


class Process:
    """A process of the nursery, as `subprocess.Popen` shows one."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line.detach()  # a number: what collects garbage may close it in any order
        self.pid = int(_line_of(self._line))
        self.returncode: int | None = None
        self.stderr = None

    def __del__(self) -> None:
        """Let go of the pipe: a daemon is meant to outlive whoever started it."""
        if self._line >= 0:
            os.close(self._line)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        if self.returncode is None and self._has_ended(0.0):
            self._take()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raise subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not self._has_ended(timeout):
                raise subprocess.TimeoutExpired("vaultmind", timeout or 0.0)
            self._take()
        assert self.returncode is not None
        return self.returncode

    def _has_ended(self, timeout: float | None) -> bool:
        ready = select.poll()
        ready.register(self._line, select.POLLIN | select.POLLHUP)
        return bool(ready.poll(None if timeout is None else timeout * 1000))

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self.send_signal(signal.SIGKILL)

    def _take(self) -> None:
        self.returncode = int(_line_of(self._line) or -signal.SIGKILL)
        os.close(self._line)
        self._line = -1


def start(
    module: str,
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    cwd: Path | str = "/",
    into: Any = None,
    out: Any = None,
    err: Any = None,
) -> Process:
    """Start a module of the program as `python -m` would; its streams are open files."""
    ours, theirs = socket.socketpair()
    with Path(os.devnull).open("r+b") as nothing, theirs:
        streams = [into or nothing, out or nothing, err or nothing]
        asked = {"module": module, "arguments": list(arguments), "env": dict(env), "cwd": str(cwd)}
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(_born_behind or _door())
            fds = [one.fileno() for one in (*streams, theirs)]
            raw = json.dumps(asked).encode()
            socket.send_fds(door, [len(raw).to_bytes(4, "big")], fds)
            door.sendall(raw)
            door.recv(1)
    return Process(ours)


def run(
    arguments: Sequence[str],
    env: Mapping[str, str],
    *,
    cwd: Path | str = "/",
    given: str = "",
    timeout: float = 90.0,
) -> Ended:
    """Run the program on what it is given, to its end, and return what it said."""
    with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:  # fmt: skip
        into.write(given.encode("utf-8"))
        into.seek(0)
        process = start(PROGRAM, arguments, env, cwd=cwd, into=into, out=out, err=err)
        try:
            code = process.wait(timeout)
        except BaseException:
            process.kill()
            raise
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode("utf-8"))
        return Ended(code, *said)


def _line_of(line: int) -> str:
    """Return the next line of a pipe, without reading past it; empty at its end."""
    found = b""
    while (byte := os.read(line, 1)) and byte != b"\n":
        found += byte
    return found.decode()


@cache
def _door() -> str:
    """Return where the nursery of this process listens; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="vm-nursery-")
    path = f"{folder}/door"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    theirs, _ours = os.pipe()  # ours is open for as long as this process lives
    process = subprocess.Popen([sys.executable, __file__, path], env=env, stdin=theirs, cwd=ROOT)
    os.close(theirs)
    process.returncode = 0  # nobody waits for it: it sees the end of its standard input
    until = time.monotonic() + 60
    while not Path(path).exists():
        assert time.monotonic() < until, "the nursery did not start"
        time.sleep(_STEP_SECONDS)
    return path


# --- the nursery itself ---------------------------------------------------------------------


def _serve(path: str) -> None:
    """Fork a process for whoever asks, until the other end of standard input is closed."""
    import select

    _warm()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # minders are reaped by the system
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{path}.new")
        door.listen()
        Path(f"{path}.new").rename(path)
        while True:
            ready, _, _ = select.select([door, sys.stdin], [], [])
            if sys.stdin in ready:
                Path(path).unlink()
                Path(path).parent.rmdir()
                return
            asker, _ = door.accept()
            head, fds, _, _ = socket.recv_fds(asker, 4, 8)
            if os.fork() == 0:
                door.close()
                os.close(0)
                _mind(asker, int.from_bytes(head, "big"), fds)
            asker.close()
            for fd in fds:
                os.close(fd)


def _warm() -> None:
    """Import what the program imports, and load what it loads, but for threads."""
    import importlib
    import threading

    from vaultmind.index.words import detect

    for name in ("vaultmind.serve.daemon", "vaultmind.serve.mcp", "vaultmind.app"):
        importlib.import_module(name)
    for path in sorted((ROOT / "vaultmind/cli").rglob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    detect("The plum tree by the gate was planted a long time ago, they say.")
    assert threading.active_count() == 1, threading.enumerate()


def _mind(asker: socket.socket, size: int, fds: Sequence[int]) -> None:
    """Fork the process, tell its pid and, when it has ended, its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    raw = b""
    while len(raw) < size:
        raw += asker.recv(size - len(raw))
    asked = json.loads(raw)
    *streams, line = fds
    child = os.fork()
    if child == 0:
        asker.close()
        os.close(line)
        _become(asked, streams)
    for fd in streams:
        os.close(fd)
    os.write(line, f"{child}\n".encode())
    asker.sendall(b"!")
    asker.close()
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        os.write(line, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def spawn(where: Any, mode: str) -> Process:
    """Start the daemon that `launch` would start, in the way of this nursery."""
    from vaultmind.client import launch

    state_dir = Path(where.state_dir)
    words = ["--first", mode, "--vault", str(where.vault), "--state-dir", str(state_dir.parent)]
    with os.fdopen(launch._open_log(str(state_dir)), "ab") as log:
        child = start(DAEMON, words, launch._environment(), out=log, err=log)
    launch._started.append(child)  # type: ignore[arg-type]
    return child


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Run the program in this process and end it."""
    import io
    import logging
    import runpy
    import traceback

    from vaultmind.client import launch

    os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "wb", closefd=False)), "utf-8")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "wb", closefd=False)), "utf-8", "backslashreplace",
        line_buffering=True,
    )  # fmt: skip
    global _born_behind
    _born_behind, sys.argv = sys.argv[1], [asked["module"], *asked["arguments"]]
    launch._spawn = spawn  # type: ignore[assignment]
    code: object = 1
    try:
        if asked["module"] == PROGRAM:
            from vaultmind.entry import main

            code = main()
        else:
            runpy.run_module(asked["module"], run_name="__main__", alter_sys=False)
            code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _serve(sys.argv[1])
