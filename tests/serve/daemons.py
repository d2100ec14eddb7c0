"""Real daemons, pipes and clients on a small vault, for the tests of the processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from tests import nursery
from tests.waiting import until
from vaultmind.client import launch, wire
from vaultmind.config import Flags, load_config

ROOT = Path(__file__).parent.parent.parent
CLIENT = {"name": "test", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


def make_vault(folder: Path) -> Path:
    """Return a vault of two notes."""
    vault = folder / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Oven.md").write_text("# Oven\n\nThe oven bakes at 230 degrees.\n", "utf-8")
    (vault / "Bike.md").write_text("# Bike\n\nThe bike has a flat tyre.\n", "utf-8")
    return vault


class House:
    """A vault, its state folder, and the processes on it."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.vault = make_vault(folder)
        self.state_root = folder / "state"
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "VAULTMIND_STATE_DIR": str(self.state_root),
            "VAULTMIND_INDEX_EMBEDDER": "none",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            **environment,
        }
        self.config = load_config(Flags(vault=str(self.vault)), env=self.environment)
        self.forked = False
        """Whether pipes and hooks, and what they start, are forked (see `tests.nursery`)."""
        self.pipes: list[Pipe] = []
        self.children: list[subprocess.Popen[bytes] | nursery.Process] = []

    @property
    def socket(self) -> Path:
        return Path(wire.socket_path(str(self.config.state_dir)))

    @property
    def log(self) -> str:
        return (self.config.state_dir / "daemon.log").read_text("utf-8")

    def pipe(self, *flags: str) -> Pipe:
        """Start `vaultmind mcp` as a client would."""
        pipe = Pipe(["mcp", "--vault", str(self.vault), *flags], self.environment, self.forked)
        self.pipes.append(pipe)
        return pipe

    def daemon(self, first: str = "ops") -> subprocess.Popen[bytes]:
        """Start a daemon process directly, without waiting for it."""
        command = [sys.executable, "-m", "vaultmind.serve.daemon", "--first", first]
        command += ["--vault", str(self.vault), "--state-dir", str(self.state_root)]
        child = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.children.append(child)
        return child

    def running(self, *, forked: bool = True) -> nursery.Process | subprocess.Popen[bytes]:
        """Start a daemon process and return it once it answers.

        One that is not forked has a command line by which others can tell whose it is.
        """
        words = ["--first", "ops", "--vault", str(self.vault)]
        words += ["--state-dir", str(self.state_root)]
        if forked:
            child: Any = nursery.start(nursery.DAEMON, words, self.environment)
            self.children.append(child)
        else:
            child = self.daemon()
        until(lambda: self.status()["running"] or child.poll() is not None)
        assert child.poll() is None, child.stderr and child.stderr.read()
        return child

    def status(self) -> dict[str, Any]:
        return launch.status(self.config)

    def pid(self) -> int:
        """Return the pid of the daemon that answers; 0 when none does."""
        return int(self.status().get("pid", 0))

    def kill(self) -> None:
        """Kill the daemon as a crash would, and see it dead."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not alive(pid, self.children))

    def close(self) -> None:
        """End every process of this house."""
        for pipe in self.pipes:
            pipe.close()
        with suppress(OSError, ValueError):
            owner = json.loads((self.config.state_dir / "lock").read_text("utf-8"))
            if owner["pid"] != os.getpid():
                os.kill(owner["pid"], signal.SIGKILL)
        for child in self.children:
            child.kill()
            child.wait()
            if child.stderr:
                child.stderr.close()
        for child in launch._started:
            child.kill()
            child.wait()
        launch._started.clear()


class Pipe:
    """A `vaultmind mcp` process, spoken to as an MCP client of the old era speaks."""

    def __init__(self, words: list[str], environment: dict[str, str], forked: bool) -> None:
        into, self.stdin = _pair()
        self.stdout, out = _pair()
        self.stderr, err = _pair()
        self.process: subprocess.Popen[bytes] | nursery.Process
        with into, out, err:
            if forked:
                self.process = nursery.start(
                    nursery.PROGRAM, words, environment, into=into, out=out, err=err
                )
            else:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "vaultmind", *words],
                    env=environment, stdin=into, stdout=out, stderr=err,
                )  # fmt: skip
        self._number = 0

    def write(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def read(self) -> dict[str, Any]:
        line = self.stdout.readline()
        return json.loads(line) if line else {}

    def send(self, method: str, params: dict[str, Any], number: int | str | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.write(json.dumps(message).encode() + b"\n")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._number += 1
        self.send(method, params, self._number)
        while True:
            answer = self.read()
            if not answer or answer.get("id") == self._number:
                return answer

    def shake_hands(self) -> dict[str, Any]:
        answer = self.ask("initialize", **INITIALIZE)
        self.send("notifications/initialized", {})
        return answer

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                stream.close()


def _pair() -> tuple[BinaryIO, BinaryIO]:
    """Return the two ends of a pipe: what is written to the second comes out of the first."""
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def alive(pid: int, children: list[subprocess.Popen[bytes] | nursery.Process]) -> bool:
    """Tell whether a process lives; a dead child of ours is reaped first."""
    for child in [*children, *launch._started]:
        if child.pid == pid:
            return child.poll() is None
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[0]
    except OSError:
        pass
    else:
        return state != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
