"""What agents may do to themselves and to each other, and who said so.

Levels: 0 read only, 1 suggest, 2 auto (default), 3 full, which so far permits what 2 does: memory
is reorganised by no agent. They bind agents, never the person. An agent's identity.md asks, in its
front matter:

    autonomy: 2
    permissions:
      write:                                  # who else may write this agent's memory
        jaskier: [brain, active_context]      # `brain`, a section of it, `active_context`
        iris: current
        dexter: all
      hidden_from: [stranger]                 # who may not even read it; `all` for everybody

Alone it can only take away. What is in force is the meet of what it asks and what is *known*:
the rights the person allowed with `vaultmind agents allow`, else the configuration's level with
nothing granted to anyone. Whatever is found lowered is known as lowered from then on, so that
raising it again needs the person too; a file that is missing or broken gives less for as long
as it is, and teaches nothing.

Known rights are kept on this device, outside the vault: `grants-<vault>.json` beside the vaults'
state folders, 0600, so that neither a synced folder nor an agent that edits notes can raise
anybody's rights. Without it the defaults hold; while it cannot be read nobody may more than
suggest.

Levels bind both sides: an agent writes to another as far as the lower of both levels permits.
Without permission, what it would write becomes a suggestion in the other's queue.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vaultmind.errors import BadArgument, NotAllowed, VaultMindError, WriteFailed
from vaultmind.language.secrets import sensitive
from vaultmind.memory.audit import FOUND
from vaultmind.tables import adapter, keep_private
from vaultmind.types import SECTIONS, Caller, MemoryWrite
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.paths import AGENT_NAME
from vaultmind.vault.properties import front_matter

Verdict = Literal["deny", "suggest", "allow"]
VERDICTS: tuple[Verdict, ...] = ("deny", "suggest", "allow")
"""From what permits least to what permits most."""
Operation = Literal["remember", "replace", "forget"]
READ_ONLY, SUGGEST, AUTO, FULL = LEVELS = (0, 1, 2, 3)
EVERYBODY = "*"
BRAIN = "brain"
SCOPES = (BRAIN, *SECTIONS, "active_context")
"""What a permission to write may name. `brain` holds every section, and lines outside of them."""
_NAMES = {"read only": 0, "suggest": 1, "auto": 2, "full": 3}
_ALL = ("all", EVERYBODY)
_NAME = re.compile(rf"{AGENT_NAME.pattern}|[{EVERYBODY}]")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a caller may do, and the reason in words."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Rights:
    """What an agent may do (`level`), and what others may do to its memory."""

    level: int = AUTO
    write: frozenset[tuple[str, str]] = frozenset()
    """(who, scope): other agents that may write here, by single scopes."""
    hidden_from: frozenset[str] = frozenset()
    """Agents that may not read here; `*` for all."""

    def meet(self, other: Rights) -> Rights:
        """Return what both permit."""
        level, hidden = min(self.level, other.level), self.hidden_from | other.hidden_from
        return Rights(level, self.write & other.write, hidden)


LEAST = Rights(READ_ONLY, hidden_from=frozenset({EVERYBODY}))
"""What an identity gives that is not understood."""


@dataclass(frozen=True, slots=True)
class Identity:
    """An agent as its identity.md describes it, and what that asks for."""

    rights: Rights
    language: str = ""
    """`en`, `pl`, `ru`, another code, or empty when it says nothing."""
    faults: tuple[str, ...] = ()
    teaches: bool = False
    """False for a file that is missing or broken: it lowers rights only while it is."""


def inferred(write: MemoryWrite) -> bool:
    """Tell whether nobody asked for a write: it was read out of a conversation, or reported."""
    return write.how in FOUND and write.caller.kind != "person"


def touches(write: MemoryWrite) -> str:
    """Return why an agent's write is sensitive, and waits for a cautious person; else empty."""
    asked = write.caller.kind == "person" or write.op == "forget"
    kinds = () if asked else sorted(sensitive(write.text))
    return f"it is about {', '.join(kinds)}, which needs the person's approval" if kinds else ""


# --- what an identity says ----------------------------------------------------------------


def parse_identity(agent: str, text: str, default_level: int = AUTO) -> Identity:
    """Return what an identity.md says; never raises. What is not understood is the least right."""
    found = front_matter(text)
    if found is None and not text.startswith("---"):
        return Identity(Rights(default_level), teaches=bool(text))
    if found is None or found.fault:
        fault = found.fault if found else "its front matter is not readable"
        return Identity(LEAST, faults=(fault,))
    language = re.match(r"[a-z]{2,3}(?![a-z])", _word(found.properties.get("language") or ""))
    code = language.group() if language else ""
    try:
        return Identity(_asked(agent, found.properties, default_level), code, teaches=True)
    except ValueError as error:
        return Identity(LEAST, code, faults=(str(error),))


