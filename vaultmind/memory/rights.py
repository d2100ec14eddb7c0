"""What agents may do to themselves and to each other, and who said so.

Levels: 0 read only, 1 suggest, 2 auto (default), 3 full. They bind agents, never the person. An
agent's identity.md asks, in its front matter:

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
state folders, 0600, named by the vault's real path. Without it the defaults hold.

Levels bind both sides: an agent writes to another as far as the lower of both levels permits.
Without permission, what it would write becomes a suggestion in the other's queue.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vaultmind.errors import BadArgument, NotFound, VaultMindError, WriteFailed
from vaultmind.memory.sensitive import sensitive
from vaultmind.types import SECTIONS, Caller, MemoryWrite
from vaultmind.vault.files import FileStat, VaultReader, stat_of
from vaultmind.vault.paths import AGENT_NAME, VaultPaths
from vaultmind.vault.properties import front_matter

Verdict = Literal["deny", "suggest", "allow"]
VERDICTS: tuple[Verdict, ...] = ("deny", "suggest", "allow")
"""From what permits least to what permits most."""
Operation = Literal["remember", "replace", "forget"]
READ_ONLY, SUGGEST, AUTO, FULL = 0, 1, 2, 3
LEVELS = (READ_ONLY, SUGGEST, AUTO, FULL)
EVERYBODY = "*"
BRAIN = "brain"
SCOPES = (BRAIN, *SECTIONS, "active_context")
"""What a permission to write may name. `brain` holds every section, and lines outside of them."""

_LEVEL_NAMES = {"read only": 0, "read-only": 0, "readonly": 0, "suggest": 1, "auto": 2, "full": 3}
_LEVEL_LINE = re.compile(r"(?mi)^[ \t]*[\"']?autonomy[\"']?[ \t]*:[ \t]*(.*?)[ \t]*(?:#.*)?\r?$")
_LANGUAGE_NAMES = {
    "english": "en",
    "polish": "pl",
    "polski": "pl",
    "russian": "ru",
    "русский": "ru",
}
_ALL_NAMES = frozenset(
    ["all", "*", "everything", "everyone", "everybody", "wszystko", "wszyscy", "все", "всё"]
)
_SHOWN_CHARS = 40
"""Of a level that is none, in what is said of it."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a caller may do, and the reason in words."""

    verdict: Verdict
    reason: str


def inferred(write: MemoryWrite) -> bool:
    """Tell whether nobody asked for a write: it was read out of a conversation, or reported."""
    return write.how in ("extracted", "reported") and write.caller.kind != "person"


def cautious(write: MemoryWrite, decision: Decision, *, enabled: bool) -> Decision:
    """Return a decision one level more careful where an agent would keep something sensitive."""
    if not enabled or decision.verdict != "allow" or write.caller.kind == "person":
        return decision
    if write.op == "forget" or not (kinds := sensitive(write.text)):
        return decision
    return Decision("suggest", f"it touches {', '.join(sorted(kinds))}, which waits for the person")


# --- what an identity says ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """An agent as its identity.md describes it."""

    agent: str
    autonomy: int | None = None
    """As the file says; None when it says nothing."""
    language: str = ""
    """`en`, `pl`, `ru`, another code, or empty when it says nothing."""
    permissions: dict[str, object] = field(default_factory=dict)
    text: str = ""
    """The persona: the file without its front matter."""
    faults: tuple[str, ...] = ()


def read_identity(reader: VaultReader, paths: VaultPaths, agent: str) -> Identity:
    """Return an agent's identity; an empty one where there is no file. Never raises.

    A file that cannot be read leaves the agent with the least right, 0.
    """
    try:
        return parse_identity(agent, reader.read(paths.identity(agent)).text)
    except NotFound:
        return Identity(agent)
    except VaultMindError as error:
        return Identity(agent, READ_ONLY, faults=(str(error),))


def parse_identity(agent: str, text: str) -> Identity:
    """Return what an identity.md says; never raises. A level that is named counts though the
    front matter is broken.
    """
    if not text.startswith("---"):
        return Identity(agent, text=text)
    found = front_matter(text)
    if found is None or found.fault:
        fault = found.fault if found else "its front matter is not readable"
        named = _LEVEL_LINE.search(text.split("\n---", 1)[0])
        level = _level(named.group(1))[0] if named else READ_ONLY
        return Identity(
            agent, level, text=text[found.body_start if found else 0 :], faults=(fault,)
        )
    autonomy, fault = _level(found.properties.get("autonomy"))
    name = str(found.properties.get("language") or "").strip().lower()
    code = _LANGUAGE_NAMES.get(name, name.replace("_", "-").split("-")[0])
    permissions = found.properties.get("permissions")
    return Identity(
        agent,
        autonomy,
        code if re.fullmatch(r"[a-z]{2,3}", code) else "",
        dict(permissions) if isinstance(permissions, dict) else {},
        text[found.body_start :],
        (fault,) if fault else (),
    )


