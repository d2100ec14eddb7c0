"""An agent's conversation in Claude Code, as its hooks tell of it; files and git are real."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.serve.vaults import config_of, write_vault
from tests.session.transcripts import Script
from vaultmind.app import App, open_app
from vaultmind.config import Config
from vaultmind.episodes.types import Episode, Event
from vaultmind.serve.call import Call
from vaultmind.serve.op import find
from vaultmind.serve.ops import hooks
from vaultmind.session import spool, uses
from vaultmind.types import Caller

CALLER = Caller("agent", "main", "claude-code")
AS_ANNA = (
    "-c", "user.name=Anna", "-c", "user.email=anna@example.org", "-c", "commit.gpgsign=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip
FILES = {
    "src/auth.py": "def refresh(token):\n    return token\n",
    "src/cart.py": "def total(lines):\n    return sum(lines)\n",
    "tests/test_auth.py": "from src.auth import refresh\n",
    "README.md": "# Shop\n",
    ".gitignore": "build/\n",
}


def git(folder: Path, *words: str, **env: str) -> str:
    done = subprocess.run(
        ["git", *AS_ANNA, *words], cwd=folder, capture_output=True, text=True, check=True,
        env={**os.environ, **env},
    )  # fmt: skip
    return done.stdout.strip()


def make_project(folder: Path, *, with_git: bool = True) -> Path:
    """Return a project, with a repository of one commit."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    if with_git:
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "The shop", GIT_COMMITTER_DATE="2026-01-01T12:00:00Z")
    return folder.resolve()


@dataclass
class Talk:
    """One conversation in a folder."""

    app: App
    cwd: Path
    script: Script
    caller: Caller = CALLER
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def session(self) -> str:
        return self.script.session_id

    def tell(self, event: str, **more: str) -> str:
        """Tell of an event of the conversation; return what the host is told."""
        args = {"session_id": self.session, "transcript_path": str(self.script.path)}
        given = {"event": event, **args, "cwd": str(self.cwd), **more}
        call = Call(self.caller)
        return str(hooks.hook(self.app, call, **find("hook").check(given))["context"])

    def asks(self, words: str) -> None:
        """Ask; no agent uses a tool before its prompt is heard of."""
        self.tell("UserPromptSubmit", prompt=words)
        self.script.user(words)
        assert self.app.watching.wait(30)

    def uses(
        self, tool: str, asked: dict[str, Any], answered: Any = None, **more: Any
    ) -> dict[str, Any] | None:
        """Tell of a tool's use as the hook would; return what left it."""
        failed = "error" in more
        event = uses.FAILED if failed else "PostToolUse"
        given = {
            "session_id": self.session, "transcript_path": str(self.script.path),
            "cwd": str(self.cwd), "hook_event_name": event, "tool_name": tool,
            "tool_input": asked, "tool_use_id": f"toolu_{next(self._numbers)}", **more,
        }  # fmt: skip
        if not failed:
            given["tool_response"] = answered or {}
        use = uses.reduced(given, event)
        if use is not None:
            told = {**use, "session_id": self.session, "transcript_path": str(self.script.path)}
            spool.leave(str(self.app.config.state_dir), {"agent": self.caller.agent, **told})
            hooks.catch_up_hooks(self.app)
        return use

    def reads(self, name: str) -> None:
        path = self.cwd / name
        text = path.read_text("utf-8") if path.is_file() else ""
        self.uses("Read", {"file_path": str(path)}, {"type": "text", "file": {"content": text}})

    def edits(self, name: str, text: str = "changed = True\n") -> None:
        path = self.cwd / name
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self.uses("Write", {"file_path": str(path), "content": text},
                  {"type": "create" if new else "update", "filePath": str(path)})  # fmt: skip

    def runs(self, command: str, printed: str = "", **more: Any) -> dict[str, Any] | None:
        answered = {"stdout": printed, "stderr": "", "interrupted": False, "isImage": False}
        return self.uses("Bash", {"command": command}, answered, **more)

    def commits(self, message: str, *options: str) -> str:
        """Commit all there is, and tell of it."""
        assert self.app.watching.wait(30)
        git(self.cwd, "add", "-A")
        git(self.cwd, "commit", "-q", "-m", message, *options)
        self.runs(f'git add -A && git commit -m "{message}"', f"[main abc] {message}\n")
        return git(self.cwd, "rev-parse", "HEAD")

    def stops(self) -> None:
        self.tell("Stop")

    def ends(self) -> None:
        self.tell("SessionEnd")

    # --- what is kept --------------------------------------------------------------------

    def episodes(self) -> list[Episode]:
        """Return the conversation's episodes, oldest first, once all is done."""
        return [one for one in episodes(self.app) if one.session == self.session]

    def episode(self) -> Episode:
        (one,) = self.episodes()
        return one


def episodes(app: App) -> list[Episode]:
    """Return every episode as its note says, oldest first."""
    assert app.watching.wait(30)
    files = app.episodes.files
    return sorted(map(files.read, files.names()), key=lambda one: one.id)


def told(episode: Episode, *kinds: str) -> list[tuple[str, str]]:
    """Return kind and path of the events of some kinds."""
    return [(one.kind, one.path) for one in episode.events if not kinds or one.kind in kinds]


def one_of(episode: Episode, kind: str, path: str = "") -> Event:
    (found,) = [one for one in episode.events if one.kind == kind and path in ("", one.path)]
    return found


@contextmanager
def watching_app(folder: Path) -> Iterator[App]:
    """Open an app without vectors over a vault in a folder, until the block is over."""
    write_vault(folder / "vault")
    app = open_app(without_vectors(folder))
    app.start()
    try:
        assert app.index.wait_ready(30)
        yield app
    finally:
        app.close()


@contextmanager
def linked_project(app: App, folder: Path) -> Iterator[Path]:
    """Link a project made in a folder, until the block is over and all that was told is done."""
    yield linked(app, make_project(folder))
    assert app.watching.wait(30)
    app.sources.unlink(folder.name)


def without_vectors(folder: Path) -> Config:
    """Return a folder's configuration, without an embedder."""
    config = config_of(folder)
    return replace(config, index=replace(config.index, embedder="none"))


def linked(app: App, folder: Path) -> Path:
    """Link a folder and wait until its texts can be found."""
    source = app.sources.link(str(folder))
    assert source.index.wait_ready(30)
    return folder
