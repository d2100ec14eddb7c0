"""One owner per vault: a lock in the state folder that no crash can leave behind."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any, Literal

from filelock import FileLock, Timeout

from vaultmind import __version__
from vaultmind.config import Config
from vaultmind.errors import VaultLocked
from vaultmind.serve.wire import OWNER, make_private

LOCK = "lock"
What = Literal["daemon", "in-process"]


class VaultLock:
    """The right to own a vault's index. The system frees it when its holder dies."""

    def __init__(self, config: Config, what: What = "in-process") -> None:
        self._folder = config.state_dir
        self._vault = config.vault
        self._what = what
        self._lock = FileLock(
            self._folder / LOCK, timeout=0, mode=0o600, thread_local=False, is_singleton=False
        )

    def acquire(self) -> None:
        """Take the lock; raise VaultLocked, naming the holder, when another process has it."""
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
        self._sign()

    def release(self) -> None:
        """Give the lock back."""
        if self._lock.is_locked:
            if self.holder().get("pid") == os.getpid():
                (self._folder / OWNER).unlink(missing_ok=True)
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
