"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts: secrets out → rights → plan → suggestion or files → limits → audit → index.
A plan is made on the texts as they stand and made anew whenever a person's edit came first. Its
line stands in the audit before the first file changes; then the archive changes, then the brain.
`save` and `append` store records: sessions, summaries, identities. Nothing else writes to the
memory folder.
"""

from __future__ import annotations

import logging
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from vaultmind import errors
from vaultmind.language.words import content
from vaultmind.memory import audit, brain, changes, notes, rights
from vaultmind.memory.audit import AuditLine, refs_of
from vaultmind.memory.changes import Ask, Step, Witness, also, named, quoted, readable
from vaultmind.memory.forget.erasing import ERASABLES, Erasable, Erasing
from vaultmind.memory.forget.hiding import Hiding, Ref, Said, hidden_words
from vaultmind.memory.match import is_specific, mentions
from vaultmind.memory.rights import Authority, Decision, inferred, only_person
from vaultmind.memory.suggestions import Queue
from vaultmind.memory.wording import stored_told
from vaultmind.plural import counted
from vaultmind.ports import Clock, FileIndexer
from vaultmind.redact import MARK, blank_private, mask
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader, digest
from vaultmind.vault.oneline import one_line, safe, short
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.properties import set_property
from vaultmind.vault.writer import VaultWriter

LABEL_WORDS = 3
"""A secret with so few words of content beside it is a secret with its label: no fact."""
GUESSED = "it was inferred from a conversation, and nothing is forgotten on a guess"
MOST_DROPS, MOST_CHARS = 20, 200
"""Facts of one session that were not kept and are told, a line each, and characters of one."""
FORGOTTEN = "forgotten"
UNTOLD = frozenset({"secret", "private", "asked not to keep", FORGOTTEN})
"""Reasons for which the words of a fact stand nowhere, not even in the audit."""
_WAITS = {
    "new": "not written yet: {reason}. It waits for the person's approval in {path}.",
    "waiting": "not written yet: {reason}. It is already waiting in {path}.",
    "full": "not written: too many suggestions from conversations are waiting already ({path}).",
    "rejected": "not written: the person has already rejected this ({path}).",
}
_ONLY_A_SECRET = (
    "This is nothing but a secret ({kinds}). Nothing was stored: secrets never are."
    " Say what it is for, or where it is kept."
)

Dropped = tuple[str, str, tuple[str, ...]]
"""A fact that was not kept, why, and the blocks or ids of the messages that it came from."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate needs to know about this device and its configuration."""

    device: str
    """Names this device's audit and tombstone files: letters, digits and dashes."""
    rng: random.Random = field(default_factory=random.Random)
    """Where block ids come from."""
    caution: bool = False
    """Whether an agent's sensitive facts wait for the person."""
    sizes: tuple[int, int] = (500, 300)
    """How many tokens a brain may have, and down to how many it shrinks at most."""
    erasables: tuple[Erasable, ...] = ERASABLES
    """The kinds of record that an erasure reaches."""
    state_dir: Path | None = None
    """The folder of index and log: an erasure cleans and searches it, too."""
    notes: str = ""
    """The folder of the vault in which agents may save new notes; empty for none."""


