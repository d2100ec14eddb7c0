"""One owner per vault: locks that no crash can leave behind.

One is on a file in the state folder, which says who holds it. The other is on the vault's own
folder, with no byte written, and keeps away a process that was given another state folder: it would
build a second index and write the same memory.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from vaultmind.client.wire import make_private
from vaultmind.config import Config
from vaultmind.errors import VaultLocked

LOCK = "lock"
"""What is locked; in it stand pid and kind of its holder, also of one that is dead."""


class VaultLock:
    """The right to own a vault's index. The system frees it when its holder dies."""

    def __init__(self, config: Config, what: str = "in-process") -> None:
        self._path = config.state_dir / LOCK
        self._vault = config.vault
        self._what = what
        self._held: list[int] = []

    def acquire(self) -> None:
        """Take the locks; raise VaultLocked, naming the holder, when another process has one."""
        make_private(os.fspath(self._path.parent))
        if not self._take(self._path, os.O_RDWR | os.O_CREAT):
            holder = self.holder()
            kind = "An in-process call" if holder.get("what") == "in-process" else "The daemon"
            raise VaultLocked(
                f"{kind} (pid {holder.get('pid', 'unknown')}) owns the index of {self._vault}.",
                hint="Stop it with `vaultmind daemon stop`, or leave out --in-process.",
            )
        taken = True
        with suppress(OSError):  # whoever opens the vault says what is wrong with it
            taken = self._take(self._vault, os.O_RDONLY | os.O_DIRECTORY)
        if not taken:
            self.release()
            raise VaultLocked(
                f"Another process serves the vault {self._vault} with another state folder.",
                hint="Use its --state-dir, or stop it first: two would write one memory.",
            )
        self._path.write_text(json.dumps({"pid": os.getpid(), "what": self._what}), "utf-8")

    def release(self) -> None:
        """Give the locks back."""
        while self._held:
            os.close(self._held.pop())

    def holder(self) -> dict[str, Any]:
        """Return what the present or last holder wrote of itself; empty when unreadable."""
        with suppress(OSError, ValueError):
            return dict(json.loads(self._path.read_bytes()))
        return {}

    def _take(self, path: Path, how: int) -> bool:
        """Lock a file or folder; tell whether it was free. A system without such locks has none."""
        opened = os.open(path, how | os.O_CLOEXEC, 0o600)
        self._held.append(opened)
        with suppress(OSError):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._held.pop())
                return False
        return True