def _asked(owner: str, properties: Mapping[str, Any], default_level: int) -> Rights:
    """Return the rights that properties ask for. Raises ValueError for what is not understood."""
    named = properties.get("autonomy")
    level = default_level if named is None else _NAMES.get(_word(named), _word(named))
    if str(level) not in map(str, LEVELS):
        raise ValueError(f"autonomy {str(named)[:40]!r} is not one of 0, 1, 2, 3")
    asked = properties.get("permissions") or {}
    if not isinstance(asked, dict) or set(asked) - {"write", "hidden_from"}:
        raise ValueError("permissions: only `write` and `hidden_from` are known")
    hidden = {EVERYBODY if one in _ALL else one for one in _words(asked.get("hidden_from"))}
    granted, found = asked.get("write") or {}, set[tuple[str, str]]()
    if not isinstance(granted, dict):
        raise ValueError("permissions: `write` must name an agent and what it may write")
    for who, scope in ((_word(who), one) for who, some in granted.items() for one in _words(some)):
        known = SCOPES if scope in _ALL else (BRAIN, *SECTIONS) if scope == BRAIN else (scope,)
        if not set(known) <= set(SCOPES):
            allowed = f"one of all, {', '.join(SCOPES)}"
            raise ValueError(f"permissions: write: {who}: {scope!r} is not {allowed}")
        found |= {(who, each) for each in known if who != owner}
    if odd := [one for one in hidden | {who for who, _ in found} if not _NAME.fullmatch(one)]:
        raise ValueError(f"permissions: {odd[0]!r} is not an agent")
    return Rights(int(level), frozenset(found), frozenset(hidden))


def _words(value: object) -> list[str]:
    listed = value if isinstance(value, list | tuple) else [value]
    return [] if value in (None, False) else [_word(one) for one in listed]


def _word(value: object) -> str:
    return str(value).strip().lower()


# --- what is in force ---------------------------------------------------------------------


def scopes_of(rights: Rights, who: str) -> tuple[str, ...]:
    """Return what another agent may write, in few words: `brain` stands for its sections too."""
    scopes = [scope for scope in SCOPES if (who, scope) in rights.write]
    return tuple(one for one in scopes if BRAIN not in scopes or one not in SECTIONS)


def mark_of(rights: Rights) -> str:
    """Return a short mark of what is asked for: what was shown is what is allowed."""
    return hashlib.sha256(json.dumps(_to_json(rights)).encode()).hexdigest()[:16]


def _to_json(rights: Rights) -> dict[str, Any]:
    write, hidden = sorted(map(list, rights.write)), sorted(rights.hidden_from)
    return {"level": rights.level, "write": write, "hidden_from": hidden}


def _from_json(value: dict[str, Any]) -> Rights:
    """Return rights as they were kept. Raises KeyError or ValueError for no such."""
    kept = {name: value[name] for name in ("level", "write", "hidden_from")}
    found: Rights = adapter(Rights).validate_python(kept)
    return found


def grants_file(state_dir: Path) -> Path:
    """Return the file of a vault's known rights, beside its state folder: that may be deleted."""
    return state_dir.parent / f"grants-{state_dir.name}.json"


