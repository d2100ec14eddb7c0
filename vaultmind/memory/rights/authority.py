"""Who may do what to whose memory now: the identities in the vault, met with what is allowed.

An identity is read again when its file changes, so that a lowered right holds at once.
"""

from __future__ import annotations

import threading

from vaultmind.errors import BadArgument, VaultMindError
from vaultmind.memory.rights.granted import Grants
from vaultmind.memory.rights.grants import (
    Claim,
    Rights,
    claim_of,
    judge,
    mark_of,
    waiting_for_person,
)
from vaultmind.memory.rights.identity import Identity, read_identity
from vaultmind.memory.rights.policy import AUTO, READ_ONLY, Decision, Operation
from vaultmind.types import Caller
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.paths import AGENT_NAME


class Authority:
    """The rights in force in one vault. Any thread."""

    def __init__(self, reader: VaultReader, grants: Grants, default_level: int = AUTO) -> None:
        self._reader = reader
        self._grants = grants
        self._default_level = default_level
        self._lock = threading.Lock()
        self._read: dict[str, tuple[FileStat | None, Identity]] = {}
        self._found: dict[str, tuple[Identity, int, Rights]] = {}

    def identity(self, agent: str) -> Identity:
        """Return an agent's identity as its file stands; an empty one where there is none."""
        stamp = self._stamp(agent)
        with self._lock:
            known = self._read.get(agent)
        if known is not None and stamp is not None and known[0] == stamp:
            return known[1]
        identity = read_identity(self._reader, self._reader.paths, agent)
        with self._lock:
            self._read[agent] = (stamp, identity)
        return identity

    def claim(self, agent: str) -> Claim:
        """Return what an agent's identity asks for."""
        return claim_of(self.identity(agent), self._default_level)

    def rights(self, agent: str) -> Rights:
        """Return the rights in force. Raises WriteFailed when a lowered one cannot be kept."""
        identity, version = self.identity(agent), self._grants.version
        with self._lock:
            found = self._found.get(agent)
        if found is not None and found[0] is identity and found[1] == version:
            return found[2]
        rights = self._grants.in_force(agent, claim_of(identity, self._default_level))
        with self._lock:
            self._found[agent] = (identity, version, rights)
        return rights

    @property
    def fault(self) -> str:
        """Return why the file of what the person allowed cannot be read; empty for a sound one."""
        return self._grants.fault

    def waiting(self, agent: str) -> tuple[str, ...]:
        """Return what an agent's identity asks for beyond what is in force, in words."""
        claim = self.claim(agent)
        self._grants.in_force(agent, claim)  # what it lowered is known before this is told
        return waiting_for_person(self._grants.known(agent), claim)

    def allow(self, agent: str, seen: str, caller: Caller) -> Rights:
        """Let an agent have what its identity asks for, which the person has just seen.

        `seen` is the `mark_of` that claim. Raises BadArgument for every caller but the person,
        for a broken identity, and where it asks for something else by now.
        """
        claim = self.claim(agent)
        if seen != mark_of(claim):
            name = self._reader.paths.identity(agent)
            error = BadArgument("seen", seen, f"the mark of what {name} asks for now")
            error.hint = "It has changed since it was shown. Nothing was allowed: look again."
            raise error
        return self._grants.allow(agent, claim, caller)

    def begin(self, agent: str, caller: Caller) -> None:
        """Drop what is known of an agent, for a new one of that name: the default holds.

        Raises BadArgument for every caller but the person.
        """
        if caller.kind != "person":
            raise BadArgument("caller", caller.name, "the person, at the command line")
        self._grants.forget(agent)

    def level(self, agent: str) -> int:
        """Return the level in force."""
        return self.rights(agent).level

    def decide(self, caller: Caller, target: str, op: Operation, scope: str) -> Decision:
        """Return whether a caller may change a target's memory in a scope.

        The scope is a section, `brain` for a line outside all of them, `active_context`.
        """
        if caller.kind == "person":
            return judge(caller, target, op, scope, {})
        rights = {agent: self.rights(agent) for agent in {caller.agent, target}}
        return judge(caller, target, op, scope, rights)

    def lets_read(self, caller: Caller, owner: str) -> bool:
        """Tell whether a caller may read an agent's memory. A doubt means no."""
        if caller.kind == "person" or caller.agent == owner:
            return True
        try:
            return self.rights(owner).lets_read(caller.agent, owner)
        except VaultMindError:
            return False

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        return self.level(agent) > READ_ONLY

    def _stamp(self, agent: str) -> FileStat | None:
        if not AGENT_NAME.fullmatch(agent):
            return None
        try:
            return self._reader.stat(self._reader.paths.identity(agent))
        except VaultMindError:
            return None
