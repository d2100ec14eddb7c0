"""What agents may do to themselves and to each other, and who said so.

An agent's identity.md asks, in its front matter:

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
from collections.abc import Mapping
from dataclasses import dataclass, field

from vaultmind.memory.rights.identity import Identity
from vaultmind.memory.rights.policy import AUTO, FULL, READ_ONLY, SUGGEST, Decision, Operation
from vaultmind.types import SECTIONS, Caller, Section
from vaultmind.vault.paths import AGENT_NAME

EVERYBODY = "*"
BRAIN = "brain"
ACTIVE_CONTEXT = "active_context"
SCOPES = (BRAIN, *SECTIONS, ACTIVE_CONTEXT)
"""What a permission to write may name. `brain` holds every section, and lines outside of them."""

_MARK_LENGTH = 16

_ALL_NAMES = {
    "all",
    "*",
    "everything",
    "everyone",
    "everybody",
    "wszystko",
    "wszyscy",
    "все",
    "всё",
}


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
        return Rights(
            min(self.level, other.level),
            self.write & other.write,
            self.hidden_from | other.hidden_from,
        )

    def permits(self, other: Rights) -> bool:
        """Tell whether these rights permit everything that others do."""
        return self.meet(other) == other

    def lets_read(self, agent: str, owner: str) -> bool:
        """Tell whether an agent may read the memory of the owner of these rights."""
        return agent == owner or not self.hidden_from & {agent, EVERYBODY}

    def lets_write(self, agent: str, scope: str) -> bool:
        """Tell whether another agent was given a scope; `brain` for lines without a section."""
        return (agent, scope) in self.write


@dataclass(frozen=True, slots=True)
class Claim:
    """What an identity.md asks for."""

    rights: Rights
    teaches: bool = True
    """False for a file that is missing or broken: it lowers rights only while it is."""
    faults: tuple[str, ...] = field(default=())


def claim_of(identity: Identity, default_level: int = AUTO) -> Claim:
    """Return what an identity asks for. What cannot be understood counts as the least right."""
    level = default_level if identity.autonomy is None else identity.autonomy
    asked = identity.permissions
    faults = [*identity.faults]
    faults += [f"permissions: {key!r} is not known" for key in asked if key not in _KEYS]
    write = _write(identity.agent, asked.get("write"), faults)
    hidden = _hidden(asked.get("hidden_from"), faults)
    is_missing = not identity.text and identity.autonomy is None and not asked
    teaches = not identity.faults and not is_missing
    return Claim(Rights(level, write, hidden), teaches, tuple(faults))


def in_force(known: Rights, claim: Claim) -> Rights:
    """Return the rights that hold: what the identity asks for, as far as the person allowed it."""
    return known.meet(claim.rights)


def learned(known: Rights, claim: Claim) -> Rights:
    """Return what is known after an identity was seen: what it lowered stays lowered."""
    return in_force(known, claim) if claim.teaches else known


def waiting_for_person(known: Rights, claim: Claim) -> tuple[str, ...]:
    """Return what an identity asks for beyond what is allowed, in words, for the person."""
    asked, found = claim.rights, []
    if asked.level > known.level:
        found.append(f"autonomy {asked.level} (in force: {known.level})")
    new = asked.write - known.write
    for who in sorted({who for who, _ in new}):
        scopes = scopes_of(Rights(write=new), who)
        found.append(f"{who} writing to {' and '.join(scopes)}")
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
    return hashlib.sha256(asked.encode()).hexdigest()[:_MARK_LENGTH]


def judge(
    caller: Caller,
    target: str,
    op: Operation,
    scope: Section | str,
    rights: Mapping[str, Rights],
) -> Decision:
    """Return whether a caller may change a target's memory.

    `rights` are those in force, of the caller and of the target; who is not in it may do
    nothing. `scope`: the section the fact is in or goes to, `brain` for a line outside all
    sections or where the section is not known, `active_context`.
    """
    if caller.kind == "person":
        return Decision("allow", "the person's own command")
    theirs = rights.get(target, _NONE)
    own = rights.get(caller.agent, _NONE)
    if not theirs.lets_read(caller.agent, target):
        return Decision("deny", f"{target} keeps its memory from {caller.agent}")
    for agent, level in ((target, theirs.level), (caller.agent, own.level)):
        if level <= READ_ONLY:
            return Decision("deny", f"{agent} may only read its memory (autonomy 0)")
    if caller.agent != target and not theirs.lets_write(caller.agent, scope):
        where = f"{target}'s {scope}"
        return Decision("suggest", f"{caller.agent} may read {where}, and suggest to {op} there")
    for agent, level in ((target, theirs.level), (caller.agent, own.level)):
        if level == SUGGEST:
            return Decision("suggest", f"{agent} may only suggest changes (autonomy 1)")
    by = "" if caller.agent == target else f", {target} lets {caller.agent} write there"
    return Decision("allow", f"autonomy {min(own.level, theirs.level, FULL)}{by}")


_NONE = Rights(READ_ONLY, hidden_from=frozenset({EVERYBODY}))
_KEYS = ("write", "hidden_from")


def to_json(rights: Rights) -> dict[str, object]:
    """Return rights as they are kept."""
    write: dict[str, list[str]] = {}
    for who, scope in sorted(rights.write):
        write.setdefault(who, []).append(scope)
    return {"level": rights.level, "write": write, "hidden_from": sorted(rights.hidden_from)}


def from_json(value: object) -> Rights | None:
    """Return rights as they were kept; None for what is no such thing."""
    if not isinstance(value, dict) or type(level := value.get("level")) is not int:
        return None
    write, hidden = value.get("write"), value.get("hidden_from")
    if not isinstance(write, dict) or not isinstance(hidden, list):
        return None
    pairs = {
        (str(who), str(scope))
        for who, scopes in write.items()
        for scope in (scopes if isinstance(scopes, list) else [])
    }
    return Rights(min(max(level, READ_ONLY), FULL), frozenset(pairs), frozenset(map(str, hidden)))


def _write(owner: str, value: object, faults: list[str]) -> frozenset[tuple[str, str]]:
    if value is None:
        return frozenset()
    if not isinstance(value, dict):
        faults.append("permissions: 'write' must name an agent and what it may write")
        return frozenset()
    found: set[tuple[str, str]] = set()
    for who, scopes in value.items():
        name = str(who).strip().lower()
        if not AGENT_NAME.fullmatch(name):
            faults.append(f"permissions: write: {name!r} is no agent's name")
        elif name != owner:
            found |= {(name, scope) for scope in _scopes(name, scopes, faults)}
    return frozenset(found)


def _scopes(who: str, value: object, faults: list[str]) -> set[str]:
    found: set[str] = set()
    for one in value if isinstance(value, list | tuple) else [value]:
        name = str(one).strip().lower().replace(" ", "_").replace("-", "_")
        if name in _ALL_NAMES:
            found |= {*SCOPES}
        elif name == BRAIN:
            found |= {BRAIN, *SECTIONS}
        elif name in SCOPES:
            found.add(name)
        elif one is not None:
            faults.append(f"permissions: write: {who}: {name!r} is not one of all, {_LIST}")
    return found


def _hidden(value: object, faults: list[str]) -> frozenset[str]:
    if value is None or value is False:
        return frozenset()
    found: set[str] = set()
    for one in value if isinstance(value, list | tuple) else [value]:
        name = str(one).strip().lower()
        known = bool(AGENT_NAME.fullmatch(name)) and isinstance(one, str)
        if not known or name in _ALL_NAMES:
            found.add(EVERYBODY)
        else:
            found.add(name)
        if not known and name not in _ALL_NAMES:
            faults.append(f"permissions: hidden_from: {name!r} is no agent: hidden from everybody")
    return frozenset(found)


_LIST = ", ".join(SCOPES)