class Authority:
    """The rights in force in one vault: identities in the vault, met with what is allowed.

    An identity is read again when its file changes, so that a lowered right holds at once. Any
    thread.
    """

    def __init__(self, reader: VaultReader, grants: Path, default_level: int = AUTO) -> None:
        self._reader, self._paths = reader, reader.paths
        self._file, self._default = grants, default_level
        self._identities: dict[str, tuple[FileStat, Identity]] = {}
        self._lock = threading.RLock()

    def identity(self, agent: str) -> Identity:
        """Return an agent's identity as its file stands. One that cannot be read gives least."""
        path, known = self._paths.identity(agent), self._identities.get(agent)
        try:
            stamp = self._reader.stat(path)
            if stamp is None:
                return Identity(Rights(self._default))
            if known is None or known[0] != stamp:
                found = parse_identity(agent, self._reader.read(path).text, self._default)
                known = self._identities[agent] = stamp, found
        except VaultMindError as error:
            return Identity(LEAST, faults=(str(error),))
        return known[1]

    def rights(self, agent: str) -> Rights:
        """Return the rights that hold for an agent now; what its identity lowered is kept.

        Raises WriteFailed when that cannot be written down: an agent must not win by it.
        """
        asked = self.identity(agent)
        with self._lock:
            known = self.known(agent)
            now = known.meet(asked.rights)
            if asked.teaches and now != known:
                self._save(agent, now)
            return now

    def known(self, agent: str) -> Rights:
        """Return what an agent was allowed, or was found lowered to; else the default.

        What a file that cannot be read does not give may have been a lowering.
        """
        kept, fault = self._kept()
        return kept.get(agent, Rights(min(self._default, SUGGEST if fault else FULL)))

    @property
    def fault(self) -> str:
        """Return why the file of what the person allowed cannot be read; empty for a sound one."""
        return self._kept()[1]

    def _kept(self) -> tuple[dict[str, Rights], str]:
        """Return what is kept of each agent, and why nothing is where the file cannot be read."""
        try:
            kept = json.loads(self._file.read_bytes())["agents"].items()
            return {name: _from_json(one) for name, one in kept}, ""
        except FileNotFoundError:
            return {}, ""
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            said = f"{self._file} cannot be read ({error}): no raised rights are in force"
            return {}, f"{said}, and agents may only suggest"

    def waiting(self, agent: str) -> tuple[str, ...]:
        """Return what an agent's identity asks for beyond what is allowed, in words."""
        self.rights(agent)  # what it lowered is known before this is told
        known, asked = self.known(agent), self.identity(agent).rights
        found = []
        if asked.level > known.level:
            found.append(f"autonomy {asked.level} (in force: {known.level})")
        new = Rights(write=asked.write - known.write)
        for who in sorted({who for who, _ in new.write}):
            found.append(f"{who} writing to {' and '.join(scopes_of(new, who))}")
        shown = sorted(known.hidden_from - asked.hidden_from)
        found += [f"{'everybody' if who == EVERYBODY else who} reading it again" for who in shown]
        return tuple(found)

    def allow(self, agent: str, seen: str, caller: Caller) -> Rights:
        """Let an agent have what its identity asks for, which the person has just seen.

        `seen` is the `mark_of` that. Raises NotAllowed for all but the person, BadArgument for a
        broken identity, and where it asks for something else by now.
        """
        asked = self.identity(agent)
        if seen != mark_of(asked.rights):
            name = self._paths.identity(agent)
            error = BadArgument("seen", seen, f"the mark of what {name} asks for now")
            error.hint = "It has changed since it was shown. Nothing was allowed: look again."
            raise error
        only_person(caller, "allow anything")
        if asked.faults:
            raise BadArgument("identity", "; ".join(asked.faults), "valid front matter")
        self._save(agent, asked.rights)
        return asked.rights

    def begin(self, agent: str, caller: Caller) -> None:
        """Drop what is known of an agent, for a new one of that name: the default holds.

        Raises NotAllowed for every caller but the person.
        """
        only_person(caller, "allow anything")
        if agent in self._kept()[0] or self.fault:
            self._save(agent, None)

    def decide(self, caller: Caller, target: str, op: Operation, scope: str) -> Decision:
        """Return whether a caller may change a target's memory.

        `scope`: the section the fact is in or goes to, `brain` for a line outside all sections or
        where the section is not known, `active_context`.
        """
        if caller.kind == "person":
            return Decision("allow", "the person's own command")
        theirs, own = self.rights(target), self.rights(caller.agent)
        if not self.lets_read(caller, target):
            return Decision("deny", f"{target} hides its memory from {caller.agent}")
        level, agent = min((theirs.level, target), (own.level, caller.agent), key=lambda it: it[0])
        if level <= READ_ONLY:
            faults = self.identity(agent).faults  # half-typed: less until they are mended
            why = f"its identity.md is broken: {faults[0]}" if faults else "autonomy 0"
            return Decision("deny", f"{agent} may only read its memory ({why})")
        if caller.agent != target and (caller.agent, scope) not in theirs.write:
            where = f"{target}'s {scope}"
            return Decision(
                "suggest", f"{caller.agent} may read {where}, and suggest to {op} there"
            )
        if level == SUGGEST:
            return Decision("suggest", f"{agent} may only suggest changes (autonomy 1)")
        by = "" if caller.agent == target else f", {target} lets {caller.agent} write there"
        return Decision("allow", f"autonomy {level}{by}")

    def lets_read(self, caller: Caller, owner: str) -> bool:
        """Tell whether a caller may read an agent's memory. A doubt means no."""
        if caller.kind == "person" or caller.agent == owner:
            return True
        try:
            return not self.rights(owner).hidden_from & {caller.agent, EVERYBODY}
        except VaultMindError:
            return False

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        return self.rights(agent).level > READ_ONLY

    def notice(self) -> None:
        """Take in what identities say now: what was lowered stays so, whoever raises it again."""
        for agent in self._paths.agent_names():
            self.rights(agent)

    def _save(self, agent: str, rights: Rights | None) -> None:
        """Keep the rights of an agent, or none. Raises WriteFailed."""
        with self._lock:
            known = {**self._kept()[0], agent: rights}
            kept = {name: _to_json(one) for name, one in sorted(known.items()) if one}
            try:
                keep_private(self._file, {"version": 2, "agents": kept})
            except OSError as error:
                raise WriteFailed(f"{self._file} could not be written: {error}.") from error


def only_person(caller: Caller, what: str) -> None:
    """Raise NotAllowed for every caller but the person."""
    if caller.kind != "person":
        raise NotAllowed(f"{caller.name} may not {what}: only the person may. Nothing was changed.")
