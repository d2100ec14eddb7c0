"""How facts change: secrets out → rights → plan → suggestion or files → limits → audit → index.

A plan is made on the texts as they stand and made anew whenever a person's edit came first. Its
line stands in the audit before the first file changes; then the archive changes, then the brain.
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
from typing import Any

from vaultmind import errors
from vaultmind.language.words import content
from vaultmind.memory import audit
from vaultmind.memory.brain import (
    JOINT,
    MEND,
    WRITING_WAITS,
    apply,
    damage,
    masked,
    new_brain,
    own_text,
)
from vaultmind.memory.changes import Ask, Sizes, Step, named, plan, quoted, safe_write, with_room
from vaultmind.memory.forget.hiding import Hiding, RecordKind, Ref, hidden_words
from vaultmind.memory.forget.taking import ERASABLES, Erasable
from vaultmind.memory.match import is_specific, mentions, repeats
from vaultmind.memory.rights import AUTO, VERDICTS, Authority, Decision, cautious, inferred
from vaultmind.memory.suggestions import Queue
from vaultmind.memory.wording import phrase
from vaultmind.ports import Clock, FileIndexer
from vaultmind.redact import MARK, blank_private, has_household_code, mask
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.writer import VaultWriter

TRIES = 25
"""How often a write starts anew because someone else's edit came first."""
LABEL_WORDS = 3
"""A secret with so few words of content beside it is a secret with its label: no fact."""
GUESSED = "it was read out of a conversation, and nothing is forgotten by guess"
MOST_DROPS, MOST_CHARS = 20, 200
"""Facts of one session that were not kept and are told, a line each, and characters of one."""
FORGOTTEN = "forgotten"
UNTOLD = frozenset({"secret", "private", "asked not to keep", FORGOTTEN})
"""Reasons for which the words of a fact stand nowhere, not even in the audit."""
_WAITS = {
    "new": "not written yet: {reason}. It waits for the person's approval in {path}.",
    "waiting": "not written yet: {reason}. It waits already, in {path}.",
    "full": "not written: so many suggestions of conversations wait already ({path}).",
    "rejected": "not written: the person has rejected this before ({path}).",
}

Dropped = tuple[str, str, tuple[str, ...]]
"""A fact that was not kept, why, and the blocks or ids of the messages that it came from."""
Witness = Callable[[], MessageRef | None]
"""Logs the words asked with, when a write is about to be made; returns where they stand."""

log = logging.getLogger(__name__)


class Held(Exception):
    """A step that must not be written as it is: it waits for the person, or is refused."""

    def __init__(self, decision: Decision, step: Step, dropped: str = "") -> None:
        super().__init__(decision.reason)
        self.decision, self.step = decision, step
        self.dropped = dropped
        """Under which reason extraction's audit tells it; empty where it is no drop."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate needs to know about this device and its configuration."""

    device: str
    """Names this device's audit and tombstone files: letters, digits and dashes."""
    rng: random.Random = field(default_factory=random.Random)
    """Where block ids come from."""
    caution: bool = False
    """Whether an agent's sensitive facts wait for the person."""
    sizes: Sizes = field(default_factory=Sizes)
    """How big a brain may be."""
    erasables: tuple[Erasable, ...] = ERASABLES
    """The kinds of record that an erasure reaches."""
    state_dir: Path | None = None
    """The folder of index and log: an erasure cleans and searches it, too."""
    """Where it is counted what came of each write of a fact."""


