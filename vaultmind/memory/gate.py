"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts; `save` and `append` store records: sessions, summaries, identities. Nothing
else writes to the memory folder.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from vaultmind import errors
from vaultmind.memory.audit import (
    AuditLine,
    find_line,
    newest_first,
    ref_text,
    refs_of,
    settled_before,
)
from vaultmind.memory.brain import new_brain
from vaultmind.memory.changes import Step, quoted
from vaultmind.memory.forget.erasing import Erased, Erasing, Erasure
from vaultmind.memory.undo import Conflict, check_undoable, take_back, undo_line
from vaultmind.memory.writing import (
    Dropped,
    Facts,
    also,
    in_name,
    safe_outcome,
)
from vaultmind.plural import counted
from vaultmind.ports import IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.types import Caller, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.replacing import digest


class Gate(Facts):
    """Writes to the memory folder. One per vault; any thread."""

    @cached_property
    def _erasing(self) -> Erasing:
        kept = self._settings.erasables, self._settings.state_dir
        hide, note = self._hiding.hide, self._audit.note
        return Erasing(self._reader, kept, self._edit, hide, note, self._clock)

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to now. Nothing is written, suggested or audited.

        Raises BadArgument as `write` does.
        """
        ask = replace(self._ask(in_name(write)), dry=True, rng=random.Random(0))
        outcome = self._asked(ask, None)
        does = {"written": "be written to", "suggested": "wait for the person in"}
        if outcome.outcome in does:
            words = quoted(outcome.fact or ask.write.text)
            message = f"{words} would {does[outcome.outcome]} {outcome.path}."
            outcome = replace(outcome, message=message, block=outcome.block * bool(outcome.before))
        return outcome if outcome.outcome == "written" else replace(outcome, before="")

    def undo(self, agent: str, line_id: str, caller: Caller, *, dry_run: bool = False) -> Outcome:
        """Take a change back; the person's wish alone. A conflict comes to `unchanged`.

        Raises NotFound and BadArgument as `find_line` does.
        """
        if caller.kind != "person":
            reason = "only the person undoes, on the command line"
            self._audit.note(caller, agent, "undo", "denied", reason=reason)
            message = f"Not allowed: {reason}. Nothing was changed."
            return Outcome("denied", agent, message=message, reason=reason)
        with self._locks[agent]:
            self._complete(agent)
            line = find_line(self._paths, (agent,), line_id)
            try:
                outcome = self._undone(line, caller, dry_run=dry_run)
            except (Conflict, errors.BrokenMemory) as conflict:
                reason = mask(str(conflict)).text
                about = {"path": line.path, "block": line.block, "reason": reason}
                if not dry_run:
                    self._audit.note(caller, agent, "undo", "unchanged", **about)
                message = f"{reason} Nothing was changed."
                outcome = Outcome("unchanged", agent, message=message, reason=reason)
                outcome = replace(outcome, path=line.path)
        if not dry_run:
            self._index(agent, outcome)
        return outcome

    def _undone(self, line: AuditLine, caller: Caller, *, dry_run: bool) -> Outcome:
        """Turn a change round. Raises Conflict."""
        check_undoable(line)
        others = newest_first(self._paths, self._paths.agent_names(), holding='"hidden"')
        kept = {
            name
            for one in others
            if one.outcome == "written" and not one.undone_by and one.id != line.id
            for name in one.hidden
        }  # another change hides these, too
        shown = tuple(name for name in line.hidden if name not in kept)
        ask = self._ask(MemoryWrite("replace", line.agent, caller, "undo", old="undo"))
        made = self._audit.line(caller, line.agent, "show" if shown else "hide", "written")
        made = replace(made, undoes=line.id, reason=f"undo of {line.id}")
        made = replace(made, shown=shown, hidden=line.shown)
        step = Step(ask.outcome("written", ""))

        def step_of(brain: str, archive: str) -> Step:
            return take_back(line, brain, archive, ask)

        if line.moves and dry_run:
            brain = self._text(ask.path) or new_brain(line.agent, ask.language)
            step = step_of(brain, self._text(ask.archive))
        elif line.moves:
            step = self._change(ask, step_of, lambda step: undo_line(made, step))
        counts = [(len(shown), "shown"), (len(line.shown), "hidden")]
        if not dry_run:
            counts[0] = len(self._hiding.show(refs_of(shown))), "shown"
            counts[1] = len(self._hiding.hide(refs_of(line.shown))), "hidden"
            self._audit.write(undo_line(made, step) if line.moves else made)
            self._sound.add(line.agent)
        outcome = replace(step.outcome, hidden_messages=counts[1][0])
        for number, what in counts:
            messages = f"{counted(number, 'message')} {'is' if number == 1 else 'are'}"
            outcome = also(outcome, f"{messages} {what} again." if number else "")
        stay = len(shown) < len(line.hidden)
        outcome = also(outcome, "Others stay hidden for another change's sake." if stay else "")
        outcome = outcome if outcome.message else also(outcome, "Nothing was hidden.")
        return safe_outcome(also(outcome, "Nothing was changed yet." if dry_run else ""))

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
        hidden = self._hiding.hide(refs)
        if hidden:
            names, reason = tuple(map(ref_text, refs)), counted(len(refs), "message")
            self._audit.note(caller, agent, "hide", "written", reason=reason, hidden=names)
        return len(hidden)

    def dropped(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Tell the audit what extraction found in a session and did not keep; return how many.

        What was told before is not told again, and nothing for an agent at autonomy 0.
        """
        with self._locks[agent]:
            if agent not in self._paths.agent_names() or not self.keeps_records(agent):
                return 0
            return self._drop(agent, session, dropped, caller)

    def settled_before(self, agent: str, session: str) -> frozenset[str]:
        """Return what extraction wrote from a session once, and what the person then rejected.

        Each as `settled_words` of `memory/audit` gives the words of a fact.
        """
        with self._locks[agent]:
            self._complete(agent)
        return settled_before(self._paths, agent, session)

    def repair(self) -> None:
        """Complete what a crash cut short in anybody's memory, and remove what it left."""
        self._writer.sweep()
        for agent in self._paths.agent_names():
            with self._locks[agent]:
                self._complete(agent)

    # --- what waits, rights, erasing -------------------------------------------------------

    def settle_suggestions(self) -> tuple[Outcome, ...]:
        """Act on what the person ticked or rejected in Suggestions.md; expire what is old."""
        return self.queue.settle()

    def answer_suggestion(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject a suggestion. Raises BadArgument for every caller but the person."""
        return self.queue.answer(suggestion_id, accept, caller)

    def allow(self, agent: str, seen: str, caller: Caller) -> tuple[str, ...]:
        """Let an agent have what its identity asks for and the person has seen; return what.

        Raises BadArgument as `Authority.allow` does.
        """
        asked_for = self._authority.waiting(agent)
        self._authority.allow(agent, seen, caller)
        self._audit.note(caller, agent, "allow", "written", reason=mask("; ".join(asked_for)).text)
        return asked_for

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        return self._authority.keeps_records(agent)

    def preview_erasure(self, erasure: Erasure) -> Erased:
        """Return what an erasure would remove. Raises NotAllowed for all but the person."""
        return self._erasing.preview(erasure)

    def erase(self, erasure: Erasure, index: IndexErasing, report: Report = silent) -> Erased:
        """Remove what says it from every file and the index, and return what is still found.

        It cannot be undone. Raises NotAllowed for all but the person, WriteConflict where the
        preview is no longer true, BadArgument, NotFound.
        """
        return self._erasing.erase(erasure, index, report)

    # --- records -------------------------------------------------------------------------

    def save(
        self, relative: str, change: Change, caller: Caller, reason: str, without: str = ""
    ) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        A record that it is to stand `without` from now on goes with it: one change, one line in
        the audit. Returns the file as written, None when the change declined. Raises PathRefused
        for the files that `write` keeps, and for an agent that reaches into another's memory.
        """
        for path in filter(None, (relative, without)):
            self._check_record(path, caller)
        written = self._edit(relative, change)
        if written is not None:
            self._saved(caller, relative, reason)
            self._indexer.mark([relative])
            if without:
                self._removed(without)
        return written

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk. Raises PathRefused, WriteFailed."""
        self._check_record(relative, None)
        self._writer.append(relative, text)
        self._indexer.mark([relative])

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a record; tell whether it was there. Raises PathRefused, WriteConflict."""
        self._check_record(relative, caller)
        is_there = self._removed(relative)
        if is_there:
            self._saved(caller, relative, reason)
        return is_there

    def _removed(self, relative: str) -> bool:
        path = self._paths.writable(relative)
        if not path.is_file():
            return False
        self._writer.remove(relative, digest(path.read_bytes()))
        self._indexer.mark([relative])
        return True

    def _check_record(self, relative: str, caller: Caller | None) -> None:
        agent = self._paths.agent_of(relative)
        name = relative.rsplit("/", 1)[-1]
        kept = {self._paths.brain(agent), self._paths.archive(agent)} if agent else set()
        if relative in kept or (agent and name.startswith(("audit-", "tombstones-"))):
            raise errors.PathRefused(
                relative, "facts, audit and tombstones change by gate.write only"
            )
        if caller is None or caller.kind == "person":
            return
        if agent != caller.agent or relative == self._paths.identity(agent):
            raise errors.PathRefused(relative, f"{caller.agent} may write its own records only")
