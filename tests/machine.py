"""The real program on a real vault, as tests drive it: processes, sockets, MCP clients."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tests import nursery
from tests.waiting import until
from vaultmind.client import launch, wire
from vaultmind.config import Config, Flags, load_config

ROOT = Path(__file__).parent.parent
CLIENT = {"name": "test", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
TWO_NOTES = {
    "Oven.md": "# Oven\n\nThe oven bakes at 230 degrees.\n",
    "Bike.md": "# Bike\n\nThe bike has a flat tyre.\n",
}


class Machine:
    """One vault with a state folder of its own, and the processes on it."""

    def __init__(self, vault: Path, state: Path, embedder: str = "none", **settings: str) -> None:
        self.vault, self.state = vault, state
        self.forked = True
        """Whether pipes and hooks, and what they start, are forked (see `tests.nursery`)."""
        self.pipes: list[Pipe] = []
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("VAULTMIND_")}
        self.env = kept | {
            "HOME": str(vault.parent),
            "XDG_CACHE_HOME": str(Path("~/.cache").expanduser()),
            "PYTHONPATH": paths,
            "VAULTMIND_STATE_DIR": str(state),
            "VAULTMIND_CONFIG": str(state / "none.toml"),
            "VAULTMIND_INDEX_EMBEDDER": embedder,
            "VAULTMIND_INDEX_DEBOUNCE_MS": "30",
            **settings,
        }

    @property
    def config(self) -> Config:
        return load_config(Flags(vault=str(self.vault)), env=self.env)

    @property
    def socket(self) -> Path:
        return Path(wire.socket_path(str(self.config.state_dir)))

    @property
    def log(self) -> str:
        return (self.config.state_dir / launch.LOG).read_text("utf-8")

    def brain(self, agent: str = "main") -> Path:
        return self.vault / f"VaultMind/agents/{agent}/memory/brain.md"

    def furnish(self, notes: Mapping[str, str]) -> None:
        """Make the vault one of Obsidian's that holds some notes, by path."""
        for name, text in notes.items():
            path = self.vault / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (self.vault / ".obsidian").mkdir(parents=True)

    def run(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> Any:
        """Run a command with --json and return what it says."""
        words = [*arguments, "--vault", str(self.vault), "--json"]
        done = nursery.run(words, self.env, cwd=Path.cwd())
        assert done.returncode in ok, (
            f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return json.loads(done.stdout)

    # --- the daemon ----------------------------------------------------------------------

    def begin(self) -> nursery.Process | None:
        """Start the daemon that the first command would start, if none runs, and see it answer."""
        if self.pid():
            return None
        config = self.config
        config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        words = ["--first", "ops", "--vault", str(self.vault)]
        words += ["--state-dir", str(config.state_dir.parent)]
        with (config.state_dir / launch.LOG).open("ab") as log:
            child = nursery.start(nursery.DAEMON, words, self.env, out=log, err=log)
        until(lambda: self.pid() == child.pid or child.poll() is not None, 30)
        assert child.poll() is None, self.log
        return child

    def pid(self) -> int:
        """Return the running daemon's pid; 0 when none runs."""
        return int(launch.status(self.config).get("pid", 0))

    def kill(self) -> None:
        """Kill the daemon as a crash would, and see it dead."""
        if pid := self.pid():
            os.kill(pid, signal.SIGKILL)
            until(lambda: self.pid() != pid)

    def stop(self) -> None:
        launch.stop(self.config)

    def close(self) -> None:
        """End every process of this machine."""
        for pipe in self.pipes:
            pipe.close()
        self.kill()
        for child in launch._started:
            child.kill()
            child.wait()
        launch._started.clear()

    # --- clients -------------------------------------------------------------------------

    def pipe(self, *flags: str) -> Pipe:
        """Start `vaultmind mcp` as a client would."""
        pipe = Pipe(["mcp", "--vault", str(self.vault), *flags], self.env, self.forked)
        self.pipes.append(pipe)
        return pipe

    @asynccontextmanager
    async def client(self, agent: str = "main", mode: str = "auto") -> AsyncIterator[Any]:
        """Connect a real MCP client through the real pipe, as Claude does."""
        from mcp import Client, StdioServerParameters, stdio_client

        words = ["-m", "vaultmind", "mcp", "--agent", agent, "--vault", str(self.vault)]
        server = StdioServerParameters(command=sys.executable, args=words, env=self.env)
        async with Client(stdio_client(server), mode=mode) as client:  # type: ignore[arg-type]
            yield client


class Pipe:
    """A `vaultmind mcp` process, spoken to as an MCP client of the old era speaks."""

    def __init__(self, words: list[str], env: dict[str, str], forked: bool) -> None:
        into, self.stdin = _pair()
        self.stdout, out = _pair()
        self.process: subprocess.Popen[bytes] | nursery.Process
        with into, out:
            if forked:
                self.process = nursery.start(nursery.PROGRAM, words, env, into=into, out=out)
            else:
                command = [sys.executable, "-m", "vaultmind", *words]
                self.process = subprocess.Popen(command, env=env, stdin=into, stdout=out)
        self._number = 0

    def read(self) -> dict[str, Any]:
        line = self.stdout.readline()
        return json.loads(line) if line else {}

    def send(self, method: str, params: dict[str, Any], number: int | str | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._number += 1
        self.send(method, params, self._number)
        while True:
            answer = self.read()
            if not answer or answer.get("id") == self._number:
                return answer

    def shake_hands(self, client: str = "test") -> Pipe:
        info = {"clientInfo": {"name": client, "version": "1"}}
        assert self.ask("initialize", **(INITIALIZE | info))["result"]
        self.send("notifications/initialized", {})
        return self

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return its words."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert not answer.get("result", {"isError": True}).get("isError"), answer
        return str(answer["result"]["content"][0]["text"])

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):
                stream.close()


def _pair() -> tuple[BinaryIO, BinaryIO]:
    """Return the two ends of a pipe: what is written to the second comes out of the first."""
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def fingerprint(vault: Path, but: str = "VaultMind") -> dict[str, str]:
    """Return the hash of every file outside the memory folder, and its times."""
    found = {}
    for path in sorted(vault.rglob("*")):
        relative = path.relative_to(vault)
        if path.is_file() and relative.parts[0] != but:
            stat = path.stat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(relative)] = f"{digest} {stat.st_mtime_ns} {oct(stat.st_mode)}"
    return found


def text_of(result: Any) -> str:
    """Return the words of an MCP tool result."""
    return "\n".join(getattr(part, "text", "") for part in result.content)
