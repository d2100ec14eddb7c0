"""The daemon's operations as calls, for the command line, hooks and scripts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vaultmind.client import launch
from vaultmind.client.wire import MAX_LINE_BYTES, Wire, encode
from vaultmind.errors import BadArgument, DaemonUnavailable, from_body
from vaultmind.ports import Report, silent
from vaultmind.types import PERSON, Caller, Progress

if TYPE_CHECKING:
    from vaultmind.config import Config
    from vaultmind.locate import Where

ENVELOPE_BYTES = 200
"""Of a request, what stands around its arguments."""


class Client:
    """A connection to the vault's daemon, made anew by the call after one over which it broke."""

    def __init__(self, where: Config | Where, caller: Caller) -> None:
        self._where = where
        self._hello = launch.hello(
            "ops", kind=caller.kind, agent=caller.agent, client=caller.client
        )
        self._wire: Wire | None = None

    @classmethod
    def connect(cls, where: Config | Where, caller: Caller = PERSON) -> Client:
        """Return a connected client, starting the daemon when none runs.

        Raises DaemonUnavailable, in words, when there is none and none can be started.
        """
        made = cls(where, caller)
        made._wire = launch.connect(where, made._hello)
        return made

    def call(self, op: str, args: dict[str, Any], report: Report = silent) -> dict[str, Any]:
        """Run an operation and return its response as JSON, reporting progress on the way.

        Raises what the operation raised, and DaemonUnavailable when the daemon dies over it.
        """
        if len(encode(args)) > MAX_LINE_BYTES - ENVELOPE_BYTES:
            raise BadArgument("args", f"{op}: too long", f"up to {MAX_LINE_BYTES} bytes")
        wire = self._wire = self._wire or launch.connect(self._where, self._hello)
        answer: dict[str, Any] = {}
        with suppress(OSError):  # as when the answers end
            answer = wire.ask(op, args, lambda step: report(Progress(**step)))
        if "error" in answer:
            raise from_body(answer["error"])
        if "ok" in answer:
            return dict(answer["ok"])
        self.close()
        raise DaemonUnavailable(
            f"The daemon stopped while it worked on {op}.",
            hint="Ask again: a new one starts by itself. Its log is in the state folder.",
        )

    def close(self) -> None:
        """Hang up; the daemon stays."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