def _level(value: object) -> tuple[int | None, str]:
    if value is None:
        return None, ""
    name = str(value).strip().strip("\"'").lower()
    number = int(name) if re.fullmatch("[0-3]", name) else _LEVEL_NAMES.get(name)
    if number is not None:
        return number, ""
    shown = name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}…"
    return READ_ONLY, f"autonomy {shown!r} is not one of 0, 1, 2, 3: taken as 0, read only"


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

    def permits(self, other: Rights) -> bool:
        """Tell whether these rights permit everything that others do."""
        return self.meet(other) == other

    def lets_read(self, agent: str, owner: str) -> bool:
        """Tell whether an agent may read the memory of the owner of these rights."""
        return agent == owner or not self.hidden_from & {agent, EVERYBODY}


@dataclass(frozen=True, slots=True)
class Claim:
    """What an identity.md asks for."""

    rights: Rights
    teaches: bool = True
    """False for a file that is missing or broken: it lowers rights only while it is."""
    faults: tuple[str, ...] = ()


def claim_of(identity: Identity, default_level: int = AUTO) -> Claim:
    """Return what an identity asks for. What cannot be understood counts as the least right."""
    level = default_level if identity.autonomy is None else identity.autonomy
    asked = identity.permissions
    faults = [*identity.faults]
    faults += [
        f"permissions: {key!r} is not known" for key in asked if key not in ("write", "hidden_from")
    ]
    rights = Rights(
        level,
        _write(identity.agent, asked.get("write"), faults),
        _hidden(asked.get("hidden_from"), faults),
    )
    is_missing = not identity.text and identity.autonomy is None and not asked
    return Claim(rights, not (identity.faults or is_missing), tuple(faults))


def _write(owner: str, value: object, faults: list[str]) -> frozenset[tuple[str, str]]:
    if value is not None and not isinstance(value, dict):
        faults.append("permissions: 'write' must name an agent and what it may write")
    found: set[tuple[str, str]] = set()
    for who, scopes in value.items() if isinstance(value, dict) else ():
        name = _word(who)
        if not AGENT_NAME.fullmatch(name):
            faults.append(f"permissions: write: {name!r} is no agent's name")
            continue
        for one in _listed(scopes) if name != owner else ():
            scope = _word(one).replace(" ", "_").replace("-", "_")
            known = SCOPES if scope in _ALL_NAMES else (BRAIN, *SECTIONS) if scope == BRAIN else ()
            known = known or ((scope,) if scope in SCOPES else ())
            found |= {(name, each) for each in known}
            if not known and one is not None:
                said = f"permissions: write: {name}: {scope!r} is not one of all"
                faults.append(f"{said}, {', '.join(SCOPES)}")
    return frozenset(found)


def _hidden(value: object, faults: list[str]) -> frozenset[str]:
    """Return whom a memory is kept from; what is no name keeps it from everybody."""
    found: set[str] = set()
    for one in () if value is None or value is False else _listed(value):
        name = _word(one)
        is_name = isinstance(one, str) and AGENT_NAME.fullmatch(name) and name not in _ALL_NAMES
        found.add(name if is_name else EVERYBODY)
        if not is_name and name not in _ALL_NAMES:
            faults.append(f"permissions: hidden_from: {name!r} is no agent: hidden from everybody")
    return frozenset(found)


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _word(value: object) -> str:
    return str(value).strip().lower()


# --- what is in force ---------------------------------------------------------------------


def learned(known: Rights, claim: Claim) -> Rights:
    """Return what is known after an identity was seen: what it lowered stays lowered."""
    return known.meet(claim.rights) if claim.teaches else known


def waiting_for_person(known: Rights, claim: Claim) -> tuple[str, ...]:
    """Return what an identity asks for beyond what is allowed, in words, for the person."""
    asked, found = claim.rights, []
    if asked.level > known.level:
        found.append(f"autonomy {asked.level} (in force: {known.level})")
    new = Rights(write=asked.write - known.write)
    for who in sorted({who for who, _ in new.write}):
        found.append(f"{who} writing to {' and '.join(scopes_of(new, who))}")
    shown = sorted(known.hidden_from - asked.hidden_from)
    found += [f"{'everybody' if who == EVERYBODY else who} reading it again" for who in shown]
    return tuple(found)


