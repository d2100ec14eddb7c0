"""The real program on a real vault, as tests drive it: processes, sockets, an MCP client."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import nursery
from tests.waiting import until
from vaultmind.client import launch
from vaultmind.config import Config, Flags, load_config


@dataclass(frozen=True, slots=True)
class Machine:
    """One vault with a state folder of its own."""

    vault: Path
    state: Path
    embedder: str = "none"

    @property
    def env(self) -> dict[str, str]:
        ours = {
            "VAULTMIND_STATE_DIR": str(self.state),
            "VAULTMIND_CONFIG": str(self.state / "none.toml"),
            "VAULTMIND_INDEX_EMBEDDER": self.embedder,
            "VAULTMIND_INDEX_DEBOUNCE_MS": "30",
        }
        kept = {k: v for k, v in os.environ.items() if not k.startswith("VAULTMIND_")}
        return kept | ours

    @property
    def config(self) -> Config:
        return load_config(Flags(vault=str(self.vault)), env=self.env)

    def brain(self, agent: str = "main") -> Path:
        return self.vault / f"VaultMind/agents/{agent}/memory/brain.md"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "vaultmind", *arguments, "--vault", str(self.vault)]

    def run(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> Any:
        """Run a command with --json and return what it says."""
        words = [*arguments, "--vault", str(self.vault), "--json"]
        done = nursery.run(words, self.env, cwd=Path.cwd())
        assert done.returncode in ok, (
            f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return json.loads(done.stdout)

    def furnish(self, notes: Mapping[str, str]) -> None:
        """Make the vault one of Obsidian's that holds some notes, by path."""
        for name, text in notes.items():
            path = self.vault / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (self.vault / ".obsidian").mkdir()

    def begin(self) -> None:
        """Start the daemon that the first command would start, if none runs, and see it answer."""
        if self.pid():
            return
        config = self.config
        config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        words = ["--first", "ops", "--vault", str(self.vault)]
        words += ["--state-dir", str(config.state_dir.parent)]
        with (config.state_dir / launch.LOG).open("ab") as log:
            child = nursery.start(nursery.DAEMON, words, self.env, out=log, err=log)
        until(lambda: self.pid() == child.pid or child.poll() is not None, 30)
        assert child.poll() is None, (config.state_dir / launch.LOG).read_text("utf-8")

    def pid(self) -> int:
        """Return the running daemon's pid; 0 when none runs."""
        return int(launch.status(self.config).get("pid", 0))

    def kill(self) -> None:
        """Kill the daemon as a crash would."""
        if pid := self.pid():
            os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        launch.stop(self.config)

    @asynccontextmanager
    async def client(self, agent: str = "main", mode: str = "auto") -> AsyncIterator[Any]:
        """Connect a real MCP client through the real pipe, as Claude does."""
        from mcp import Client, StdioServerParameters, stdio_client

        command = self.command("mcp", "--agent", agent)
        server = StdioServerParameters(command=command[0], args=command[1:], env=self.env)
        async with Client(stdio_client(server), mode=mode) as client:  # type: ignore[arg-type]
            yield client


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