class Facts:
    """Changes brains and archives. One per vault; any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        settings: GateSettings,
        kinds: Sequence[RecordKind],
        indexer: FileIndexer,
        authority: Authority,
        clock: Clock,
    ) -> None:
        self.paths, self.settings, self._indexer = paths, settings, indexer
        self._authority, self.clock = authority, clock
        self._writer = VaultWriter(paths)
        self.reader = VaultReader(paths, max_bytes=0)
        self.audit = audit.AuditLog(paths, settings.device, self._writer.append, clock)
        self.hiding = Hiding(paths, settings.device, kinds, self._writer.append, clock)
        self.queue = Queue(self)
        """What waits for the person."""
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    # --- facts ---------------------------------------------------------------------------

    def write(self, write: MemoryWrite, witness: Witness | None = None) -> Outcome:
        """Change one agent's facts, or say why not. Never both lost, never one twice.

        `witness` is called before something is written, and only then: a request that comes to
        nothing leaves no words behind. Raises BadArgument for empty or over-long texts;
        WriteConflict, BrokenMemory and WriteFailed when nothing was written.
        """
        return self.write_approved(in_name(write), witness)

    def write_approved(self, write: MemoryWrite, witness: Witness | None = None) -> Outcome:
        """Change facts in the name of the caller, who has approved it where that is the person."""
        agent = agent_name(write.agent)
        with self._locks[agent]:
            outcome = self._asked(self._ask(write), witness)
        self._index(agent, outcome)
        return outcome

    def _asked(self, ask: Ask, witness: Witness | None) -> Outcome:
        line = self.audit.line(ask.write.caller, ask.write.agent, ask.write.op, "")
        if refused := self._refused(ask):
            return refused if ask.dry else self._tell(line, ask.write, Step(refused))
        try:
            step, ask = self._made(ask, witness, line)
            if ask.dry or step.written:
                return _shown(ask, step).outcome
            if step.unsaid and not inferred(ask.write):
                step = self._hide_unsaid(ask, step)
                if witness and step.written:
                    ask = replace(ask, write=replace(ask.write, evidence=witness()))
        except Held as held:
            return self._held(ask, held, witness)
        return self._tell(line, ask.write, _shown(ask, step))

    def _made(self, ask: Ask, witness: Witness | None, line: audit.AuditLine) -> tuple[Step, Ask]:
        """Make a write; return the step, and what was asked with the message that says it.

        Raises Held for one that is not to be made.
        """
        makes_room = self._authority.level(ask.write.agent) >= AUTO

        def step_of(brain: str, archive: str) -> Step:
            nonlocal ask, witness
            step = plan(brain, archive, ask)
            if not step.written:
                return step
            self._judge(ask.write, step)
            if witness and not ask.dry:
                ask = replace(ask, write=replace(ask.write, evidence=witness()))
                witness, step = None, plan(brain, archive, ask)
            if ask.write.op == "forget" and not ask.dry:
                return replace(step, hidden=self._saying(ask.write, step.gone))
            return with_room(step, brain, archive, ask) if makes_room else step

        return self._change(ask, step_of, lambda step: self._line(line, ask.write, step)), ask

    def _change(
        self,
        ask: Ask,
        step_of: Callable[[str, str], Step],
        line_of: Callable[[Step], audit.AuditLine],
    ) -> Step:
        """Make a step of brain and archive.

        Its line, what it hides and the archive come first: wherever it is cut short, no fact is
        lost, and nothing that was forgotten is recalled.
        """
        step, hid = Step(ask.outcome("unchanged", "")), list[Ref]()

        def change(file: FileText | None) -> str | None:
            nonlocal step
            _check_sound(ask.path, file)
            text = file.text if file else new_brain(ask.write.agent, ask.language)
            step = step_of(text, self._text(ask.archive))
            if ask.dry or not step.written:
                return None
            new = apply(text, step.moves, archive=False, language=ask.language)
            self.audit.write(line_of(step))
            hid.extend(self.hiding.hide(step.hidden))
            if any(move.archive for move in step.moves):
                self.edit(ask.archive, partial(_archived, ask, step))
            return None if all(move.archive for move in step.moves) else new

        try:
            self._writer.edit(ask.path, change, TRIES)
        except errors.VaultMindError as error:
            if step.written:
                self.hiding.show(hid)
                why = mask(f"it failed: {error}").text
                failed = replace(line_of(step), outcome="unchanged", reason=why, hidden=())
                self.audit.write(failed)
            if not isinstance(error, errors.UnreadableNote):
                raise
            told = f"Not written: {error.path} is damaged: {error.reason}. {WRITING_WAITS}"
            raise errors.BrokenMemory(told, hint=MEND) from error
        return with_hidden(step, hid, "said it")

    def _ask(self, write: MemoryWrite) -> Ask:
        safe, kinds = safe_write(write)
        words = (write.old, safe.old) if safe.op == "replace" else (write.text, safe.text)
        language = self._authority.identity(safe.agent).language or "en"
        today, sizes, rng = self.clock().date(), self.settings.sizes, self.settings.rng
        return Ask(safe, words, self.paths, today, sizes, rng, language, kinds)

    def _text(self, path: str) -> str:
        """Return a file's text; empty where there is none that can be read."""
        with suppress(errors.UnreadableNote, errors.NotFound):
            return self.reader.read(path).text
        return ""

    # --- who may --------------------------------------------------------------------------

    def _decide(self, write: MemoryWrite, scope: str) -> Decision:
        return self._authority.decide(write.caller, write.agent, write.op, scope)

    def _refused(self, ask: Ask) -> Outcome | None:
        """Return what a write that must not happen comes to; None for one that may."""
        decision = self._decide(ask.write, "brain")
        if decision.verdict == "deny":
            message = f"Not allowed: {decision.reason}. Nothing was changed."
            return replace(ask.outcome("denied", message), reason=decision.reason)
        marks = [mark.group()[1:-1] for mark in MARK.finditer(ask.write.text)]
        rest = content(MARK.sub(" ", ask.write.text))
        label = 0 if set(marks) <= {"private passage", "own pattern"} else LABEL_WORDS
        if ask.write.op == "forget" or not marks or len(rest) > label:
            return None
        kinds = ", ".join(ask.redacted or dict.fromkeys(marks))
        message = f"Only a secret ({kinds}) was given. Nothing was stored: secrets are never"
        message += " kept, and without it nothing is left. Say what it is for, or where it is."
        return replace(ask.outcome("denied", message), reason="nothing was left but a secret")

    def _judge(self, write: MemoryWrite, step: Step) -> None:
        """Raise Held for a step that the caller may not make alone.

        It is judged once it is known what it touches, on the text it would be written over: a
        grant for one section never changes another, whatever a person edits meanwhile.
        """
        scopes = {step.outcome.section or "brain", *(one.section or "brain" for one in step.gone)}
        decisions = [self._decide(write, scope) for scope in scopes]
        decision = min(decisions, key=lambda one: VERDICTS.index(one.verdict))
        decision = cautious(write, decision, enabled=self.settings.caution)
        doubt = write.hold or step.doubt
        if inferred(write) and decision.verdict != "deny":
            newer = next((one for one in step.gone if _is_older(write, one)), None)
            if write.op != "forget" and self._was_forgotten(write):
                why = "it was forgotten after it was said"
                raise Held(Decision("deny", why), step, FORGOTTEN)
            if newer:
                raise Held(Decision("deny", f"{named(newer)} was said later"), step, "taken back")
            doubt = GUESSED if write.op == "forget" else doubt
        if decision.verdict == "allow" and doubt:
            decision = Decision("suggest", doubt)
        if decision.verdict != "allow":
            raise Held(decision, step)

    def _was_forgotten(self, write: MemoryWrite) -> bool:
        """Tell whether the person had a fact forgotten after it was said."""
        lines = audit.newest_first(self.paths, (write.agent,), ("forget",), '"op": "forget"')
        said = audit.moment(write.said_on)
        return any(
            line.outcome == "written"
            and not (line.undoes or line.undone_by)
            and said <= line.moment
            and any(repeats(write.text, one) for one in (line.before, *line.before.split(JOINT)))
            for line in lines
        )

    def _held(self, ask: Ask, held: Held, witness: Witness | None) -> Outcome:
        """Put before the person what may not be written, or refuse it; return what that came to."""
        write, step, reason, dropped = ask.write, held.step, held.decision.reason, held.dropped
        outcome = replace(step.outcome, outcome="denied", reason=reason)
        if held.decision.verdict == "deny":
            message = f"Not {'written' if dropped else 'allowed'}: {reason}. Nothing was changed."
            outcome = replace(outcome, before="", message=message)
        else:
            write = _readable(write, step)
            state, block = self.queue.seen(write)
            if state == "new" and not ask.dry:
                write = replace(write, evidence=witness() if witness else write.evidence)
                found = write.how in audit.FOUND  # an agent gives a reason of its own
                whys = dict.fromkeys((write.reason, write.hold, reason if found else ""))
                asked = replace(write, reason=" · ".join(filter(None, whys)))
                state, block = self.queue.put(asked, ask.language)
            path = self.paths.suggestions
            message = f"{quoted(write.text)}: {_WAITS[state].format(reason=reason, path=path)}"
            outcome = replace(outcome, message=message, path=path, block=block)
            if state in ("new", "waiting"):
                outcome = replace(outcome, outcome="suggested")
            dropped = "too many" if state == "full" else ""
        shown = _shown(ask, replace(step, outcome=outcome, moves=()))
        if ask.dry:
            return shown.outcome
        if dropped:
            ref = write.evidence or MessageRef(write.agent, "", "")
            told = [(write.text, dropped, (ref.block,))]
            self.dropped(write.agent, ref.session, told, write.caller)
            return shown.outcome
        return self._tell(self.audit.line(write.caller, write.agent, write.op, ""), write, shown)

    # --- the audit ------------------------------------------------------------------------

    def _line(self, line: audit.AuditLine, write: MemoryWrite, step: Step) -> audit.AuditLine:
        """Return a line with what a write came to; its texts are masked."""
        outcome, before = step.outcome, step.outcome.before
        if not before and write.op != "remember":
            before = write.old or write.text
        took_place = write.op == "remember" and step.written and before
        return replace(
            line,
            op="replace" if took_place else write.op,
            outcome=outcome.outcome,
            section=outcome.section or "",
            before=mask(before).text,
            after="" if write.op == "forget" else mask(outcome.fact or write.text).text,
            evidence=self.audit.evidence(write.evidence),
            reason=" · ".join(part for part in (outcome.reason, write.reason) if part),
            path=outcome.path,
            block=outcome.block,
            how=write.how if write.how in audit.FOUND else "",
            moves=masked(step.moves) if step.written else (),
            hidden=tuple(map(audit.ref_text, step.hidden)),
        )

    def _tell(self, line: audit.AuditLine, write: MemoryWrite, step: Step) -> Outcome:
        """Write the line of what a write that changed no file came to."""
        home = write.agent
        if not step.written and home not in self.paths.agent_names():
            home = write.caller.agent or home  # what is not written makes no folder
        self.audit.write(self._line(line, write, step), home)
        return step.outcome

    def dropped(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> None:
        """Tell the audit what extraction found in a session and did not keep.

        What was told before is not told again, and nothing for an agent at autonomy 0.
        """
        if agent not in self.paths.agent_names() or not self._authority.keeps_records(agent):
            return
        with self._locks[agent]:
            lines = audit.newest_first(self.paths, (agent,), (audit.DROP,), session)
            known = {(one.after, one.reason) for one in lines if audit.session_of(one) == session}
            for text, reason, evidence in dropped:
                safe = "" if reason in UNTOLD else one_line(mask(blank_private(text)).text)
                safe = safe if len(safe) <= MOST_CHARS else f"{safe[: MOST_CHARS - 1].rstrip()}…"
                if (safe, reason) not in known and len(known) < MOST_DROPS:
                    known.add((safe, reason))
                    block = next((one for one in reversed(evidence) if one[1:].isdigit()), "")
                    ref = MessageRef(agent, session, block) if session else None
                    about = {"after": safe, "reason": reason, "evidence": self.audit.evidence(ref)}
                    self.audit.note(caller, agent, audit.DROP, "dropped", **about)

    # --- hiding ---------------------------------------------------------------------------

    def _saying(self, write: MemoryWrite, gone: Iterable[Fact]) -> tuple[Ref, ...]:
        """Return what said forgotten facts; an agent reaches its own records alone."""
        found = self.hiding.said(write.agent, gone, self._naming(write.caller))
        person = write.caller.kind == "person"
        return tuple(one for one in found if person or one.agent == write.agent)

    def _hide_unsaid(self, ask: Ask, step: Step) -> Step:
        """Hide the messages that say what no fact says, or tell what to do about it.

        Raises Held for what waits.
        """
        words = [one for one in dict.fromkeys(ask.words) if is_specific(one)]
        decision = self._decide(ask.write, "brain")
        if words and (decision.verdict != "allow" or ask.write.hold):
            raise Held(Decision("suggest", ask.write.hold or decision.reason), step)
        facts = [Fact(one, None) for one in words]  # what an agent noted may hold what is masked
        refs = self._saying(ask.write, facts)
        hid = self.hiding.hide(refs)
        if hid:
            outcome = replace(step.outcome, outcome="written", path="", nearest=())
            outcome = replace(outcome, message="No fact said it;")
            step = with_hidden(replace(step, outcome=outcome, hidden=hid), hid, "did")
        elif not words:
            tip = "To hide what was said, say more of it."
            step = replace(step, outcome=also(step.outcome, tip))
        prose = own_text(blank_private(self._text(ask.path)))
        there = any(mentions(paragraph, ask.write.text) for paragraph in prose)
        own = f"It stands in {ask.path} as your own text; edit it there." if there else ""
        return replace(step, outcome=also(step.outcome, own))

    # --- files ---------------------------------------------------------------------------

    def _saved(self, caller: Caller, path: str, reason: str) -> None:
        """Record that a record was stored, without its text."""
        if agent := self.paths.agent_of(path):
            self.told(caller, agent, "save", path, reason)

    def _naming(self, caller: Caller) -> Callable[[str, Change], None]:
        """Return what changes a record so that its parts can be named, and hidden by that."""

        def edit(relative: str, change: Change) -> None:
            if self.edit(relative, change) is not None:
                self._saved(caller, relative, "parts are named, to be hidden")
                self._indexer.refresh([relative])

        return edit

    def edit(self, relative: str, change: Change) -> FileText | None:
        return self._writer.edit(relative, change, TRIES)

    def _index(self, agent: str, outcome: Outcome) -> None:
        """Bring the index up to date; the fact is on disk, so that a failure is only said."""
        if outcome.outcome == "written":
            files = [self.paths.brain(agent), self.paths.archive(agent)]
            try:
                self._indexer.refresh(files)
            except errors.VaultMindError as error:
                self._indexer.mark(files)
                log.warning("%s was written and not indexed: %s", outcome.path, error)

    def told(self, caller: Caller, agent: str, op: str, path: str, reason: str) -> None:
        """Tell an agent's audit of a change that was made to a file which is nobody's."""
        self.audit.note(caller, agent, op, "written", path=path, reason=mask(reason).text)


def _check_sound(path: str, file: FileText | None) -> None:
    if file and (reason := damage(file.text)):
        raise errors.UnreadableNote(path, reason)


def _archived(ask: Ask, step: Step, file: FileText | None) -> str:
    _check_sound(ask.archive, file)
    text = file.text if file else f"# {ask.write.agent.capitalize()} - Archive\n"
    return apply(text, step.moves, archive=True, language=ask.language)


def _is_older(write: MemoryWrite, fact: Fact) -> bool:
    """Tell whether a write was said before a fact whose place it would take."""
    if fact.evidence and write.evidence:
        return _place(write.evidence) < _place(fact.evidence)
    return fact.written > write.said_on[:10]


def _place(ref: MessageRef) -> tuple[str, int]:
    """Return where a message stands in time: in the session of which day, as which one."""
    return ref.session, int("".join(filter(str.isdigit, ref.block)) or 0)


def in_name(write: MemoryWrite) -> MemoryWrite:
    """Return a write with the caller whose rights it has: extraction has none but the agent's."""
    if write.how not in audit.FOUND or write.caller.kind == "agent":
        return write
    return replace(write, caller=Caller("agent", agent_name(write.agent), write.caller.client))


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    message = f"{outcome.message} {sentence}".strip()
    return replace(outcome, message=message) if sentence else outcome


def with_hidden(step: Step, refs: Sequence[Ref], said: str) -> Step:
    """Return a step that tells of what was hidden."""
    messages = sum("/" not in one.session for one in refs)
    outcome = replace(also(step.outcome, hidden_words(refs, said)), hidden_messages=messages)
    return replace(step, outcome=outcome)


def _readable(write: MemoryWrite, step: Step) -> MemoryWrite:
    """Return the write as a person can read it: a fact by its words, not by its block id."""
    words = mask(step.gone[0].text).text if step.gone else ""
    if write.op == "forget":
        return replace(write, text=words or write.text)
    if write.op == "replace":
        return replace(write, old=words or write.old)
    if step.outcome.before:  # it would take a fact's place: the person sees which
        before = mask(step.outcome.before).text
        return replace(write, op="replace", old=before, section=step.outcome.section)
    return replace(write, section=step.outcome.section)


def _shown(ask: Ask, step: Step) -> Step:
    """Return a step as it may be shown: secrets masked, and what was taken out named."""
    outcome = step.outcome
    if ask.redacted:
        outcome = also(outcome, f"Taken out before storing: {', '.join(ask.redacted)}.")
    if ask.write.op != "forget" and step.written and has_household_code(outcome.fact):
        outcome = also(outcome, phrase("en", "code"))
    return replace(step, outcome=safe_outcome(outcome))


def safe_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome with the secrets in its texts masked."""
    texts: dict[str, Any] = {
        key: mask(getattr(outcome, key)).text for key in ("fact", "before", "message")
    }
    nearest = tuple(mask(text).text for text in outcome.nearest)
    return replace(outcome, nearest=nearest, **texts)
