"""Taking a change back: the lines that came with it go, the lines that left come back.

Only what still stands as the change left it is turned round; whatever was changed since is a
conflict, which is explained, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultmind.memory.audit import UNDOABLE, AuditLine
from vaultmind.memory.brain import (
    JOINT,
    Move,
    apply,
    damage,
    find_fact,
    masked,
    parse_brain,
    turned,
)
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
    lost = any(not move.whole for move in line.moves if not move.came)
    said = "The log does not say what {0} changed, so that it cannot be undone."
    for is_so, why in (
        (line.op not in UNDOABLE, _NEVER.get(line.op, "{0} is “{1}”: only facts are undone.")),
        (line.outcome != "written", "There is nothing to undo: {0} came to “{2}”."),
        (line.erased, "The words of {0} were erased, so that it cannot be undone."),
        (line.undone_by, f"{{0}} is undone already, by {line.undone_by}."),
        (not (line.moves or line.hidden or line.shown), said),
        (lost, f"What is masked in {quoted(line.before)} is kept nowhere: it cannot come back."),
    ):
        if is_so:
            raise Conflict(why.format(line.id, line.op, line.outcome))


def take_back(line: AuditLine, brain: str, archive: str, ask: Ask) -> Step:
    """Return the step that turns a change round. Raises Conflict where it cannot be done."""
    for path, text in ((ask.path, brain), (ask.archive, archive)):
        if reason := damage(text):
            raise Conflict(f"{path} is damaged: {reason}. Mend it first.")
    asked = turned(line.moves)
    out = [found for move in asked if not move.came and (found := _leaves(move, brain, archive))]
    back = [move for move in asked if move.came]
    left = apply(brain, out, archive=False), apply(archive, out, archive=True)
    standing = [one.text for text in left for one in parse_brain(text).all() if not one.until]
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
        before=JOINT.join(out),
        after=back[0].text if back else "",
        path=step.outcome.path,
        block=back[0].block if back else step.outcome.block,
        moves=masked(step.moves),
    )


def _leaves(move: Move, brain: str, archive: str) -> Move | None:
    """Return how a line that came is taken out, from where it stands now.

    None for one that the archive was to keep and does not. Raises Conflict for one that changed.
    """
    fact = move.fact
    for in_archive in (move.archive, not move.archive):
        if placed := find_fact(archive if in_archive else brain, fact):
            if placed.tree_end != placed.end and "\n" not in move.line:
                raise Conflict(f"Other lines stand under {quoted(fact.text)} now; move them first.")
            return replace(move, archive=in_archive)
    if move.archive:
        return None
    every = (*parse_brain(brain).all(), *parse_brain(archive).all())
    now = next((one for one in every if fact.block and one.block == fact.block), None)
    since = f"is {quoted(now.text)} now" if now else "is not in the memory any more"
    raise Conflict(f"{quoted(fact.text)} (^{fact.block}) {since}: somebody changed it since.")
