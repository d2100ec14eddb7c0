"""The program as a person runs it: another process, whatever the folder, with or without JSON.

Its interpreter is forked (see `tests.nursery`), but for one on a terminal, or set up otherwise.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
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


def on_terminal(machine: Machine, command: list[str], columns: int, types: str = "") -> str:
    """Run a command on a terminal so wide and return all that appeared there."""
    ours, theirs = pty.openpty()
    env = environment(machine) | {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    child = subprocess.Popen(
        command,
        env=env,
        cwd=machine.vault,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, types.encode())
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # how Linux says that the other end is closed
    finally:
        os.close(ours)
        child.wait(30)
    return shown.decode("utf-8").replace("\r\n", "\n")


def environment(machine: Machine) -> dict[str, str]:
    """Return the environment of a run; the package is found from any folder."""
    return machine.env | {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(machine.state)}