def scopes_of(rights: Rights, who: str) -> tuple[str, ...]:
    """Return what another agent may write, in few words: `brain` stands for its sections too."""
    scopes = [scope for scope in SCOPES if (who, scope) in rights.write]
    return tuple(one for one in scopes if BRAIN not in scopes or one not in SECTIONS)


def mark_of(claim: Claim) -> str:
    """Return a short mark of what a claim asks for: what was shown is what is allowed."""
    asked = json.dumps(to_json(claim.rights), sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def judge(
    caller: Caller, target: str, op: Operation, scope: str, rights: Mapping[str, Rights]
) -> Decision:
    """Return whether a caller may change a target's memory.

    `rights` are those in force, of the caller and of the target; who is not in it may do
    nothing. `scope`: the section the fact is in or goes to, `brain` for a line outside all
    sections or where the section is not known, `active_context`.
    """
    if caller.kind == "person":
        return Decision("allow", "the person's own command")
    nothing = Rights(READ_ONLY, hidden_from=frozenset({EVERYBODY}))
    theirs, own = rights.get(target, nothing), rights.get(caller.agent, nothing)
    if not theirs.lets_read(caller.agent, target):
        return Decision("deny", f"{target} keeps its memory from {caller.agent}")
    level, agent = min((theirs.level, target), (own.level, caller.agent), key=lambda one: one[0])
    if level <= READ_ONLY:
        return Decision("deny", f"{agent} may only read its memory (autonomy 0)")
    if caller.agent != target and (caller.agent, scope) not in theirs.write:
        where = f"{target}'s {scope}"
        return Decision("suggest", f"{caller.agent} may read {where}, and suggest to {op} there")
    if level == SUGGEST:
        return Decision("suggest", f"{agent} may only suggest changes (autonomy 1)")
    by = "" if caller.agent == target else f", {target} lets {caller.agent} write there"
    return Decision("allow", f"autonomy {min(level, FULL)}{by}")


def to_json(rights: Rights) -> dict[str, object]:
    """Return rights as they are kept."""
    write: dict[str, list[str]] = {}
    for who, scope in sorted(rights.write):
        write.setdefault(who, []).append(scope)
    return {"level": rights.level, "write": write, "hidden_from": sorted(rights.hidden_from)}


def from_json(value: object) -> Rights | None:
    """Return rights as they were kept; None for what is no such thing."""
    try:
        level, hidden = value["level"], frozenset(map(str, value["hidden_from"]))  # type: ignore[index]
        write = value["write"].items()  # type: ignore[index]
        pairs = frozenset((str(who), str(scope)) for who, scopes in write for scope in scopes)
    except (KeyError, TypeError, AttributeError):
        return None
    return Rights(level, pairs, hidden) if type(level) is int and level in LEVELS else None


def grants_file(state_dir: Path) -> Path:
    """Return the file of a vault's known rights, beside its state folder: that may be deleted."""
    return state_dir.parent / f"grants-{state_dir.name}.json"


class Grants:
    """What the person allowed agents of one vault, on this device. One process; any thread.

    The file stands outside the vault, so that neither a synced folder nor an agent that edits
    notes can raise anybody's rights. While it cannot be read nobody may more than suggest.
    """

    def __init__(self, path: Path, vault: Path, default_level: int = AUTO) -> None:
        self._path = path
        self._vault = os.fspath(vault.resolve())
        self._default = default_level
        self._lock = threading.Lock()
        self._stamp: FileStat | None = None
        self._agents: dict[str, Rights] = {}
        self._fault = ""

    @property
    def fault(self) -> str:
        """Return why the file could not be read, in words; empty for a sound or missing one."""
        with self._lock:
            self._load()
            return self._fault

    def known(self, agent: str) -> Rights:
        """Return what an agent was allowed, or was found lowered to; else the default."""
        with self._lock:
            return self._of(agent)

    def in_force(self, agent: str, claim: Claim) -> Rights:
        """Return the rights that hold for an agent now; what its identity lowered is kept.

        Raises WriteFailed when that cannot be written down: an agent must not win by it.
        """
        with self._lock:
            known = self._of(agent)
            after = learned(known, claim)
            if after != known:
                self._save({**self._agents, agent: after})
            return known.meet(claim.rights)

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
        self._load()
        most = SUGGEST if self._fault else FULL
        return self._agents.get(agent, Rights(min(self._default, most)))

    def _load(self) -> None:
        try:
            stamp = stat_of(self._path.stat())
            if stamp == self._stamp:
                return
            self._agents, self._fault = self._read(json.loads(self._path.read_bytes()))
            self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._agents, self._fault = None, {}, ""
        except (OSError, ValueError, RecursionError) as error:
            said = f"{self._path} cannot be read ({error}): no raised right is in force"
            self._stamp, self._agents, self._fault = (
                None,
                {},
                f"{said}, and agents may only suggest",
            )

    def _read(self, value: object) -> tuple[dict[str, Rights], str]:
        if not isinstance(value, dict) or not isinstance(agents := value.get("agents"), dict):
            raise ValueError("it holds no agents")
        if value.get("vault") != self._vault:
            return {}, f"{self._path} is of another vault: {value.get('vault')}"
        known = {}
        for name, raw in agents.items():
            as_configured = isinstance(raw, dict) and raw.get("level", 0) is None
            if one := from_json({**raw, "level": self._default} if as_configured else raw):
                known[name] = one
        unread = ", ".join(name for name in agents if name not in known)
        return known, unread and f"{self._path} does not say what {unread} may do"

    def _save(self, agents: dict[str, Rights]) -> None:
        kept = {name: to_json(one) for name, one in sorted(agents.items())}
        for name, one in agents.items():
            if one.level == self._default:  # it follows the configuration
                kept[name]["level"] = None
        value = {"version": 1, "vault": self._vault, "agents": kept}
        raw = json.dumps(value, ensure_ascii=False, indent=1).encode(errors="surrogateescape")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".grants-")
            with os.fdopen(descriptor, "wb") as file:  # mkstemp makes it 0600
                file.write(raw + b"\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        except OSError as error:
            raise WriteFailed(f"{self._path} could not be written: {error}.") from error
        self._agents, self._stamp, self._fault = agents, stat_of(self._path.stat()), ""


class Authority:
    """The rights in force in one vault: identities in the vault, met with what is allowed.

    An identity is read again when its file changes, so that a lowered right holds at once. Any
    thread.
    """

    def __init__(self, reader: VaultReader, grants: Grants, default_level: int = AUTO) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._grants = grants
        self._default_level = default_level
        self._read: dict[str, tuple[FileStat | None, Identity]] = {}

    def identity(self, agent: str) -> Identity:
        """Return an agent's identity as its file stands; an empty one where there is none."""
        try:
            stamp = self._reader.stat(self._paths.identity(agent))
        except VaultMindError:
            stamp = None
        known = self._read.get(agent)
        if known is None or stamp is None or known[0] != stamp:
            known = self._read[agent] = stamp, read_identity(self._reader, self._paths, agent)
        return known[1]

    def claim(self, agent: str) -> Claim:
        """Return what an agent's identity asks for."""
        return claim_of(self.identity(agent), self._default_level)

    def rights(self, agent: str) -> Rights:
        """Return the rights in force. Raises WriteFailed when a lowered one cannot be kept."""
        return self._grants.in_force(agent, self.claim(agent))

    @property
    def fault(self) -> str:
        """Return why the file of what the person allowed cannot be read; empty for a sound one."""
        return self._grants.fault

    def waiting(self, agent: str) -> tuple[str, ...]:
        """Return what an agent's identity asks for beyond what is in force, in words."""
        self.rights(agent)  # what it lowered is known before this is told
        return waiting_for_person(self._grants.known(agent), self.claim(agent))

    def allow(self, agent: str, seen: str, caller: Caller) -> Rights:
        """Let an agent have what its identity asks for, which the person has just seen.

        `seen` is the `mark_of` that claim. Raises BadArgument for every caller but the person,
        for a broken identity, and where it asks for something else by now.
        """
        claim = self.claim(agent)
        if seen != mark_of(claim):
            name = self._paths.identity(agent)
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
        """Return whether a caller may change a target's memory in a scope, as `judge` does."""
        names = {caller.agent, target} if caller.kind == "agent" else ()
        return judge(caller, target, op, scope, {agent: self.rights(agent) for agent in names})

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

    def notice(self) -> None:
        """Take in what identities say now: what was lowered stays so, whoever raises it again.

        Raises the first fault, after all were looked at.
        """
        faults = []
        for agent in self._paths.agent_names():
            try:
                self.rights(agent)
            except VaultMindError as error:
                faults.append(error)
        if faults:
            raise faults[0]