class Gate:
    """Writes to the memory folder. One per vault; any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        settings: GateSettings,
        kinds: Sequence[Said],
        indexer: FileIndexer,
        authority: Authority,
        clock: Clock,
    ) -> None:
        self.paths, self.settings, self._indexer = paths, settings, indexer
        self._authority, self.clock = authority, clock
        self._writer, self._notes = VaultWriter(paths), VaultWriter(paths, settings.notes)
        self.keeps_records = authority.keeps_records
        self.reader = VaultReader(paths, max_bytes=0)
        self.audit = audit.AuditLog(paths, settings.device, self._writer.append, clock)
        self.hiding = Hiding(self.audit, kinds, self.reader, settings.rng)
        self.queue = Queue(self)
        """What waits for the person."""
        self.erasing = Erasing(self)
        """Previews and does erasures: the person's alone."""
        self._noticed: dict[str, FileStat | None] = {}
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    def sweep(self) -> None:
        """Remove what writes that were cut short left behind."""
        for one in (self._writer, self._notes):
            one.sweep()

    # --- facts ---------------------------------------------------------------------------

    def write(
        self, write: MemoryWrite, witness: Witness | None = None, *, approved: bool = False
    ) -> Outcome:
        """Change one agent's facts, or say why not. Never both lost, never one twice.

        `approved`: by the caller, in whose name even what a conversation says is written then.
        `witness` is called before something is written, and only then: a request that comes to
        nothing leaves no words behind. Raises BadArgument for empty or over-long texts;
        WriteConflict, BrokenMemory and WriteFailed when nothing was written.
        """
        agent = agent_name(write.agent)
        with self._locks[agent]:
            ask = self._ask(write if approved else changes.in_name(write), witness)
            outcome = self._answer(ask, self._made(ask))
        self._index(agent, outcome)
        return outcome

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to now, without words. Nothing is written or audited.

        Raises BadArgument as `write` does.
        """
        ask = self._ask(changes.in_name(write))
        texts = self.text(ask.path), self.text(ask.archive)
        step = self._refused(ask) or self._planned(*texts, ask)
        outcome = replace(step.outcome, message="", before=step.outcome.before * step.written)
        return changes.safe_outcome(outcome)

    def _made(self, ask: Ask) -> Step:
        """Make what is asked for, as far as the caller may; return what that came to."""
        if refused := self._refused(ask):
            return refused

        def step_of(text: str, archive: str) -> Step:
            step = self._planned(text, archive, ask)
            if ask.write.op == "forget":
                if step.unsaid and not inferred(ask.write):
                    step = self._unsaid(ask, step)
                elif step.written:
                    step = replace(step, hidden=self._saying(ask.write, step.gone))
                if step.written:
                    ask.log()
                words = step.outcome.fact or ask.write.text
                if any(mentions(own, words) for _, own in brain.own_paragraphs(text)):
                    told = f"Your own text in {ask.path} mentions it; edit it there."
                    step = replace(step, outcome=also(step.outcome, told))
                return step
            if step.written and ask.witness:
                ask.log()
                step = changes.plan(text, archive, ask)
            makes_room = (
                step.written and self._authority.rights(ask.write.agent).level >= rights.AUTO
            )
            return changes.with_room(step, text, archive, ask) if makes_room else step

        return self._change(ask, step_of)

    def _planned(self, text: str, archive: str, ask: Ask) -> Step:
        """Return what a write comes to on two texts, held where the caller may not make it."""
        step = changes.plan(text, archive, ask)
        return self._judged(ask.write, step) if step.written else step

    def _change(self, ask: Ask, step_of: Callable[[str, str], Step]) -> Step:
        """Make a step of brain and archive.

        Its line, what it hides and the archive come first: wherever it is cut short, no fact is
        lost, and nothing that was forgotten is recalled.
        """
        step, hid = Step(ask.outcome("unchanged", "")), list[Ref]()
        whose, line = ask.write.agent, self.audit.line(ask.write.caller, ask.write.agent, "", "")

        def archived(file: FileText | None) -> str:
            text = _sound(file, f"# {whose.capitalize()} - Archive\n")
            return brain.apply(text, step.moves, archive=True, language=ask.language)

        def change(file: FileText | None) -> str | None:
            nonlocal step
            text = _sound(file, brain.new_brain(whose, ask.language))
            step = step_of(text, self.text(ask.archive))
            if not step.written:
                return None
            new = brain.apply(text, step.moves, archive=False, language=ask.language)
            self.audit.write(self._line(line, ask.write, step))
            hid.extend(self.hiding.hide(step.hidden))
            if any(move.archive for move in step.moves):
                self.edit(ask.archive, archived)
            return None if all(move.archive for move in step.moves) else new

        try:
            self.edit(ask.path, change)
        except errors.VaultMindError as error:
            if step.written:
                self.hiding.show(hid)
                why = mask(f"it failed: {error}").text
                failed = self._line(line, ask.write, step)
                self.audit.write(replace(failed, outcome="unchanged", reason=why, hidden=()))
            raise
        outcome = also(step.outcome, hidden_words(hid, "Hid" if step.unsaid else "Also hid"))
        outcome = replace(outcome, hidden_messages=sum("/" not in one.session for one in hid))
        if number := len(self.hiding.show(step.shown)):
            outcome = also(outcome, f"{counted(number, 'message')} can be recalled again.")
        return replace(step, outcome=outcome)

    def _ask(self, write: MemoryWrite, witness: Witness | None = None) -> Ask:
        safe, kinds = changes.safe_write(write)
        words = (write.old, safe.old) if safe.op == "replace" else (write.text, safe.text)
        language = self._authority.identity(safe.agent).language or "en"
        today, sizes, rng = self.clock().date(), self.settings.sizes, self.settings.rng
        return Ask(safe, words, self.paths, today, sizes, rng, language, kinds, witness)

    # --- who may --------------------------------------------------------------------------

    def _decide(self, write: MemoryWrite, scope: str) -> Decision:
        return self._authority.decide(write.caller, write.agent, write.op, scope)

    def _refused(self, ask: Ask) -> Step | None:
        """Return the step of a write that must not happen, whatever the memory holds."""
        nothing, decision = Step(ask.outcome("denied", "")), self._decide(ask.write, "brain")
        if decision.verdict == "deny":
            return nothing.held(decision)
        marks = [mark.group()[1:-1] for mark in MARK.finditer(ask.write.text)]
        rest = content(MARK.sub(" ", ask.write.text))
        label = 0 if set(marks) <= {"private passage", "own pattern"} else LABEL_WORDS
        if ask.write.op != "forget" and marks and len(rest) <= label:
            kinds = ", ".join(ask.redacted or dict.fromkeys(marks))
            denied = Decision("deny", "it is nothing but a secret")
            return nothing.held(denied, message=_ONLY_A_SECRET.format(kinds=kinds))
        return None

    def _judged(self, write: MemoryWrite, step: Step) -> Step:
        """Return a step, held where the caller may not make it alone.

        It is judged once it is known what it touches, on the text it would be written over: a
        grant for one section never changes another, whatever a person edits meanwhile.
        """
        scopes = {step.outcome.section or "brain", *(one.section or "brain" for one in step.gone)}
        decisions = [self._decide(write, scope) for scope in scopes]
        decision = min(decisions, key=lambda one: rights.VERDICTS.index(one.verdict))
        doubt = (rights.touches(write) if self.settings.caution else "") or write.hold
        if inferred(write) and decision.verdict != "deny":
            newer = next((one for one in step.gone if changes.is_older(write, one)), None)
            typed = next((one for one in step.gone if one.is_typed), None)
            if write.op == "forget":
                doubt = GUESSED
            elif changes.was_forgotten(write, self.paths):
                return step.held(Decision("deny", "it was forgotten after it was said"), FORGOTTEN)
            if newer:
                return step.held(Decision("deny", f"{named(newer)} was said later"), "taken back")
            if typed:
                doubt = doubt or f"{named(typed)} was typed by the person"
        if decision.verdict == "allow" and doubt:
            decision = Decision("suggest", doubt)
        return step if decision.verdict == "allow" else step.held(decision)

    def _answer(self, ask: Ask, step: Step) -> Outcome:
        """Tell the audit of a step that changed no file; put before the person what waits."""
        outcome, write, dropped = step.outcome, ask.write, step.dropped
        if outcome.outcome == "suggested":
            write, path = readable(ask.write, step), self.paths.suggestions
            found = write.how in audit.FOUND  # an agent gives a reason of its own
            whys = dict.fromkeys((write.reason, write.hold, outcome.reason if found else ""))
            asked = replace(write, reason=" · ".join(filter(None, whys)))
            state, block = self.queue.put(asked, ask)
            write = replace(write, evidence=ask.write.evidence)
            why = _WAITS[state].format(reason=outcome.reason, path=path)
            message, dropped = f"{quoted(write.text)}: {why}", "too many" * (state == "full")
            outcome = replace(outcome, message=message, path=path, block=block)
            if state in ("full", "rejected"):
                outcome = replace(outcome, outcome="denied")
        if dropped:
            ref = write.evidence or MessageRef(write.agent, "", "")
            told = [(write.text, dropped, (ref.block,))]
            self.dropped(write.agent, ref.session, told, write.caller)
        elif not step.written:  # a change is in the audit already
            self.tell(write, replace(step, outcome=outcome))
        return changes.shown(ask, outcome)

    # --- the audit ------------------------------------------------------------------------

    def tell(self, write: MemoryWrite, step: Step, came_to: str = "") -> None:
        """Tell the audit what became of a write that changed no file; it makes no folder."""
        home = write.agent if write.agent in self.paths.agent_names() else write.caller.agent
        line = self._line(self.audit.line(write.caller, write.agent, "", ""), write, step)
        self.audit.write(replace(line, outcome=came_to or line.outcome), home)

    def _line(self, begun: AuditLine, write: MemoryWrite, step: Step) -> AuditLine:
        """Return a line with what a write came to; its texts are masked."""
        outcome, before = step.outcome, step.outcome.before
        if not before and write.op != "remember":
            before = write.old or write.text
        took_place = write.op == "remember" and step.written and before
        op: str = "replace" if took_place else write.op
        if step.undoes and not step.moves:
            op = "show" if step.shown else "hide"
        after = outcome.fact or ("" if step.written else write.text)
        return replace(
            begun,
            op=op,
            outcome=outcome.outcome,
            section=outcome.section or "",
            before=mask(before).text,
            after="" if write.op == "forget" else mask(after).text,
            evidence=self.paths.link(write.evidence) if write.evidence else "",
            reason=" · ".join(part for part in (outcome.reason, write.reason) if part),
            path=outcome.path,
            block=outcome.block,
            how=write.how if write.how in audit.FOUND else "",
            undoes=step.undoes,
            moves=brain.masked(step.moves) if step.written else (),
            hidden=tuple(map(audit.ref_text, step.hidden)),
            shown=tuple(map(audit.ref_text, step.shown)),
        )

    def dropped(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> None:
        """Tell the audit what extraction found in a session and did not keep.

        What was told before is not told again, and nothing for an agent at autonomy 0.
        """
        if agent not in self.paths.agent_names() or not self.keeps_records(agent):
            return
        with self._locks[agent]:
            lines = audit.newest_first(self.paths, (agent,), (audit.DROP,), session)
            known = {(one.after, one.reason) for one in lines if audit.session_of(one) == session}
            for text, reason, evidence in dropped:
                safe = "" if reason in UNTOLD else one_line(mask(blank_private(text)).text)
                safe = short(safe, MOST_CHARS)
                if (safe, reason) not in known and len(known) < MOST_DROPS:
                    known.add((safe, reason))
                    block = next((one for one in reversed(evidence) if one[1:].isdigit()), "")
                    ref = MessageRef(agent, session, block)
                    link = self.paths.link(ref) if session else ""
                    about = {"after": safe, "reason": reason, "evidence": link}
                    self.audit.note(caller, agent, audit.DROP, "dropped", **about)

    # --- undoing --------------------------------------------------------------------------

    def undo(self, agent: str, line_id: str, caller: Caller) -> Outcome:
        """Take a change back; the person's wish alone. A conflict comes to `unchanged`.

        Raises NotAllowed for an agent, NotFound and BadArgument as `audit.find_line` does.
        """
        only_person(caller, "undo a change")
        with self._locks[agent]:
            line = audit.find_line(self.paths, (agent,), line_id)
            try:
                outcome = self._undone(line, caller)
            except (changes.Conflict, errors.BrokenMemory) as conflict:
                reason = mask(str(conflict)).text
                about = {"path": line.path, "block": line.block, "reason": reason}
                self.audit.note(caller, agent, "undo", "unchanged", **about)
                message = f"{reason} Nothing was changed."
                return Outcome("unchanged", agent, message=message, reason=reason, path=line.path)
        self._index(agent, outcome)
        return outcome

    def _undone(self, line: AuditLine, caller: Caller) -> Outcome:
        """Turn a change round. Raises Conflict."""
        changes.check_undoable(line)
        if line.op == audit.NOTE:
            return self._unsaved(line, caller)
        others = audit.newest_first(self.paths, self.paths.agent_names(), holding='"hidden"')
        kept = {
            name
            for one in others
            if one.outcome == "written" and not one.undone_by and one.id != line.id
            for name in one.hidden
        }  # another change hides these, too
        shown = refs_of(name for name in line.hidden if name not in kept)
        only_out = bool(line.moves) and all(move.came for move in line.moves)
        undo = MemoryWrite("remember", line.agent, caller, "undo", reason=f"undo of {line.id}")
        ask = self._ask(replace(undo, op="forget") if only_out else undo)

        def step_of(text: str, archive: str) -> Step:
            step = changes.take_back(line, text, archive, ask)
            return replace(step, undoes=line.id, hidden=refs_of(line.shown), shown=shown)

        outcome = self._change(ask, step_of).outcome
        return changes.safe_outcome(also(outcome, "" if outcome.message else "Nothing was hidden."))

    # --- hiding ---------------------------------------------------------------------------

    def hide(
        self, agent: str, refs: Iterable[MessageRef], caller: Caller, *, asked: bool = False
    ) -> int:
        """Hide messages from every recall; return how many were not hidden before.

        `asked`: they are words of a request to forget, which anybody may hide, also in the middle
        of a write to another agent's memory: no agent's lock is taken. Raises NotAllowed for
        others of an agent that may not forget by itself.
        """
        decision = self._authority.decide(caller, agent, "forget", "brain")
        if decision.verdict != "allow" and not asked:
            raise errors.NotAllowed(f"Not allowed: {decision.reason}. Nothing was hidden.")
        if hidden := self.hiding.hide(refs):
            names, reason = tuple(map(audit.ref_text, hidden)), counted(len(hidden), "message")
            self.audit.note(caller, agent, "hide", "written", reason=reason, hidden=names)
        return len(hidden)

    def _saying(self, write: MemoryWrite, gone: Iterable[Fact]) -> tuple[Ref, ...]:
        """Return what said forgotten facts; an agent reaches its own records alone."""

        def edit(relative: str, change: Change) -> None:
            if self._store(relative, change, write.caller, "block ids for parts that are hidden"):
                self._indexer.refresh([relative])

        found = self.hiding.said(write.agent, gone, edit)
        person = write.caller.kind == "person"
        return tuple(one for one in found if person or one.agent == write.agent)

    def _unsaid(self, ask: Ask, step: Step) -> Step:
        """Hide the messages that say what no fact says, or tell what to do about it."""
        words = [one for one in dict.fromkeys(ask.words) if is_specific(one)]
        judged = self._judged(ask.write, step)
        if words and judged.outcome.outcome == "suggested":
            return judged
        # what an agent noted may hold what is masked: the words as said count, too
        said = self._saying(ask.write, [Fact(one, None) for one in words])
        hides, outcome = self.hiding.new(said), step.outcome
        if hides:
            outcome = replace(outcome, outcome="written", path="", message="No fact says it.")
        elif not words:
            outcome = also(outcome, "To hide messages about it, give a longer quote.")
        return replace(step, outcome=outcome, hidden=hides)

    # --- what a person edits ----------------------------------------------------------------

    def notice(self) -> None:
        """Give facts that the person reworded in a brain the day of that for their source."""
        for agent in self.paths.agent_names():
            path = self.paths.brain(agent)
            with suppress(errors.VaultMindError):  # a damaged one waits until it is mended
                if self.reader.stat(path) != self._noticed.get(agent):
                    self.edit(path, partial(self._redated, agent))
                    self._noticed[agent] = self.reader.stat(path)

    def _redated(self, agent: str, file: FileText | None) -> str | None:
        if file is None or brain.parse_brain(file.text).damaged:
            return None
        lines = audit.newest_first(self.paths, (agent,), audit.FACT_OPS, holding='"moves"')
        return changes.redated(file.text, lines, self.clock().date().isoformat())

    # --- rights ---------------------------------------------------------------------------

    def allow(self, agent: str, seen: str, caller: Caller) -> tuple[str, ...]:
        """Let an agent have what its identity asks for and the person has seen; return what.

        Raises BadArgument as `Authority.allow` does.
        """
        asked_for = self._authority.waiting(agent)
        self._authority.allow(agent, seen, caller)
        self.audit.note(caller, agent, "allow", "written", reason=mask("; ".join(asked_for)).text)
        return asked_for

    # --- records -------------------------------------------------------------------------

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        Returns the file as written, None when the change declined. Raises PathRefused for the files
        that `write` keeps, and for an agent that reaches into another's memory.
        """
        self._check_record(relative, caller)
        if written := self._store(relative, change, caller, reason):
            self._indexer.mark([relative])
        return written

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk. Raises PathRefused, WriteFailed."""
        self._check_record(relative, None)
        self._writer.append(relative, text)
        self._indexer.mark([relative])

    def remove(self, relative: str, caller: Caller, reason: str) -> None:
        """Remove a record, if it is there. Raises PathRefused, WriteFailed."""
        self._check_record(relative, caller)
        if self.reader.exists(relative):
            self._writer.remove(relative)
            self._indexer.mark([relative])
            self.told(caller, self.paths.agent_of(relative), "save", relative, reason)

    def edit(self, relative: str, change: Change) -> FileText | None:
        """Change a file that a person writes in, too. Raises BrokenMemory for a damaged one."""
        try:
            return self._writer.edit(relative, change)
        except errors.UnreadableNote as error:
            told = f"Not written: {relative} is damaged: {error.reason}. {brain.WRITING_WAITS}"
            raise errors.BrokenMemory(told, hint=brain.MEND) from error

    def told(self, caller: Caller, agent: str, op: str, path: str, reason: str) -> None:
        """Tell an agent's audit that a file was changed, without its text; nobody's tells none."""
        if agent:
            self.audit.note(caller, agent, op, "written", path=path, reason=mask(reason).text)

    def _store(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Change a record, and tell the audit where it was changed."""
        written = self._writer.edit(relative, change)
        if written is not None:
            self.told(caller, self.paths.agent_of(relative), "save", relative, reason)
        return written

    def _check_record(self, relative: str, caller: Caller | None) -> None:
        agent, name = self.paths.agent_of(relative), relative.rsplit("/", 1)[-1]
        kept = (self.paths.brain(agent), self.paths.archive(agent)) if agent else ()
        if relative in kept or (agent and name.startswith(("audit-", "tombstones-"))):
            raise errors.PathRefused(relative, "only `write` changes facts, audit and tombstones")
        if caller is None or caller.kind == "person":
            return
        if agent != caller.agent or relative == self.paths.identity(agent):
            raise errors.PathRefused(relative, f"{caller.agent} may only write its own records")

    def save_note(self, title: str, text: str, agent: str, caller: Caller, said: str) -> Outcome:
        """Save an answer as a new note, where the person allowed it. No note is ever changed.

        `said`: in which session, if known. Raises NotAllowed, BadArgument, PathRefused and
        WriteFailed; WriteConflict for a taken name.
        """
        decision = self._authority.decide(caller, agent, "remember", rights.BRAIN)
        if decision.verdict != "allow":
            raise errors.NotAllowed(f"Not allowed: {decision.reason}. Nothing was written.")
        path = notes.note_path(mask(title).text, self.settings.notes, self.paths)
        link = self.paths.link(MessageRef(agent, said, "")) if said else ""
        day, masked = self.clock().date().isoformat(), mask(f"{safe(text).strip()}\n")
        note, kinds = masked.text, masked.kinds
        about = {"created": day, "agent": agent, "session": f"[[{link}]]" if link else None}
        for name, value in about.items():
            note = set_property(note, name, value)

        told = {"after": path, "evidence": link, "sha": digest(note.encode())}
        line = self.audit.line(caller, agent, audit.NOTE, "written", **told)
        self.audit.write(line)
        try:
            self._notes.edit(path, lambda _: notes.only_new(path, note, self.paths))
        except errors.VaultMindError as error:
            self.audit.write(replace(line, outcome="unchanged", reason=mask(error.message).text))
            raise
        outcome = Outcome("written", agent, path=path, redacted=kinds)
        self._index(agent, outcome)
        return also(outcome, " ".join([f"Saved: {path}.", *stored_told("en", line.op, outcome)]))

    def _unsaved(self, line: AuditLine, caller: Caller) -> Outcome:
        """Remove a note that was saved, while it is as it was saved. Raises Conflict."""
        path = line.after
        if not self.reader.exists(path) or self.reader.read(path).sha != line.sha:
            raise changes.Conflict(f"{path} was edited, moved or deleted since it was saved.")
        self._notes.remove(path, line.sha)
        self.audit.note(caller, line.agent, audit.NOTE, "written", before=path, undoes=line.id)
        return Outcome("written", line.agent, path=path, message=f"{path} is deleted.")

    def text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        with suppress(errors.UnreadableNote, errors.NotFound, errors.PathRefused):
            return self.reader.read(path).text
        return ""

    def _index(self, agent: str, outcome: Outcome) -> None:
        """Bring the index up to date; the fact is on disk, so that a failure is only said."""
        if outcome.outcome == "written":
            files = [*{outcome.path, self.paths.brain(agent), self.paths.archive(agent)}]
            try:
                self._indexer.refresh(files)
            except errors.VaultMindError as error:
                self._indexer.mark(files)
                log.warning("%s was written and not indexed: %s", outcome.path, error)


def _sound(file: FileText | None, new: str) -> str:
    """Return a file's text, `new` where there is none. Raises UnreadableNote for a damaged one."""
    if file and (reason := brain.parse_brain(file.text).damaged):
        raise errors.UnreadableNote(file.path, reason)
    return file.text if file else new
