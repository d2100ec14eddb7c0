"""The way of one write of facts: rights → plan → judged → begun → files → hidden → audit.

A plan is made on the texts as they stand and made anew whenever a person's edit came first. What
takes facts first goes into the archive, then into the brain, then out of the archive: a crash in
between leaves a fact twice, never not at all, and `complete` makes the same moves again, which
changes nothing that was made, or takes back what came before the brain. The caller holds the
agent's lock.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaultmind.errors import VaultMindError
from vaultmind.memory.audit import (
    BEGUN,
    DROP,
    FOUND,
    JOINT,
    AuditLine,
    AuditLog,
    newest_first,
    ref_of,
    ref_text,
    refs_of,
    session_of,
)
from vaultmind.memory.brains import Brains
from vaultmind.memory.changes import (
    LABEL_WORDS,
    Ask,
    Step,
    make_room,
    plan,
    quoted,
    safe_write,
    stands_in_own_text,
)
from vaultmind.memory.forget.kinds import Edit, Ref
from vaultmind.memory.forget.taking import ERASABLES, Erasable
from vaultmind.memory.forget.tombstones import Hiding, hidden_words
from vaultmind.memory.late import FORGOTTEN, Late
from vaultmind.memory.moves import Move, Sizes
from vaultmind.memory.queue import Queue
from vaultmind.memory.rights import AUTO, VERDICTS, Authority, Decision, cautious, inferred
from vaultmind.memory.words import content
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import MARK, blank_private, has_household_code, mask
from vaultmind.tally import Tally
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome, OutcomeName
from vaultmind.vault.files import VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.writer import VaultWriter

GUESSED = "it was read out of a conversation, and nothing is forgotten by guess"
COMPLETED = "completed after it was cut short"
NOT_MADE = "cut short before anything was changed"
FULL = "so many suggestions of conversations wait already"
"""Why one more of extraction's is dropped."""
MOST_DROPS, MOST_CHARS = 20, 200
"""Facts of one session that were not kept and are told, a line each, and characters of one."""
UNTOLD = frozenset({"secret", "private", "asked not to keep", FORGOTTEN})
"""Reasons for which the words of a fact stand nowhere, not even in the audit."""
_WAITS = {
    "new": "not written yet: {reason}. It waits for the person's approval in {path}.",
    "waiting": "not written yet: {reason}. It waits already, in {path}.",
    "full": "not written: {reason} ({path}).",
    "rejected": "not written: the person has rejected this before ({path}).",
}
_WOULD = {
    "written": "{0} would be written to {2}.",
    "suggested": "{0} would wait for the person in {2}: {1}.",
    "denied": "{0} would not be written: {1}.",
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
        self.decision = decision
        self.step = step
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
    tally: Tally | None = None
    """Where it is counted what came of each write of a fact."""


@dataclass(frozen=True, slots=True)
class FactStores:
    """What a write of facts reads and changes beside the brain."""

    authority: Authority
    audit: AuditLog
    hiding: Hiding
    queue: Queue
    naming: Callable[[Caller], Edit]
    """For a caller, what gives ids to parts of records, to hide them by."""


class FactWriter:
    """Changes brains and archives. The caller holds the agent's lock."""

    def __init__(
        self,
        writer: VaultWriter,
        reader: VaultReader,
        stores: FactStores,
        clock: Clock,
        settings: GateSettings,
    ) -> None:
        self._reader = reader
        self.brains = Brains(writer, reader)
        self._paths = reader.paths
        self._stores = stores
        self._audit = stores.audit
        self._hiding = stores.hiding
        self._clock = clock
        self._settings = settings
        self._late = Late(self._paths, self.brains.text)
        self.sound: set[str] = set()
        """Agents whose last change is known to be whole."""

    # --- a write --------------------------------------------------------------------------

    def write(self, asked: MemoryWrite, witness: Witness | None) -> Outcome:
        """Change one agent's facts, or say why not. Raises BrokenMemory, WriteFailed."""
        ask = self._ask(asked)
        write = ask.write
        self.complete(write.agent)
        decision = self._decide(write, "brain")
        if refused := self._refused(ask, decision):
            return self._tell(write, refused)
        line = self._audit.line(write.caller, write.agent, write.op, "")
        try:
            step, ask = self._made(ask, witness, line)
            outcome, hidden = step.outcome, tuple[Ref, ...]()
            if step.unsaid and not inferred(write):
                outcome, hidden = self._hide_unsaid(ask, step, decision)
                if witness and outcome.outcome == "written":
                    ask = replace(ask, write=replace(write, evidence=witness()))
            elif write.op == "forget" and outcome.outcome == "written":
                outcome, hidden = self._hide_said(ask, step)
        except Held as held:
            return self._held(ask, held, witness)
        line = self._line(line, ask.write, outcome, step.moves)
        outcome = self._tell(ask.write, _shown(ask, outcome), line, hidden)
        return self.with_room(ask, outcome)

    def _made(self, ask: Ask, witness: Witness | None, line: AuditLine) -> tuple[Step, Ask]:
        """Make a write; return the step, and what was asked with the message that says it.

        Raises Held for one that is not to be made.
        """
        made: list[tuple[Step, Ask]] = []

        def judged(text: str | None) -> Step:
            now = made[-1][1] if made else ask
            step = plan(text, self.brains.text(ask.archive), now)
            if step.outcome.outcome == "written":
                self._judge(now.write, step)
                if witness and now is ask:
                    now = replace(ask, write=replace(ask.write, evidence=witness()))
                    step = plan(text, self.brains.text(ask.archive), now)
            made.append((step, now))
            return step

        def begin(step: Step) -> None:
            is_plain = ask.write.how not in FOUND and not step.gone and len(step.moves) == 1
            if not is_plain:
                self.begin(self._line(line, made[-1][1].write, step.outcome, step.moves))

        self.brains.carry_out(ask, judged, begin)
        return made[-1]

    def with_room(self, ask: Ask, outcome: Outcome) -> Outcome:
        """Make room in a brain that a write made too big: a change of its own, which it tells."""
        agent = ask.write.agent
        if outcome.outcome != "written" or self._stores.authority.level(agent) < AUTO:
            return outcome
        line = self._audit.line(ask.write.caller, agent, "archive", "written")
        made: list[Step] = []

        def step(text: str | None) -> Step:
            made[:] = [make_room(text or "", self.brains.text(ask.archive), ask, outcome.block)]
            return made[0]

        def told() -> AuditLine:
            moves = masked_moves(made[0].moves)
            texts = dict.fromkeys(move.fact.text for move in moves)
            return replace(line, before=JOINT.join(texts), path=ask.archive, moves=moves)

        self.brains.carry_out(ask, step, lambda _: self.begin(told()))
        if made[0].moves:
            self._audit.write(told())
            self.sound.add(agent)
        return replace(also(outcome, made[0].outcome.message), archived=made[0].outcome.archived)

    def would(self, asked: MemoryWrite) -> Outcome:
        """Return what a write would come to as the memory stands now; nothing is touched."""
        ask = replace(self._ask(asked), rng=random.Random(0))
        if refused := self._refused(ask, self._decide(ask.write, "brain")):
            return refused
        steps: list[Step] = []
        self.brains.edit_brain(
            ask, lambda text: steps.append(plan(text, self.brains.text(ask.archive), ask))
        )
        outcome = steps[-1].outcome
        try:
            if outcome.outcome == "written":
                self._judge(ask.write, steps[-1])
                outcome = replace(outcome, block=outcome.block if steps[-1].gone else "")
        except Held as held:
            name: OutcomeName = "denied" if held.decision.verdict == "deny" else "suggested"
            path = ask.paths.suggestions if name == "suggested" else outcome.path
            reason = held.decision.reason
            outcome = replace(outcome, outcome=name, reason=reason, path=path, before="", block="")
        if told := _WOULD.get(outcome.outcome):
            words = quoted(outcome.fact or ask.write.text)
            outcome = replace(outcome, message=told.format(words, outcome.reason, outcome.path))
        return _shown(ask, outcome)

    def _ask(self, write: MemoryWrite) -> Ask:
        safe, kinds = safe_write(write)
        words = (write.old, safe.old) if safe.op == "replace" else (write.text, safe.text)
        return replace(self.asking(safe, words), redacted=kinds)

    def asking(self, write: MemoryWrite, words: tuple[str, ...]) -> Ask:
        """Return a write that is safe to store, with what it needs to know of the memory."""
        language = self._stores.authority.identity(write.agent).language or "en"
        today, sizes = self._clock().date(), self._settings.sizes
        return Ask(write, words, self._paths, today, sizes, self._settings.rng, language)

    # --- who may --------------------------------------------------------------------------

    def _decide(self, write: MemoryWrite, scope: str) -> Decision:
        return self._stores.authority.decide(write.caller, write.agent, write.op, scope)

    def _refused(self, ask: Ask, decision: Decision) -> Outcome | None:
        """Return what a write that must not happen comes to; None for one that may."""
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
        decision = cautious(write, decision, enabled=self._settings.caution)
        doubt = write.hold or step.doubt
        if inferred(write) and decision.verdict != "deny":
            late = self._late.hindrance(write, step.gone)
            if late and (late[1] or decision.verdict == "allow"):
                raise Held(late[0], step, late[1])
            doubt = GUESSED if write.op == "forget" else doubt
        if decision.verdict == "allow" and doubt:
            decision = Decision("suggest", doubt)
        if decision.verdict != "allow":
            raise Held(decision, step)

    def _held(self, ask: Ask, held: Held, witness: Witness | None) -> Outcome:
        """Put before the person what may not be written, or refuse it; return what that came to."""
        write, outcome, reason = ask.write, held.step.outcome, held.decision.reason
        if held.decision.verdict == "deny":
            said, dropped = "Not written" if held.dropped else "Not allowed", held.dropped
            message = f"{said}: {reason}. Nothing was changed."
            outcome = replace(outcome, outcome="denied", message=message, reason=reason, before="")
        else:
            write, outcome, dropped = self._put(ask, held, witness)
        if dropped:
            ref = write.evidence or MessageRef(write.agent, "", "")
            self.drop(write.agent, ref.session, [(write.text, dropped, (ref.block,))], write.caller)
            return _shown(ask, outcome)
        return self._tell(write, _shown(ask, outcome))

    def _put(
        self, ask: Ask, held: Held, witness: Witness | None
    ) -> tuple[MemoryWrite, Outcome, str]:
        """Return a held write as it waits, its outcome, and why extraction's is dropped instead."""
        reason, write = held.decision.reason, _readable(ask.write, held.step)
        put = self._stores.queue.seen(write)
        if put.state == "new":
            write = replace(write, evidence=witness() if witness else write.evidence)
            why = reason if write.how in FOUND else ""  # an agent gives a reason of its own
            told = dict.fromkeys(part for part in (write.reason, write.hold, why) if part)
            waiting = replace(write, reason=" · ".join(told))
            put = self._stores.queue.put(waiting, ask.language)
        full = put.state == "full"
        path, reason = ask.paths.suggestions, FULL if full else reason
        message = f"{quoted(write.text)}: {_WAITS[put.state].format(reason=reason, path=path)}"
        name: OutcomeName = "suggested" if put.state in ("new", "waiting") else "denied"
        outcome = replace(
            held.step.outcome, outcome=name, message=message, reason=reason, path=path,
            block=put.id, before="" if full else held.step.outcome.before,
        )  # fmt: skip
        return write, outcome, "too many" if full else ""

    # --- forgetting -----------------------------------------------------------------------

    def _hide_said(self, ask: Ask, step: Step) -> tuple[Outcome, tuple[Ref, ...]]:
        """Hide what said a forgotten fact; an agent reaches its own records alone."""
        write = ask.write
        found = self._hiding.said(write.agent, step.gone, self._stores.naming(write.caller))
        own = tuple(
            one for one in found if write.caller.kind == "person" or one.agent == write.agent
        )
        return _with_hidden(step.outcome, self._hiding.hide(own), "said it"), own

    def _hide_unsaid(
        self, ask: Ask, step: Step, decision: Decision
    ) -> tuple[Outcome, tuple[Ref, ...]]:
        """Hide the messages that say what no fact says, or tell what to do about it.

        Raises Held for what waits.
        """
        write, words, agent = ask.write, ask.write.text, ask.write.agent
        both = dict.fromkeys(ask.words)  # notes of agents may hold what a message has masked
        if decision.verdict != "allow" or write.hold:
            if any(self._hiding.finds(agent, one) for one in both):
                raise Held(Decision("suggest", write.hold or decision.reason), step)
            return step.outcome, ()
        naming = self._stores.naming(write.caller)
        said = (self._hiding.saying(agent, one, naming) for one in both)
        refs = tuple(dict.fromkeys(ref for each in said for ref in each))
        hid = self._hiding.hide(refs)
        own = stands_in_own_text(self.brains.text(ask.path), words)
        here = f"in {ask.path} as your own text; edit it there."
        if hid:
            sessions = {(one.agent, one.session) for one in hid if isinstance(one, MessageRef)}
            path = self._paths.session(*sessions.pop()) if len(sessions) == 1 else ""
            outcome = replace(step.outcome, outcome="written", path=path, nearest=())
            outcome = _with_hidden(replace(outcome, message="No fact said it;"), hid, "did")
            return also(outcome, f"It also stands {here}" if own else ""), refs
        if own:
            message = f"No fact says {quoted(words)}. It stands {here}"
        elif mentioned := self._hiding.mentioned(agent, words):
            verb = "mentions" if mentioned == 1 else "mention"
            message = f"{step.outcome.message} {counted(mentioned, 'message')} {verb} it. To hide"
            message += " what was said, give two words or more of it."
        elif step.outcome.nearest:
            message = step.outcome.message
        else:
            message = f"Nothing in {agent}'s memory says {quoted(words)}."
        return replace(step.outcome, message=message), ()

    # --- the audit ------------------------------------------------------------------------

    def begin(self, line: AuditLine) -> None:
        """Write down that a change is begun. Raises WriteFailed."""
        self._audit.write(replace(line, outcome=BEGUN))
        self.sound.discard(line.agent)

    def _line(
        self, line: AuditLine, write: MemoryWrite, outcome: Outcome, moves: Sequence[Move]
    ) -> AuditLine:
        """Return a line with what a write came to; its texts are masked."""
        is_written = outcome.outcome == "written"
        before = outcome.before
        if not before and not is_written and write.op != "remember":
            before = write.old or write.text
        took_place = write.op == "remember" and is_written and before
        return replace(
            line,
            op="replace" if took_place else write.op,
            outcome=outcome.outcome,
            section=outcome.section or "",
            before=mask(before).text,
            after="" if write.op == "forget" else mask(outcome.fact or write.text).text,
            evidence=self._audit.evidence(write.evidence),
            reason=" · ".join(part for part in (outcome.reason, write.reason) if part),
            path=outcome.path,
            block=outcome.block,
            how=write.how if write.how in FOUND else "",
            moves=masked_moves(moves) if is_written else (),
        )

    def _tell(
        self,
        write: MemoryWrite,
        outcome: Outcome,
        line: AuditLine | None = None,
        hidden: Sequence[Ref] = (),
    ) -> Outcome:
        """Write the line of what a write came to; a change that is on disk stays true without."""
        if line is None:
            line = self._audit.line(write.caller, write.agent, write.op, "")
            line = self._line(line, write, outcome, ())
        line = replace(line, hidden=tuple(map(ref_text, hidden)))
        home = write.agent
        if outcome.outcome != "written" and home not in self._paths.agent_names():
            home = write.caller.agent or home  # what is not written makes no folder
        try:
            self._audit.write(line, home)
        except VaultMindError as error:
            if outcome.outcome != "written":
                raise
            log.error("the audit line of a write is missing: %s", error)
            why = f"the audit could not be written: {error}"
            return also(
                replace(outcome, reason=outcome.reason or why), f"{why[0].upper()}{why[1:]}"
            )
        self.sound.add(write.agent)
        return outcome

    def drop(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Tell the audit of facts that were not kept and not told before; return how many.

        At most `MOST_DROPS` of one session.
        """
        lines = newest_first(self._paths, (agent,), (DROP,), session)
        known = Counter((one.after, one.reason) for one in lines if session_of(one) == session)
        room, told = MOST_DROPS - known.total(), 0
        for text, reason, evidence in dropped:
            safe = "" if reason in UNTOLD else one_line(mask(blank_private(text)).text)
            safe = safe if len(safe) <= MOST_CHARS else f"{safe[: MOST_CHARS - 1].rstrip()}…"
            known[safe, reason] -= 1
            if known[safe, reason] >= 0 or told >= room:
                continue
            block = next((one for one in reversed(evidence) if one[1:].isdigit()), "")
            source = self._audit.evidence(MessageRef(agent, session, block) if session else None)
            self._audit.note(
                caller, agent, DROP, "dropped", after=safe, reason=reason, evidence=source
            )
            told += 1
        return told

    # --- what a crash cut short -----------------------------------------------------------

    def complete(self, agent: str) -> None:
        """Complete the change of an agent's facts that a crash cut short, if there is one.

        Where that fails the change waits, and is tried again; no other write has to.
        """
        if agent in self.sound:
            return
        try:
            while line := self._audit.unfinished(agent):
                for path in (self._paths.brain(agent), self._paths.archive(agent)):
                    if self._reader.exists(path):
                        self._reader.read(path)  # raises where it is no text
                self._complete(line)
            self.sound.add(agent)
        except (VaultMindError, OSError) as error:
            log.warning("what was cut short in the memory of %s waits: %s", agent, error)

    def _complete(self, line: AuditLine) -> None:
        """Make the moves of a line once more, and what belongs to it.

        Where the brain had not been changed yet they are not made: whoever asked was told so.
        """
        person = line.caller == "person"
        caller = Caller("person" if person else "agent", "" if person else line.caller, line.client)
        write = MemoryWrite(
            "forget", line.agent, caller, line.before if line.op == "forget" else line.after,
            evidence=ref_of(line.evidence), reason=line.reason,
        )  # fmt: skip
        ask = self.asking(write, (write.text,))
        moves = tuple(move for move in line.moves if move.whole or not move.came)
        step = Step(Outcome("written", line.agent), moves)
        if not self.brains.is_made(ask, moves):
            self.brains.take_back(ask, moves)
            self._audit.write(replace(line, outcome="unchanged", reason=NOT_MADE))
            return
        self.brains.carry_out(ask, lambda text: step, lambda step: None)
        self._hiding.show(refs_of(line.shown))
        hidden = line.hidden
        if line.op == "forget" and not line.undoes:
            gone = [move.fact for move in moves if not move.came]
            gone += [Fact(one, None) for one in line.before.split(JOINT)]
            hidden = tuple(map(ref_text, self._hide_said(ask, replace(step, gone=tuple(gone)))[1]))
        self._hiding.hide(refs_of(hidden))
        reason = " · ".join(filter(None, (line.reason, COMPLETED)))
        self._audit.write(replace(line, outcome="written", reason=reason, hidden=hidden))


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    return (
        replace(outcome, message=f"{outcome.message} {sentence}".strip()) if sentence else outcome
    )


def _with_hidden(outcome: Outcome, refs: Sequence[Ref], said: str) -> Outcome:
    """Return an outcome that tells of what was hidden."""
    messages = sum(isinstance(one, MessageRef) for one in refs)
    return replace(also(outcome, hidden_words(refs, said)), hidden_messages=messages)


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


def masked_moves(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return moves as the audit may hold them."""
    safe = ((move, mask(move.line).text) for move in moves)
    return tuple(
        replace(move, line=line, whole=move.whole and line == move.line) for move, line in safe
    )


def _shown(ask: Ask, outcome: Outcome) -> Outcome:
    """Return an outcome as it may be shown: secrets masked, and what was taken out named."""
    if ask.redacted:
        outcome = also(outcome, f"Taken out before storing: {', '.join(ask.redacted)}.")
    is_kept = ask.write.op != "forget" and outcome.outcome == "written"
    if is_kept and has_household_code(outcome.fact):
        outcome = also(outcome, "The code stands in plain text in your vault.")
    return safe_outcome(outcome)


def safe_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome with the secrets in its texts masked."""
    fact, before, message = (
        mask(getattr(outcome, key)).text for key in ("fact", "before", "message")
    )
    nearest = tuple(mask(text).text for text in outcome.nearest)
    return replace(outcome, fact=fact, before=before, message=message, nearest=nearest)
