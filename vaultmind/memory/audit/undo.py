"""What `undo` would do: pure planning from the audit and the facts as they stand.

A change is undone by its block id, and only where the fact still says what the audit wrote:
whatever changed since is a conflict, which is explained, and nothing happens. An undo is a
change like any other: audited with `undoes`, and to be undone in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vaultmind.errors import BadArgument, NotFound
from vaultmind.memory.audit.lines import AuditLine, hidden_ref, ref_of
from vaultmind.memory.audit.reading import MIN_ID_CHARS
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.match import same_fact
from vaultmind.redact import MARK
from vaultmind.types import SECTIONS, Fact
from vaultmind.vault.oneline import one_line

Way = Literal["", "take_out", "put_back", "bring_back", "restore", "archive", "show", "hide"]
"""The inverse of a change; empty where there is none.

take_out: remove the fact, which was not forgotten. put_back: the old words in its place.
bring_back: add what was forgotten. restore, archive: move between archive and brain. show, hide:
messages alone.
"""

CHANGES = ("remember", "replace", "forget", "hide", "show", "archive", "restore", "erase")
"""The operations that an undo must know of; records are none of its business."""
UNDOABLE = tuple(op for op in CHANGES if op != "erase")
LAST = ("remember", "replace", "forget", "erase")
"""What somebody asked for: of these the last one is meant where none is named."""
JOINT = "; "
"""Stands between facts that one change took away."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The way back from one audit line, or why there is none."""

    line: AuditLine
    """What is undone."""
    conflict: str = ""
    """Why nothing can be done, in words."""
    way: Way = ""
    facts: tuple[Fact, ...] = ()
    """What comes back, the first one in the place of what stands there. A fact without a block
    id needs a fresh one."""
    lift: tuple[Ref, ...] = ()
    """Messages that the change hid, to be shown again."""
    hide: tuple[Ref, ...] = ()
    """Messages that it showed again, to be hidden."""
    ended: tuple[Fact, ...] = ()
    """What comes back, as the archive holds it."""


def plan_undo(lines: Sequence[AuditLine], facts: Sequence[Fact], line_id: str = "") -> Undo:
    """Return how to undo a change of one agent's memory: the named one, else the last.

    `lines` are the agent's audit, oldest first; `facts` what brain and archive say now. Without
    an id, undoes and what they undid are passed over, so that one undo after another goes back
    in time. Raises NotFound, and BadArgument for an id that fits several lines.
    """
    line = _named(lines, line_id) if line_id else _last(lines)
    if reason := _impossible(lines, line):
        return Undo(line, reason)
    before = lines[: lines.index(line)]
    if line.op == "forget" and line.before:
        return _bring_back(line, before, facts)
    if line.op in ("forget", "hide"):
        return Undo(line, way="show", lift=_refs(line))
    if line.op == "show":
        return Undo(line, way="hide", hide=_hidden_by_undone(line, before))
    return _take_back(line, before, facts)


def moved_with(lines: Sequence[AuditLine], line: AuditLine) -> tuple[AuditLine, ...]:
    """Return the moves to the archive that a change made to have room, and that stand.

    They are the lines right after its own, in the same hands; whoever did it once more, by undoing
    its undo, moved them for it too.
    """
    acts, done = {line.id}, undone(lines)
    moves: list[AuditLine] = []
    act: AuditLine | None = None
    for one in lines:
        if one.undoes in acts:
            acts.add(one.id)
        if one.id in acts:
            act = one
        elif act and (one.op, one.undoes, one.caller) == ("archive", "", act.caller):
            moves += [] if one.id in done or one.outcome != "written" else [one]
        else:
            act = None
    return tuple(moves)


def taken_away(line: AuditLine, before: Sequence[AuditLine]) -> tuple[Fact, ...]:
    """Return the facts that a change took away, with the source, date and place they had."""
    return _before(line, before)


