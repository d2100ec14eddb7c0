"""The app in the process of one command: `--in-process`."""

from __future__ import annotations

from typing import Any

from vaultmind.app import App, local_now
from vaultmind.config import Config
from vaultmind.ports import Report, silent
from vaultmind.serve.call import Call
from vaultmind.serve.lock import VaultLock
from vaultmind.serve.op import IN_WORDS, find, run_operation
from vaultmind.types import PERSON


class InProcess:
    """The app in this process; holds the vault's lock meanwhile.

    It does what it is asked and tends to nothing by itself, as a daemon does: a look at a copy of a
    vault leaves it as it is.
    """

    def __init__(self, config: Config) -> None:
        self._lock = VaultLock(config)
        self._lock.acquire()
        self._app = App(config, local_now, None)
        self._app.start(tends=False)

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation on the app; before one that writes, what was left to do is done.

        So it is before suggestions are listed: they are what was left to do.
        """
        asked = args["op"] if op == IN_WORDS else op
        if find(asked).writes or asked == "suggestions_list":
            self._app.look()
        return run_operation(self._app, Call(PERSON, report), op, args)

    def close(self) -> None:
        """Finish the index's queue, close the app and free the lock."""
        self._app.close()
        self._lock.release()
