"""The file of known rights: what the person allowed agents of one vault, on this device.

It stands outside the vault, so that neither a synced folder nor an agent that edits notes can
raise anybody's rights. A file that cannot be read is never written over: it is set aside, and
until the next start whoever is not known again may only suggest.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from datetime import datetime
from pathlib import Path

from vaultmind.errors import BadArgument, WriteFailed
from vaultmind.memory.rights.grants import (
    Claim,
    Rights,
    from_json,
    in_force,
    learned,
    to_json,
)
from vaultmind.memory.rights.policy import AUTO, SUGGEST
from vaultmind.types import Caller
from vaultmind.vault.files import FileStat, stat_of

_VERSION = 1


def grants_file(state_dir: Path) -> Path:
    """Return the file of a vault's known rights, beside its state folder: that may be deleted."""
    return state_dir.parent / f"grants-{state_dir.name}.json"


class Grants:
    """Known rights of one vault's agents. One process; any thread."""

    def __init__(self, path: Path, vault: Path, default_level: int = AUTO) -> None:
        self._path = path
        self._vault = os.fspath(vault.resolve())
        self._default = Rights(default_level)
        self._lock = threading.Lock()
        self._stamp: FileStat | None = None
        self._agents: dict[str, Rights] = {}
        self._version = 0
        self._fault = ""
        self._set_aside = ""

    @property
    def fault(self) -> str:
        """Return why the file could not be read, in words; empty for a sound or missing one.

        One that was set aside is told of until the next start.
        """
        with self._lock:
            self._load()
            return self._fault or self._set_aside

    @property
    def version(self) -> int:
        """Return a number that another one follows when what is known may have changed."""
        with self._lock:
            self._load()
            return self._version

    def known(self, agent: str) -> Rights:
        """Return what an agent was allowed, or was found lowered to; else the default."""
        with self._lock:
            self._load()
            return self._of(agent)

    def in_force(self, agent: str, claim: Claim) -> Rights:
        """Return the rights that hold for an agent now; what its identity lowered is kept.

        Raises WriteFailed when that cannot be written down: an agent must not win by it.
        """
        with self._lock:
            self._load()
            known = self._of(agent)
            after = learned(known, claim)
            if after != known:
                self._save({**self._agents, agent: after})
            return in_force(known, claim)

    def allow(self, agent: str, claim: Claim, caller: Caller) -> Rights:
        """Let an agent have what its identity asks for, and return it.

        Raises BadArgument for every caller but the person, and for a claim that is broken.
        """
        if caller.kind != "person":
            raise BadArgument("caller", caller.name, "the person, at the command line")
        if claim.faults:
            raise BadArgument("identity", "; ".join(claim.faults), "a sound front matter")
        with self._lock:
            self._load()
            self._save({**self._agents, agent: claim.rights})
        return claim.rights

    def forget(self, agent: str) -> None:
        """Drop what is known of an agent: the default holds again, for one made anew."""
        with self._lock:
            self._load()
            if agent in self._agents:
                self._save({name: one for name, one in self._agents.items() if name != agent})

    def _of(self, agent: str) -> Rights:
        """Return what is known of an agent. What a file did not give may have been a lowering."""
        level = self._default.level
        if self._fault or self._set_aside:
            level = min(level, SUGGEST)
        return self._agents.get(agent, Rights(level))

    def _load(self) -> None:
        try:
            stamp = stat_of(self._path.stat())
            if stamp == self._stamp:
                return
            self._version += 1
            self._agents, self._fault = self._read(json.loads(self._path.read_bytes()))
            self._stamp = stamp
        except FileNotFoundError:
            self._version += bool(self._agents or self._fault)
            self._stamp, self._agents, self._fault = None, {}, ""
        except (OSError, ValueError, RecursionError) as error:
            self._stamp, self._agents = None, {}
            self._fault = (
                f"{self._path} cannot be read ({error}): no raised right is in force, and agents "
                "may only suggest"
            )

    def _read(self, value: object) -> tuple[dict[str, Rights], str]:
        if not isinstance(value, dict) or not isinstance(agents := value.get("agents"), dict):
            raise ValueError("it holds no agents")
        if value.get("vault") != self._vault:
            return {}, f"{self._path} is of another vault: {value.get('vault')}"
        as_configured = {"level": self._default.level}
        filled = {
            name: {**raw, **as_configured} if raw.get("level", 0) is None else raw
            for name, raw in agents.items()
            if isinstance(raw, dict)
        }
        known = {name: one for name, raw in filled.items() if (one := from_json(raw))}
        unread = ", ".join(name for name in agents if name not in known)
        return known, unread and f"{self._path} does not say what {unread} may do"

    def _save(self, agents: dict[str, Rights]) -> None:
        kept = {name: to_json(one) for name, one in sorted(agents.items())}
        for name, one in agents.items():
            if one.level == self._default.level:  # it follows the configuration
                kept[name]["level"] = None
        value = {"version": _VERSION, "vault": self._vault, "agents": kept}
        raw = (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode(
            errors="surrogateescape"
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._fault:
                self._put_aside()
            descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".grants-")
            try:
                with os.fdopen(descriptor, "wb") as file:  # mkstemp makes it 0600
                    file.write(raw)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(self._path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise WriteFailed(f"{self._path} could not be written: {error}.") from error
        self._version += 1
        self._agents, self._stamp, self._fault = agents, stat_of(self._path.stat()), ""

    def _put_aside(self) -> None:
        """Move the file that could not be read out of the way. Raises OSError."""
        if not self._path.is_file():
            return
        changed = datetime.fromtimestamp(self._path.stat().st_mtime).astimezone()
        name = f"{self._path.name}.damaged-{changed:%Y%m%d-%H%M%S}"
        taken = {one.name for one in self._path.parent.iterdir()}
        aside = next(
            one
            for n in range(len(taken) + 1)
            if (one := f"{name}{f'-{n}' if n else ''}") not in taken
        )
        self._path.rename(self._path.with_name(aside))
        self._set_aside = (
            f"{self._path} could not be read and was set aside as {aside}: until the next start, "
            "agents that are not allowed more again may only suggest"
        )
