"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts; `save` and `append` store records: sessions, summaries, identities. Nothing
else writes to the memory folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from vaultmind import errors
from vaultmind.memory import audit, brain
from vaultmind.memory.audit import AuditLine, refs_of
from vaultmind.memory.brain import Move, find_fact, parse_brain
from vaultmind.memory.changes import Ask, Step, quoted
from vaultmind.memory.forget.erasing import Erasing
from vaultmind.memory.match import same_fact
from vaultmind.memory.writing import Facts, also, in_name, safe_outcome, with_hidden
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText, digest

_NEVER = {
    "erase": "An erasure cannot be undone: nothing of what was erased is kept anywhere.",
    "model": "What ranks is no fact: `vaultmind model rollback` takes its last change back.",
}


class Conflict(Exception):
    """Why a change cannot be taken back, in words."""


class Gate(Facts):
    """Writes to the memory folder. One per vault; any thread."""

    @cached_property
    def erasing(self) -> Erasing:
        """Return what previews and does erasures: the person's alone."""
        return Erasing(self)

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to now, without words. Nothing is written or audited.

        Raises BadArgument as `write` does.
        """
        outcome = self._asked(replace(self._ask(in_name(write)), dry=True), None)
        before = outcome.before if outcome.outcome == "written" else ""
        return replace(outcome, before=before, message="")

    def undo(self, agent: str, line_id: str, caller: Caller) -> Outcome:
        """Take a change back; the person's wish alone. A conflict comes to `unchanged`.

        Raises NotFound and BadArgument as `audit.find_line` does.
        """
        if caller.kind != "person":
            reason = "only the person undoes, on the command line"
            self.audit.note(caller, agent, "undo", "denied", reason=reason)
            message = f"Not allowed: {reason}. Nothing was changed."
            return Outcome("denied", agent, message=message, reason=reason)
        with self._locks[agent]:
            line = audit.find_line(self.paths, (agent,), line_id)
            try:
                outcome = self._undone(line, caller)
            except (Conflict, errors.BrokenMemory) as conflict:
                reason = mask(str(conflict)).text
                about = {"path": line.path, "block": line.block, "reason": reason}
                self.audit.note(caller, agent, "undo", "unchanged", **about)
                message = f"{reason} Nothing was changed."
                return Outcome("unchanged", agent, message=message, reason=reason, path=line.path)
        self._index(agent, outcome)
        return outcome

    def _undone(self, line: AuditLine, caller: Caller) -> Outcome:
        """Turn a change round. Raises Conflict."""
        check_undoable(line)
        others = audit.newest_first(self.paths, self.paths.agent_names(), holding='"hidden"')
        kept = {
            name
            for one in others
            if one.outcome == "written" and not one.undone_by and one.id != line.id
            for name in one.hidden
        }  # another change hides these, too
        shown = tuple(name for name in line.hidden if name not in kept)
        ask = self._ask(MemoryWrite("replace", line.agent, caller, "undo", old="undo"))
        made = self.audit.line(caller, line.agent, "show" if shown else "hide", "written")
        made = replace(made, undoes=line.id, reason=f"undo of {line.id}")
        made = replace(made, shown=shown, hidden=line.shown)
        hides = refs_of(line.shown)
        if line.moves:
            step = self._change(
                ask,
                lambda text, archive: replace(take_back(line, text, archive, ask), hidden=hides),
                lambda step: undo_line(made, step),
            )
        else:
            self.audit.write(made)
            step = with_hidden(Step(ask.outcome("written", "")), self.hiding.hide(hides), "said it")
        back = self.hiding.show(refs_of(shown))
        messages = f"{counted(len(back), 'message')} {'is' if len(back) == 1 else 'are'}"
        outcome = also(step.outcome, f"{messages} shown again." if back else "")
        return safe_outcome(outcome if outcome.message else also(outcome, "Nothing was hidden."))

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall; return how many were not hidden before.

        Raises NotAllowed for an agent that may not forget by itself.
        """
        decision = self._authority.decide(caller, agent, "forget", "brain")
        if decision.verdict != "allow":
            raise errors.NotAllowed(f"Not allowed: {decision.reason}. Nothing was hidden.")
        with self._locks[agent]:
            return self._hide(agent, tuple(refs), caller)

    def hide_request(self, ref: MessageRef, caller: Caller) -> None:
        """Hide the words of a request to forget, which say what was forgotten once more.

        Called in the middle of a write, maybe to another agent's memory: it takes no agent's lock,
        or two that forget in each other's memory would wait for each other for ever.
        """
        self._hide(ref.agent, (ref,), caller)

    def _hide(self, agent: str, refs: Sequence[MessageRef], caller: Caller) -> int:
        hidden = self.hiding.hide(refs)
        if hidden:
            names, reason = tuple(map(audit.ref_text, refs)), counted(len(refs), "message")
            self.audit.note(caller, agent, "hide", "written", reason=reason, hidden=names)
        return len(hidden)

    def sweep(self) -> None:
        """Remove what a write that was cut short left behind."""
        self._writer.sweep()

    # --- rights ---------------------------------------------------------------------------

    def allow(self, agent: str, seen: str, caller: Caller) -> tuple[str, ...]:
        """Let an agent have what its identity asks for and the person has seen; return what.

        Raises BadArgument as `Authority.allow` does.
        """
        asked_for = self._authority.waiting(agent)
        self._authority.allow(agent, seen, caller)
        self.audit.note(caller, agent, "allow", "written", reason=mask("; ".join(asked_for)).text)
        return asked_for

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        return self._authority.keeps_records(agent)

    # --- records -------------------------------------------------------------------------

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        Returns the file as written, None when the change declined. Raises PathRefused for the files
        that `write` keeps, and for an agent that reaches into another's memory.
        """
        self._check_record(relative, caller)
        written = self.edit(relative, change)
        if written is not None:
            self._saved(caller, relative, reason)
            self._indexer.mark([relative])
        return written

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk. Raises PathRefused, WriteFailed."""
        self._check_record(relative, None)
        self._writer.append(relative, text)
        self._indexer.mark([relative])

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a record; tell whether it was there. Raises PathRefused, WriteConflict."""
        self._check_record(relative, caller)
        path = self.paths.writable(relative)
        if not path.is_file():
            return False
        self._writer.remove(relative, digest(path.read_bytes()))
        self._indexer.mark([relative])
        self._saved(caller, relative, reason)
        return True

    def _check_record(self, relative: str, caller: Caller | None) -> None:
        agent = self.paths.agent_of(relative)
        name = relative.rsplit("/", 1)[-1]
        kept = {self.paths.brain(agent), self.paths.archive(agent)} if agent else set()
        if relative in kept or (agent and name.startswith(("audit-", "tombstones-"))):
            raise errors.PathRefused(
                relative, "facts, audit and tombstones change by gate.write only"
            )
        if caller is None or caller.kind == "person":
            return
        if agent != caller.agent or relative == self.paths.identity(agent):
            raise errors.PathRefused(relative, f"{caller.agent} may write its own records only")


# --- undoing ------------------------------------------------------------------------------
# The lines that came with a change go, those that left come back. Only what still stands as the
# change left it is turned round; what was changed since is a conflict, which is explained.


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
