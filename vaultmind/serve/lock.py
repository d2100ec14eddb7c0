"""One owner per vault: locks that no crash can leave behind.

One is on a file in the state folder. The other is on the vault's own folder, with no byte written,
and keeps away a process that was given another state folder: it would build a second index and
write the same memory.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vaultmind import __version__
from vaultmind.client.wire import make_private
from vaultmind.config import Config
from vaultmind.errors import VaultLocked

LOCK, OWNER = "lock", "daemon.json"
"""What is locked; and who holds it: pid and what. A dead owner's words may remain."""


class VaultLock:
    """The right to own a vault's index. The system frees it when its holder dies."""

    def __init__(self, config: Config, what: str = "in-process") -> None:
        self._folder = config.state_dir
        self._vault = config.vault
        self._what = what
        self._held: list[int] = []

    def acquire(self) -> None:
        """Take the locks; raise VaultLocked, naming the holder, when another process has one."""
        make_private(os.fspath(self._folder))
        if not self._take(self._folder / LOCK, os.O_RDWR | os.O_CREAT):
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
            self._let_go()
            raise VaultLocked(
                f"Another process serves the vault {self._vault} with another state folder.",
                hint="Use its --state-dir, or stop it first: two would write one memory.",
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        words = {"pid": os.getpid(), "what": self._what, "version": __version__, "started": now}
        fresh = self._folder / f"{OWNER}.new"
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(words), "utf-8")
        fresh.replace(self._folder / OWNER)

    def release(self) -> None:
        """Give the locks back."""
        if self._held and self.holder().get("pid") == os.getpid():
            (self._folder / OWNER).unlink(missing_ok=True)
        self._let_go()

    def holder(self) -> dict[str, Any]:
        """Return what the present or last holder wrote of itself; empty when unreadable."""
        found: Any = None
        with suppress(OSError, ValueError):
            found = json.loads((self._folder / OWNER).read_bytes())
        return found if isinstance(found, dict) else {}

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

    def _let_go(self) -> None:
        while self._held:
            os.close(self._held.pop())
