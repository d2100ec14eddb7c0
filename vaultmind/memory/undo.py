"""Taking a change back: the lines that came with it go, the lines that left come back.

Only what still stands as the change left it is turned round; whatever
was changed since is a conflict, which is explained, and nothing happens.
"""

from __future__ import annotations

from dataclasses import replace

from vaultmind.errors import NotFound
from vaultmind.memory.audit import (
    ASKED,
    JOINT,
    UNDOABLE,
    AuditLine,
    AuditLog,
    find_line,
    newest_first,
    ref_text,
    refs_of,
)
from vaultmind.memory.brain import damage, new_brain, parse_brain
from vaultmind.memory.changes import Ask, Step, quoted
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.forget.tombstones import Hiding
from vaultmind.memory.match import same_fact
from vaultmind.memory.moves import Move, apply, find_fact, turned
from vaultmind.memory.writing import FactWriter, also, masked_moves, safe_outcome
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.types import Caller, MemoryWrite, Outcome
from vaultmind.vault.paths import VaultPaths

_NEVER = {
    "erase": "An erasure cannot be undone: nothing of what was erased is kept anywhere.",
    "model": "What ranks is no fact: `vaultmind model rollback` takes its last change back.",
}


class Conflict(Exception):
    """Why a change cannot be taken back, in words."""


class Undoing:
    """Takes changes back. The caller holds the agent's lock."""

    def __init__(
        self, facts: FactWriter, hiding: Hiding, audit: AuditLog, paths: VaultPaths
    ) -> None:
        self._facts = facts
        self._hiding = hiding
        self._audit = audit
        self._paths = paths

    def undo(self, agent: str, line_id: str, caller: Caller, *, dry_run: bool = False) -> Outcome:
        """Take a change back, the agent's last where none is named; the person's wish alone.

        A conflict comes to `unchanged`. Raises NotFound and BadArgument as `find_line` does.
        """
        if caller.kind != "person":
            reason = "only the person undoes, on the command line"
            self._audit.note(caller, agent, "undo", "denied", reason=reason)
            message = f"Not allowed: {reason}. Nothing was changed."
            return Outcome("denied", agent, message=message, reason=reason)
        self._facts.complete(agent)
        line = self._meant(agent, line_id)
        write = MemoryWrite("replace", agent, caller, line.after or line.before)
        try:
            return self._undone(line, self._facts.asking(write, (write.text,)), dry_run=dry_run)
        except Conflict as conflict:
            reason = mask(str(conflict)).text
        if not dry_run:
            about = {"path": line.path, "block": line.block, "reason": reason}
            self._audit.note(caller, agent, "undo", "unchanged", **about)
        message = f"{reason} Nothing was changed."
        return Outcome("unchanged", agent, message=message, reason=reason, path=line.path)

    def _meant(self, agent: str, line_id: str) -> AuditLine:
        if line_id:
            return find_line(self._paths, (agent,), line_id)
        for line in newest_first(self._paths, (agent,), ASKED):
            if line.outcome == "written" and not line.undoes and not line.undone_by:
                return line
        raise NotFound("The log has no change of a fact that could be undone.")

    def _undone(self, line: AuditLine, ask: Ask, *, dry_run: bool) -> Outcome:
        """Turn a change round. Raises Conflict."""
        check_undoable(line)
        show, hide = self._to_show(line), refs_of(line.shown)
        stay = len(line.hidden) - len(show)
        steps = [Step(ask.outcome("written", ""))]

        def turned(text: str | None) -> Step:
            step = take_back(line, text, self._facts.brains.text(ask.archive), ask)
            steps.append(step)
            return step

        if line.moves:
            turned(
                self._facts.brains.text(ask.path) or None
            )  # a conflict shows before anything is done
        if dry_run:
            outcome = _with_counts(steps[-1].outcome, len(show), len(hide), stay)
            return also(outcome, "Nothing was changed yet.")
        made = self._audit.line(ask.write.caller, line.agent, "show" if show else "hide", "written")
        made = replace(
            made, undoes=line.id, reason=f"undo of {line.id}",
            shown=tuple(map(ref_text, show)), hidden=tuple(map(ref_text, hide)),
        )  # fmt: skip
        if line.moves:
            self._facts.brains.carry_out(
                ask, turned, lambda step: self._facts.begin(self._undo_line(made, step))
            )
        shown, hid = self._hiding.show(show), self._hiding.hide(hide)
        self._audit.write(self._undo_line(made, steps[-1]))
        self._facts.sound.add(line.agent)
        return _with_counts(steps[-1].outcome, len(shown), len(hid), stay)

    def _undo_line(self, made: AuditLine, step: Step) -> AuditLine:
        """Return the line of an undo that comes to a step."""
        moves = masked_moves(step.moves)
        out = [move.fact.text for move in moves if not (move.came or move.archive)]
        back = [move.fact for move in moves if move.came]
        if not moves:
            return made
        return replace(
            made,
            op="replace" if out and back else "remember" if back else "forget",
            section=step.outcome.section or "",
            before=JOINT.join(out),
            after=back[0].text if back else "",
            path=step.outcome.path,
            block=back[0].block if back else step.outcome.block,
            evidence=self._audit.evidence(back[0].evidence if back else None),
            moves=moves,
        )

    def _to_show(self, line: AuditLine) -> tuple[Ref, ...]:
        """Return what is to be shown again: what no other change has hidden, too."""
        agents = self._paths.agent_names() if line.hidden else ()
        kept = {
            name
            for one in newest_first(self._paths, agents, holding='"hidden"')
            if one.outcome == "written" and not one.undone_by and one.id != line.id
            for name in one.hidden
        }
        return refs_of(name for name in line.hidden if name not in kept)


