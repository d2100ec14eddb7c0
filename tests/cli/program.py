"""The program as a person runs it: another process, whatever the folder, with or without JSON.

Its interpreter is forked (see `tests.nursery`), but for one on a terminal, or set up otherwise.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import nursery
from tests.machine import Machine


@dataclass(frozen=True, slots=True)
class Done:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(machine: Machine, *arguments: str, cwd: Path | None = None, **env: str) -> Done:
    """Run the program with exactly these arguments, in the vault's folder or another."""
    where = cwd or machine.vault
    if not any(name.startswith("PYTHON") for name in env):
        ended = nursery.run(arguments, environment(machine) | env, cwd=where)
        return Done(ended.returncode, ended.stdout, ended.stderr)
    done = subprocess.run(
        [sys.executable, "-m", "vaultmind", *arguments],
        env=environment(machine) | env,
        cwd=where,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def on_terminal(machine: Machine, types: str, *arguments: str) -> tuple[int, str]:
    """Run it on a terminal, type something, and return its exit code and all that appeared."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "vaultmind", *arguments]
    child = subprocess.Popen(command, env=environment(machine), cwd=machine.vault, stdin=theirs,
                             stdout=theirs, stderr=theirs)  # fmt: skip
    os.close(theirs)
    os.write(ours, f"{types}\n".encode())
    shown = b""
    with suppress(OSError):  # how Linux says that the other end is closed
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    return child.wait(60), shown.decode("utf-8", "replace")


def environment(machine: Machine) -> dict[str, str]:
    """Return the environment of a run; the package is found from any folder."""
    return machine.env | {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(machine.state)}
