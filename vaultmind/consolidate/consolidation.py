"""Falling asleep: what ended conversations leave in memory, one session after another.

read what may be recalled → facts and a summary → the gate, fact by fact → what was dropped, to
the audit → the active context → the mark that it is done → summaries of several sessions. Each
step may be repeated after a kill without anything being done twice.
"""

from __future__ import annotations

from vaultmind.consolidate.background import Standing
from vaultmind.consolidate.means import Means
from vaultmind.consolidate.types import Consolidated, Request
from vaultmind.ports import Report, silent
from vaultmind.types import Caller


class Consolidation:
    """Consolidates sessions, one at a time. One per vault; any thread."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def run(self, request: Request, caller: Caller, report: Report = silent) -> Consolidated:
        """Consolidate what is asked for, now; a run that goes on already is waited for.

        Raises NotFound, BadArgument for a session or summary that is not there.
        """
        raise NotImplementedError

    def ended(self, agent: str, session: str) -> None:
        """Say that a session has ended: after a while of quiet it is consolidated."""

    def standing(self) -> Standing:
        """Return how far it is."""
        raise NotImplementedError

    def pause(self) -> None:
        """Begin with nothing more by itself, after a restart neither, until `resume`."""

    def resume(self) -> None:
        """Go on by itself."""

    def start(self) -> None:
        """Look in the background for what waits; returns at once."""

    def close(self) -> None:
        """Stop: what is being worked at stays marked, and is begun again another time."""