def check_undoable(line: AuditLine) -> None:
    """Raise Conflict for a line that cannot be undone, whatever brain and archive say."""
    masked = any(not move.whole for move in line.moves if not move.came)
    other = f"Only changes of facts can be undone; {line.id} is “{line.op}”."
    for is_so, why in (
        (line.op not in UNDOABLE, _NEVER.get(line.op, other)),
        (
            line.outcome != "written",
            f"There is nothing to undo: {line.id} came to “{line.outcome}”.",
        ),
        (line.erased, f"The words of {line.id} were erased, so that it cannot be undone."),
        (line.undone_by, f"{line.id} is undone already, by {line.undone_by}."),
        (
            not (line.moves or line.hidden or line.shown),
            f"The log does not say what {line.id} changed, so that it cannot be undone.",
        ),
        (masked, f"What is masked in “{line.before}” is kept nowhere: it cannot be brought back."),
    ):
        if is_so:
            raise Conflict(why)


def take_back(line: AuditLine, brain: str | None, archive: str, ask: Ask) -> Step:
    """Return the step that turns a change round. Raises Conflict where it cannot be done."""
    brain = new_brain(line.agent, ask.language) if brain is None else brain
    for path, text in ((ask.path, brain), (ask.archive, archive)):
        if reason := damage(text):
            raise Conflict(f"{path} is damaged: {reason}. Mend it first.")
    asked = turned(line.moves)
    out, back = ([move for move in asked if move.came is came] for came in (False, True))
    out = [found for move in out if (found := _leaves(line, move, brain, archive))]
    left = apply(brain, out, archive=False), apply(archive, out, archive=True)
    standing = [one for text in left for one in parse_brain(text).all() if not one.until]
    for move in back:
        again = next((one for one in standing if same_fact(one.text, move.fact.text)), None)
        if again and not move.fact.until:
            raise Conflict(f"“{again.text}” is in the memory again already.")
    changed = back or out
    in_brain = any(not move.archive for move in changed)
    path = ask.path if in_brain else ask.archive if changed else line.path
    told, before = (
        "; ".join(dict.fromkeys(move.fact.text for move in moves))
        for moves in (changed, [move for move in out if move.archive is not in_brain])
    )
    message = f"{quoted(told)} is taken out of {path}." if out else ""
    if back:
        message = f"{quoted(told)} is back (in {path})."
        message = f"{quoted(before)} is {quoted(told)} again (in {path})." if before else message
    outcome = ask.outcome("written", message, changed[0].fact if changed else None)
    outcome = replace(outcome, path=path, before=line.after if out else "", fact=told)
    return Step(outcome, (*out, *back))


def _leaves(line: AuditLine, move: Move, brain: str, archive: str) -> Move | None:
    """Return how a line that came is taken out, from where it stands now.

    None for one that the archive was to keep and does not. Raises Conflict for one that changed.
    """
    fact = move.fact
    for in_archive in (move.archive, not move.archive):
        placed = find_fact(archive if in_archive else brain, fact)
        if placed is None:
            continue
        if placed.tree_end != placed.end and not move.has_lines_below:
            raise Conflict(f"Other lines stand under “{placed.fact.text}” now; move them first.")
        return replace(move, archive=in_archive)
    if move.archive:
        return None
    every = (*parse_brain(brain).all(), *parse_brain(archive).all())
    now = next((one for one in every if fact.block and one.block == fact.block), None)
    if now is None:
        gone = f"“{fact.text}” (^{fact.block}) is not in the memory any more"
        raise Conflict(f"{gone}: it was changed or removed since {line.time}.")
    since = f"^{fact.block} was “{fact.text}” after this change and is “{now.text}” now"
    raise Conflict(f"{since}; somebody changed it since.")


def _with_counts(outcome: Outcome, shown: int, hidden: int, stay: int) -> Outcome:
    """Return an undo's outcome that says, too, how many messages it showed and hid."""
    for number, what in (
        (shown, "shown again"),
        (hidden, "hidden again"),
        (stay, "still hidden for another change's sake"),
    ):
        verb = "is" if number == 1 else "are"
        outcome = also(outcome, f"{counted(number, 'message')} {verb} {what}." if number else "")
    outcome = outcome if outcome.message else replace(outcome, message="Nothing was hidden.")
    return replace(safe_outcome(outcome), hidden_messages=hidden)