def undone(lines: Sequence[AuditLine]) -> dict[str, str]:
    """Return the ids of the lines that are undone, each with the id of the line that did it.

    A line whose undo was itself undone stands again.
    """
    done: dict[str, str] = {}
    for line in reversed([one for one in lines if one.undoes and one.outcome == "written"]):
        if line.id not in done:
            done[line.undoes] = line.id
    return done


def still_hidden(lines: Sequence[AuditLine], but: AuditLine) -> frozenset[str]:
    """Return the messages that changes hide which stand once one line is undone."""
    done = undone([*lines, replace(but, outcome="written", undoes=but.id, id="")])
    standing = (one for one in lines if one.hidden and one.id not in done)
    return frozenset(name for line in standing for name in line.hidden)


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
        changes = line.op in LAST and line.outcome == "written"
        if changes and not line.undoes and line.id not in done:
            return line
    raise NotFound("The log has no change of a fact that could be undone.")


_NEVER = {
    "erase": "An erasure cannot be undone: nothing of what was erased is kept anywhere.",
    "model": "What ranks is no fact: `vaultmind model rollback` takes its last change back.",
}


def _impossible(lines: Sequence[AuditLine], line: AuditLine) -> str:
    """Return why a line cannot be undone whatever the brain says; empty where it may be."""
    if line.op not in UNDOABLE:
        other = f"Only changes of facts can be undone; {line.id} is “{line.op}”."
        return _NEVER.get(line.op, other)
    if line.outcome != "written":
        return f"There is nothing to undo: {line.id} came to “{line.outcome}”."
    words = line.after if line.op == "remember" else line.before
    if line.erased or not (words or line.hidden or line.op in ("hide", "show")):
        return f"The words of {line.id} were erased, so that it cannot be undone."
    if line.altered:
        return f"The words of {line.id} in the log were changed by hand; `doctor` shows where."
    by = undone(lines).get(line.id)
    return f"{line.id} is undone already, by {by}." if by else _lost(lines, line)


def _lost(lines: Sequence[AuditLine], line: AuditLine) -> str:
    """Return why the words that a line took away are kept nowhere: typed, they held a secret."""
    known = {one.after for one in lines if one.outcome == "written"}
    parts = _parts(line.before, lines) if line.op in ("forget", "replace") else ()
    if any(MARK.search(text) and text not in known for text in parts):
        return f"What is masked in “{line.before}” is kept nowhere: it cannot be brought back."
    return ""


def _take_back(line: AuditLine, before: Sequence[AuditLine], facts: Sequence[Fact]) -> Undo:
    """Return the way back from a fact that was written, replaced or moved."""
    now = [fact for fact in facts if line.block and fact.block == line.block]
    if not now:
        gone = f"“{line.after}” (^{line.block}) is not in the memory any more"
        return Undo(line, f"{gone}: it was changed or removed since {line.time}.")
    if any(one_line(fact.text) != one_line(line.after) for fact in now):
        says = next(one.text for one in now if one_line(one.text) != one_line(line.after))
        since = f"^{line.block} was “{line.after}” after this change and is “{says}” now"
        return Undo(line, f"{since}; somebody changed it since.")
    if line.op in ("archive", "restore"):
        return Undo(line, way="restore" if line.op == "archive" else "archive")
    if line.op == "remember":
        way: Way = "archive" if _came_from_archive(line, before) else "take_out"
        return Undo(line, way=way, hide=_hidden_by_undone(line, before))
    old = _before(line, before)
    ended = tuple(one for one in facts if one.until and _says_one_of(one, old))
    held = [one for one in facts if one not in now and not one.until]
    if again := next((one for one in held if _says_one_of(one, old)), None):
        return Undo(line, f"“{again.text}” is in the memory again already.")
    return Undo(line, way="put_back", facts=tuple(_as_kept(one, ended) for one in old), ended=ended)


