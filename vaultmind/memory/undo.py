"""Taking a change back: the lines that came with it go, those that left come back. Pure.

Only what still stands as the change left it is turned round; what was changed since is a conflict,
which is explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultmind.memory import audit, brain
from vaultmind.memory.audit import AuditLine
from vaultmind.memory.brain import Move, find_fact, parse_brain
from vaultmind.memory.changes import Ask, Step, quoted
from vaultmind.memory.match import same_fact
from vaultmind.types import Fact

_NEVER = {
    "erase": "An erasure cannot be undone: nothing of what was erased is kept anywhere.",
    "model": "What ranks is no fact: `vaultmind model rollback` takes its last change back.",
}


class Conflict(Exception):
    """Why a change cannot be taken back, in words."""


def check_undoable(line: AuditLine) -> None:
    """Raise Conflict for a line that cannot be undone, whatever brain and archive say."""
    why = ""
    if line.op not in audit.UNDOABLE:
        why = _NEVER.get(line.op, f"{line.id} is “{line.op}”: only facts are undone.")
    elif line.outcome != "written":
        why = f"There is nothing to undo: {line.id} came to “{line.outcome}”."
    elif line.erased:
        why = f"The words of {line.id} were erased, so that it cannot be undone."
    elif line.undone_by:
        why = f"{line.id} is undone already, by {line.undone_by}."
    elif any(not (move.whole or move.came) for move in line.moves):
        why = f"What is masked in {quoted(line.before)} is kept nowhere: it cannot come back."
    if why:
        raise Conflict(why)


def take_back(line: AuditLine, text: str, archive: str, ask: Ask) -> Step:
    """Return the step that turns a change round. Raises Conflict where it cannot be done."""
    asked = brain.turned(line.moves)
    out = [found for move in asked if not move.came and (found := _leaves(move, text, archive))]
    back = [move for move in asked if move.came]
    left = brain.apply(text, out, archive=False), brain.apply(archive, out, archive=True)
    standing = [one.text for each in left for one in parse_brain(each).all() if not one.until]
    for move in back:
        if not move.fact.until and any(same_fact(one, move.fact.text) for one in standing):
            raise Conflict(f"{quoted(move.fact.text)} is in the memory again already.")
    gone = [one.fact for one in out if not one.archive] or [one.fact for one in out if not back]
    returned = [one.fact for one in back]
    path = ask.path if any(not one.archive for one in back or out) else ask.archive
    message = f"{_all(gone)} is taken out of {path}." if gone else ""
    message += f" {_all(returned)} is back (in {path})." if returned else ""
    outcome = ask.outcome("written", message.strip(), *[*returned, *gone][:1])
    outcome = replace(outcome, path=path, before=line.after if out else "")
    return Step(outcome, (*out, *back))


def _all(facts: Sequence[Fact]) -> str:
    return quoted("; ".join(dict.fromkeys(one.text for one in facts)))


def undo_line(made: AuditLine, step: Step) -> AuditLine:
    """Return the line of an undo that comes to a step."""
    out = [move.fact.text for move in step.moves if not (move.came or move.archive)]
    back = [move.fact for move in step.moves if move.came]
    return replace(
        made,
        op="replace" if out and back else "remember" if back else "forget",
        section=step.outcome.section or "",
        before=brain.JOINT.join(out),
        after=back[0].text if back else "",
        path=step.outcome.path,
        block=back[0].block if back else step.outcome.block,
        moves=brain.masked(step.moves),
    )


def _leaves(move: Move, text: str, archive: str) -> Move | None:
    """Return how a line that came is taken out, from where it stands now.

    None for one that the archive was to keep and does not. Raises Conflict for one that changed.
    """
    fact = move.fact
    for in_archive in (move.archive, not move.archive):
        if placed := find_fact(archive if in_archive else text, fact):
            if placed.tree_end != placed.end and "\n" not in move.line:
                raise Conflict(f"Other lines stand under {quoted(fact.text)} now; move them first.")
            return replace(move, archive=in_archive)
    if move.archive:
        return None
    every = (*parse_brain(text).all(), *parse_brain(archive).all())
    now = next((one for one in every if fact.block and one.block == fact.block), None)
    since = f"is {quoted(now.text)} now" if now else "is not in the memory any more"
    raise Conflict(f"{quoted(fact.text)} (^{fact.block}) {since}: somebody changed it since.")
