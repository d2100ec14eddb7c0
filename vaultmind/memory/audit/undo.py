"""What `undo` would do: pure planning from the audit and the facts as they stand.

A change is undone by its block id, and only where the fact still says what the audit wrote:
whatever changed since is a conflict, which is explained, and nothing happens. An undo is a
change like any other: audited with `undoes`, and to be undone in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit.lines import AuditLine, ref_of
from vaultmind.memory.match import same_fact
from vaultmind.types import PERSON, SECTIONS, Caller, Fact, MemoryWrite, MessageRef
from vaultmind.vault.oneline import one_line

UNDOABLE = ("remember", "replace", "forget")
MIN_ID_CHARS = 4
_ERASURES = ("erase",)


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back from one audit line, or why there is none."""

    line: AuditLine
    """What is undone."""
    conflict: str = ""
    """Why nothing can be done, in words; empty where `write` can."""
    write: MemoryWrite | None = None
    """The inverse. A fact is named by its block id (`^k3f9`)."""
    expected: str = ""
    """What the fact must still say when the write happens; empty where none is touched."""
    block: str = ""
    """For a forget undone: the block id the fact had; taken again if it is free."""
    lift: tuple[MessageRef, ...] = ()
    """Messages that the change hid, to be shown again."""
    hides: bool = True
    """False: what is taken out here was not forgotten, so that no message is hidden for it."""


def plan_undo(
    lines: Sequence[AuditLine],
    facts: Sequence[Fact],
    line_id: str = "",
    caller: Caller = PERSON,
) -> Undo:
    """Return how to undo a change of one agent's memory: the named one, else the last.

    `lines` are the agent's audit, oldest first; `facts` what brain and archive say now. Without
    an id, undoes and what they undid are passed over, so that one undo after another goes back
    in time. Raises NotFound, and BadArgument for an id that fits several lines.
    """
    line = _named(lines, line_id) if line_id else _last(lines)
    if reason := _impossible(lines, line):
        return Undo(line, reason)
    if line.op == "forget":
        return _unforget(line, _evidence(lines, line), facts, caller)
    return _take_back(line, _evidence(lines, line), facts, caller)


def undone(lines: Sequence[AuditLine]) -> dict[str, str]:
    """Return the ids of the lines that are undone, each with the id of the line that did it.

    A line whose undo was itself undone stands again.
    """
    done: dict[str, str] = {}
    for line in reversed([one for one in lines if one.undoes and one.outcome == "written"]):
        if line.id not in done:
            done[line.undoes] = line.id
    return done


def _named(lines: Sequence[AuditLine], line_id: str) -> AuditLine:
    wanted = line_id.strip().lower()
    found = [line for line in lines if len(wanted) >= MIN_ID_CHARS and line.id.startswith(wanted)]
    if not found:
        raise NotFound(f"The log has no change {line_id!r}.", hint="Its ids are the first column.")
    if len({line.id for line in found}) > 1:
        ids = ", ".join(sorted({line.id for line in found}))
        raise BadArgument("id", line_id, f"one of {ids}")
    return found[-1]


def _last(lines: Sequence[AuditLine]) -> AuditLine:
    done = undone(lines)
    for line in reversed(lines):
        changes = line.op in (*UNDOABLE, *_ERASURES) and line.outcome == "written"
        if changes and not line.undoes and line.id not in done:
            return line
    raise NotFound("The log has no change of a fact that could be undone.")


def _impossible(lines: Sequence[AuditLine], line: AuditLine) -> str:
    """Return why a line cannot be undone whatever the brain says; empty where it may be."""
    if line.op in _ERASURES:
        return "An erasure cannot be undone: nothing of what was erased is kept anywhere."
    if line.op not in UNDOABLE:
        return f"Only changes of facts can be undone; {line.id} is “{line.op}”."
    if line.outcome != "written":
        return f"There is nothing to undo: {line.id} came to “{line.outcome}”."
    if line.erased or not (line.before if line.op != "remember" else line.after):
        return f"The words of {line.id} were erased, so that it cannot be undone."
    by = undone(lines).get(line.id)
    return f"{line.id} is undone already, by {by}." if by else ""


def _take_back(
    line: AuditLine, evidence: MessageRef | None, facts: Sequence[Fact], caller: Caller
) -> Undo:
    """Return the way back from a fact that was written or replaced."""
    now = [fact for fact in facts if line.block and fact.block == line.block]
    if not now:
        gone = f"“{line.after}” (^{line.block}) is not in the memory any more"
        return Undo(line, f"{gone}: it was changed or removed since {line.time}.")
    if any(one_line(fact.text) != one_line(line.after) for fact in now):
        says = now[0].text
        since = f"^{line.block} was “{line.after}” after this change and is “{says}” now"
        return Undo(line, f"{since}; somebody changed it since.")
    write = MemoryWrite("forget", line.agent, caller, f"^{line.block}", reason=_why(line))
    if line.op == "remember":
        return Undo(line, write=write, expected=line.after, hides=False)
    if any(same_fact(fact.text, line.before) for fact in facts if fact not in now):
        return Undo(line, f"“{line.before}” is in the memory again already.")
    old = f"^{line.block}"
    back = replace(write, op="replace", text=line.before, old=old, evidence=evidence)
    return Undo(line, write=back, expected=line.after, hides=False)


def _unforget(
    line: AuditLine, evidence: MessageRef | None, facts: Sequence[Fact], caller: Caller
) -> Undo:
    """Return the way back from a fact that was forgotten: text, section, block id, messages."""
    again = next((fact for fact in facts if same_fact(fact.text, line.before)), None)
    if again:
        return Undo(line, f"“{again.text}” is in the memory again already.")
    taken = any(fact.block == line.block for fact in facts)
    section = next((one for one in SECTIONS if one == line.section), None)
    write = MemoryWrite(
        "remember",
        line.agent,
        caller,
        line.before,
        section=section,
        evidence=evidence,
        reason=_why(line),
    )
    lift = tuple(ref for text in line.hidden if (ref := ref_of(text)))
    return Undo(line, write=write, block="" if taken else line.block, lift=lift)


def _evidence(lines: Sequence[AuditLine], line: AuditLine) -> MessageRef | None:
    """Return what the words that come back were first written on."""
    wrote = [
        one
        for one in lines
        if one.block == line.block and one.after == line.before and one.outcome == "written"
    ]
    return ref_of(wrote[-1].evidence) if wrote and line.block else None


def _why(line: AuditLine) -> str:
    return f"undo of {line.id}"