def _as_kept(fact: Fact, ended: Sequence[Fact]) -> Fact:
    """Return a fact as the archive kept it, where it did."""
    kept = next((one for one in ended if same_fact(one.text, fact.text)), None)
    return replace(kept, until="") if kept else fact


def _bring_back(line: AuditLine, before: Sequence[AuditLine], facts: Sequence[Fact]) -> Undo:
    """Return the way back from a fact that was forgotten: text, section, block id, messages."""
    from vaultmind.memory.contradictions.contradict import contradicted  # a fifth of a second

    taken = {fact.block for fact in facts}
    held = [fact for fact in facts if not fact.until]
    old = tuple(
        replace(one, block="" if one.block in taken else one.block) for one in _before(line, before)
    )
    again = next((fact for fact in facts if _says_one_of(fact, old)), None)
    if again:
        return Undo(line, f"“{again.text}” is in the memory again already.")
    for one in old:
        if against := contradicted(one.text, [fact.text for fact in held]):
            says = f"“{held[against[0]].text}” says otherwise now"
            return Undo(line, f"{says}: forget or correct that first, to have “{one.text}” again.")
    return Undo(line, way="bring_back", facts=old, lift=_refs(line))


def _before(line: AuditLine, before: Sequence[AuditLine]) -> tuple[Fact, ...]:
    """Return the facts that a change took away, with the source, date and place they had.

    A change that took several has them in one text; they are told apart by what the audit says
    was written. A fact that it does not know was typed by the person, and is so again.
    """
    parts = _parts(line.before, before)
    return tuple(_fact(text, line if at == 0 else None, before) for at, text in enumerate(parts))


def _parts(text: str, before: Sequence[AuditLine]) -> tuple[str, ...]:
    written = {one.after for one in before if one.outcome == "written"}
    pieces = text.split(JOINT)
    if text in written or len(pieces) == 1 or not written >= {*pieces}:
        return (text,)
    return tuple(pieces)


def _fact(text: str, line: AuditLine | None, before: Sequence[AuditLine]) -> Fact:
    """Return a fact as it was before a line took it; None: another fact than the line's own."""
    origin = _origin(text, line.block if line else "", before)
    named = line.section if line and line.op == "forget" else ""
    section = next((one for one in SECTIONS if one == (named or (origin and origin.section))), None)
    if section is None and line:
        section = next((one for one in SECTIONS if one == line.section), None)
    block = line.block if line else origin.block if origin else ""
    if origin is None:
        return Fact(text, section, block)
    how = origin.how or "said"
    return Fact(text, section, block, ref_of(origin.evidence), origin.time[:10], how)


def _origin(text: str, block: str, before: Sequence[AuditLine]) -> AuditLine | None:
    """Return the line that first wrote a fact, rather under the same block id."""
    wrote = [
        one
        for one in before
        if one.after == text and one.outcome == "written" and one.op in ("remember", "replace")
    ]
    same = [one for one in wrote if one.block == block] or wrote
    return next((one for one in reversed(same) if not one.undoes), same[-1] if same else None)


def _came_from_archive(line: AuditLine, before: Sequence[AuditLine]) -> bool:
    """Tell whether remembering a fact brought it back from the archive."""
    moves = [one for one in before if one.block == line.block and one.outcome == "written"]
    return bool(line.block and moves) and moves[-1].op == "archive"


def _hidden_by_undone(line: AuditLine, before: Sequence[AuditLine]) -> tuple[Ref, ...]:
    """Return what the change that this line undid had hidden: it is hidden once more."""
    original = next((one for one in before if line.undoes and one.id == line.undoes), None)
    return _refs(original) if original else ()


def _refs(line: AuditLine) -> tuple[Ref, ...]:
    return tuple(ref for text in line.hidden if (ref := hidden_ref(text)))


def _says_one_of(fact: Fact, others: Sequence[Fact]) -> bool:
    return any(same_fact(fact.text, one.text) for one in others)
