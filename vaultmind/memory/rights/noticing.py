"""Notices what a person lowers in an identity.md, whether or not anybody asks meanwhile.

What was lowered stays lowered until the person allows more. That it was lowered must be seen
before somebody with a hand on the file raises it again: so the files are looked at by their
stamps, a few times a second, as long as the app runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from vaultmind.errors import VaultMindError
from vaultmind.memory.polling import Polling
from vaultmind.memory.rights.authority import Authority

POLL_SECONDS = 0.5

log = logging.getLogger(__name__)


class Noticing:
    """One thread over the identities of all agents."""

    def __init__(
        self,
        authority: Authority,
        agents: Callable[[], Collection[str]],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._authority = authority
        self._agents = agents
        self._failed: set[str] = set()
        self._polling = Polling("identities", self.look, poll_seconds)

    def start(self) -> None:
        """Begin to notice, in the background."""
        self._polling.start()

    def close(self) -> None:
        """Stop after the present look."""
        self._polling.close()

    def look(self) -> None:
        """Take in what identities say now. One that fails is said once and keeps back no other."""
        failed: set[str] = set()
        for agent in self._agents():
            try:
                self._authority.rights(agent)
            except VaultMindError as error:
                failed.add(agent)
                if agent not in self._failed:
                    log.warning("what %s may do could not be kept: %s", agent, error)
            except Exception:  # one identity must not keep the others from being looked at
                failed.add(agent)
                if agent not in self._failed:
                    log.exception("the identity of %s could not be looked at", agent)
        self._failed = failed
