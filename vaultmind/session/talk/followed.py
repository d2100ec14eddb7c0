"""What stores records, told on to who follows conversations as they grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vaultmind.session.files import Records
from vaultmind.types import Caller
from vaultmind.vault.files import Change
from vaultmind.vault.paths import SESSION_ID, VaultPaths


@dataclass(frozen=True, slots=True)
class Followed:
    """Implements `store.Records` over the gate; each session that is written to is `heard`."""

    gate: Records
    paths: VaultPaths
    heard: Callable[[str, str], None]
    """Told the agent and the session."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap."""
        written = self.gate.save(relative, change, caller, reason)
        if written is not None:
            self._tell(relative)
        return written

    def append(self, relative: str, text: str) -> object:
        """Append to a file and flush."""
        done = self.gate.append(relative, text)
        self._tell(relative)
        return done

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down."""
        return self.gate.keeps_records(agent)

    def _tell(self, relative: str) -> None:
        agent = self.paths.agent_of(relative)
        session = relative.rpartition("/")[2].removesuffix(".md")
        is_session = bool(agent) and SESSION_ID.fullmatch(session) is not None
        if is_session and relative == self.paths.session(agent, session):
            self.heard(agent, session)
