"""One owner per vault: locks that no crash can leave behind.

One is a file in the state folder. The other is on the vault's own folder, with no byte written,
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

from filelock import FileLock, Timeout

from vaultmind import __version__
from vaultmind.client.wire import OWNER, make_private
from vaultmind.config import Config
from vaultmind.errors import VaultLocked

LOCK = "lock"


class VaultLock:
    """The right to own a vault's index. The system frees it when its holder dies."""

    def __init__(self, config: Config, what: str = "in-process") -> None:
        self._folder = config.state_dir
        self._vault = config.vault
        self._what = what
        self._lock = FileLock(
            self._folder / LOCK, timeout=0, mode=0o600, thread_local=False, is_singleton=False
        )
        self._held: int | None = None

    def acquire(self) -> None:
        """Take the locks; raise VaultLocked, naming the holder, when another process has one."""
        make_private(os.fspath(self._folder))
        try:
            self._lock.acquire()
        except Timeout:
            holder = self.holder()
            kind = "An in-process call" if holder.get("what") == "in-process" else "The daemon"
            raise VaultLocked(
                f"{kind} (pid {holder.get('pid', 'unknown')}) owns the index of {self._vault}.",
                hint="Stop it with `vaultmind daemon stop`, or leave out --in-process.",
            ) from None
        try:
            self._held = _hold(self._vault)
        except BlockingIOError:
            self._lock.release()
            raise VaultLocked(
                f"Another process serves the vault {self._vault} with another state folder.",
                hint="Use its --state-dir, or stop it first: two would write one memory.",
            ) from None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        words = {"pid": os.getpid(), "what": self._what, "version": __version__, "started": now}
        fresh = self._folder / f"{OWNER}.new"
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(words), "utf-8")
        fresh.replace(self._folder / OWNER)

    def release(self) -> None:
        """Give the lock back."""
        if self._lock.is_locked:
            if self.holder().get("pid") == os.getpid():
                (self._folder / OWNER).unlink(missing_ok=True)
            if self._held is not None:
                os.close(self._held)
                self._held = None
            self._lock.release()

    def holder(self) -> dict[str, Any]:
        """Return what the present or last holder wrote of itself; empty when unreadable."""
        found: Any = None
        with suppress(OSError, ValueError):
            found = json.loads((self._folder / OWNER).read_bytes())
        return found if isinstance(found, dict) else {}


def _hold(vault: Path) -> int | None:
    """Return the vault's folder opened and locked; None where the system has no such lock.

    Raises BlockingIOError where another process has locked it.
    """
    folder = None
    try:
        folder = os.open(vault, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # whoever opens the vault says what is wrong with it
        if folder is not None:
            os.close(folder)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return folder
