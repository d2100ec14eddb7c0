"""One owner per vault: locks that no crash can leave behind.

One is a file in the state folder. The other is on the vault's own folder, with no byte written,
and keeps away a process that was given another state folder: it would build a second index and
write the same memory.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from vaultmind import __version__
from vaultmind.client.wire import OWNER, make_private
from vaultmind.config import Config
from vaultmind.errors import VaultLocked

LOCK = "lock"
What = Literal["daemon", "in-process"]

log = logging.getLogger(__name__)


class VaultTaken(VaultLocked):
    """The vault is served from another state folder."""

    def __init__(self, vault: Path) -> None:
        super().__init__(
            f"Another process serves the vault {vault} with another state folder.",
            hint="Use its --state-dir, or stop it first: two would write one memory.",
        )


class VaultLock:
    """The right to own a vault's index. The system frees it when its holder dies."""

    def __init__(self, config: Config, what: What = "in-process") -> None:
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
        except VaultTaken:
            self._lock.release()
            raise
        self._sign()

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
        try:
            found = json.loads((self._folder / OWNER).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _sign(self) -> None:
        words = {
            "pid": os.getpid(),
            "what": self._what,
            "version": __version__,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        fresh = self._folder / f"{OWNER}.new"
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps(words), "utf-8")
        fresh.replace(self._folder / OWNER)


def _hold(vault: Path) -> int | None:
    """Return the vault's folder opened and locked; None where the system has no such lock."""
    try:
        folder = os.open(vault, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None  # whoever opens the vault says what is wrong with it
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(folder)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise VaultTaken(vault) from None
        log.info("this file system locks no folders: %s", error.strerror)
        return None
    return folder
