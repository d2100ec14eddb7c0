"""The way from a command to the operations: through the daemon, or in this process."""

from __future__ import annotations

from typing import Any, Protocol

from vaultmind.config import Config
from vaultmind.ports import Report, silent

NEED_A_LOOK = frozenset(("suggestions_list",))
"""Operations that only read, and what they read is what was left to do."""


class Backend(Protocol):
    """Runs operations by name."""

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation and return its response as JSON; raises VaultMindError."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class DaemonBackend:
    """The vault's daemon, started when needed."""

    def __init__(self, config: Config) -> None:
        from vaultmind.client.client import Client

        self._client = Client.connect(config)

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation in the daemon."""
        return self._client.call(op, args, report)

    def close(self) -> None:
        """Close the connection; the daemon stays."""
        self._client.close()


class InProcessBackend:
    """The same app in this process; holds the vault's lock meanwhile.

    It does what it is asked and tends to nothing by itself, as a daemon does: a look at a copy of a
    vault leaves it as it is.
    """

    def __init__(self, config: Config) -> None:
        from vaultmind.app import App, local_now
        from vaultmind.serve.daemon.lock import VaultLock

        self._lock = VaultLock(config)
        self._lock.acquire()
        try:
            self._app = App(config, local_now, None)
            self._app.start(tends=False)
        except BaseException:
            self._lock.release()
            raise

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation on the app; before one that writes, what was left to do is done."""
        from vaultmind.serve.operations import IN_WORDS, Call, find, run_operation
        from vaultmind.types import PERSON

        asked = args["op"] if op == IN_WORDS else op
        if find(asked).writes or asked in NEED_A_LOOK:
            self._app.look()
        return run_operation(self._app, Call(PERSON, report), op, args)

    def close(self) -> None:
        """Finish the index's queue, close the app and free the lock."""
        self._app.close()
        self._lock.release()


def open_backend(config: Config, *, in_process: bool) -> Backend:
    """Return the daemon's backend, or this process's."""
    return InProcessBackend(config) if in_process else DaemonBackend(config)
