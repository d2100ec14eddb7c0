"""The way of one write of facts: rights → plan → judged → begun → files → hidden → audit.

A plan is made on the texts as they stand and made anew whenever a person's edit came first. What
takes facts first goes into the archive, then into the brain, then out of the archive: a crash in
between leaves a fact twice, never not at all, and `complete` finishes what was begun. The caller
holds the agent's lock.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaultmind.errors import NotFound, VaultMindError
from vaultmind.memory.asked import Asked
from vaultmind.memory.audit import (
    BEGUN,
    DROP,
    FOUND,
    JOINT,
    AuditLine,
    AuditLog,
    Move,
    find_line,
    newest_first,
    ref_of,
    ref_text,
    refs_of,
    session_of,
)
from vaultmind.memory.brains import Brains, find_move, says
from vaultmind.memory.changes import Ask, Step, plan, within_limits
from vaultmind.memory.doubts import quoted
from vaultmind.memory.forget.erasable import ERASABLES, Erasable
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import Edit, Ref
from vaultmind.memory.held import Held, Witness, suggest, would_be
from vaultmind.memory.late import FORGOTTEN, Late
from vaultmind.memory.limits import Sizes, Use, Weighing
from vaultmind.memory.queue import Queue
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.policy import AUTO, VERDICTS, Decision, cautious, inferred
from vaultmind.memory.undo import Conflict, check_undoable, take_back
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import blank_private, has_household_code, mask
from vaultmind.tally import Tally
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.writer import VaultWriter

TRIES = 25
"""How often a write starts anew because someone else's edit came first."""
GUESSED = "it was read out of a conversation, and nothing is forgotten by guess"
COMPLETED = "completed after it was cut short"
NOT_MADE = "cut short before anything was changed"
DROPPED = "dropped"
"""The outcome of a line that tells of a fact which was not kept."""
MOST_DROPS = 20
"""Facts of one session that were not kept and are told, a line each."""
MOST_CHARS = 200
UNTOLD = frozenset({"secret", "private", "asked not to keep", FORGOTTEN})
"""Reasons for which the words of a fact stand nowhere, not even in the audit."""
_WOULD = {
    "written": "{0} would be written to {2}.",
    "suggested": "{0} would wait for the person in {2}: {1}.",
    "denied": "{0} would not be written: {1}.",
}

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
        self._paths = reader.paths
        self._brains = Brains(writer, reader)
        self._authority = stores.authority
        self._audit = stores.audit
        self._hiding = stores.hiding
        self._queue = stores.queue
        self._naming = stores.naming
        self._clock = clock
        self._settings = settings
        self._late = Late(self._paths, self._brains.text)
        self._sound: set[str] = set()
        """Agents whose last change is known to be whole."""

    # --- a write --------------------------------------------------------------------------

    def write(self, request: Asked, witness: Witness | None) -> Outcome:
        """Change one agent's facts, or say why not. Raises BrokenMemory, WriteFailed."""
        safe = request.safe
        self.complete(safe.agent)
        decision = self._authority.decide(safe.caller, safe.agent, safe.op, "brain")
        if refused := self._refused(request, decision):
            return self._tell(safe, refused)
        ask = self._ask(request)
        try:
            step, ask, line = self._made(ask, witness)
        except Held as held:
            return self._held(ask, held, witness)
        outcome = step.outcome
        hidden: tuple[Ref, ...] = ()
        if step.unsaid and not inferred(ask.write):
            try:
                outcome, hidden = self._hide_unsaid(ask, step, decision)
            except Held as held:
                return self._held(ask, held, witness)
            if witness and outcome.outcome == "written":
                ask = replace(ask, write=replace(ask.write, evidence=witness()))
        elif ask.write.op == "forget" and outcome.outcome == "written":
            naming = self._naming(ask.write.caller)
            outcome, hidden = self._hiding.hide_said(ask, step, naming)
        outcome = _shown(ask, outcome)
        return self._tell(ask.write, outcome, line=line, hidden=hidden)

    def would(self, request: Asked) -> Outcome:
        """Return what a write would come to as the memory stands now; nothing is touched."""
        safe = request.safe
        decision = self._authority.decide(safe.caller, safe.agent, safe.op, "brain")
        if refused := self._refused(request, decision):
            return refused
        ask = replace(self._ask(request), rng=random.Random(0), shrinks=False)
        steps: list[Step] = []
        self._brains.edit_brain(
            ask, lambda text: steps.append(plan(text, self._brains.archived(ask), ask))
        )
        step = steps[-1]
        outcome = step.outcome
        try:
            if outcome.outcome == "written":
                self._judge(ask.write, step)
                outcome = replace(outcome, block=outcome.block if step.gone else "")
            elif step.unsaid and not inferred(safe) and self._hiding.finds(safe):
                if decision.verdict != "allow" or safe.hold:
                    raise Held(Decision("suggest", safe.hold or decision.reason), step)
                outcome = replace(outcome, outcome="written", nearest=())
        except Held as held:
            outcome = would_be(self._queue, ask, held)
        if told := _WOULD.get(outcome.outcome):
            words = quoted(outcome.fact or safe.text)
            outcome = replace(outcome, message=told.format(words, outcome.reason, outcome.path))
        return _shown(ask, outcome)

    def _ask(self, request: Asked) -> Ask:
        said, safe = request.said, request.safe
        old, stored = (said.old, safe.old) if safe.op == "replace" else (said.text, safe.text)
        ask = Ask(
            safe, (old, stored), self._weighing(safe.agent), self._settings.rng, request.redacted
        )
        return replace(ask, shrinks=self._authority.level(safe.agent) >= AUTO)

    def _weighing(self, agent: str) -> Weighing:
        language = self._authority.identity(agent).language or "en"
        today = self._clock().date()
        uses = lambda: _uses(self._paths, agent)  # noqa: E731
        return Weighing(self._paths, agent, today, language, self._settings.sizes, uses)

    def _refused(self, request: Asked, decision: Decision) -> Outcome | None:
        """Return what a write that must not happen comes to; None for one that may."""
        safe = request.safe
        outcome = Outcome("denied", safe.agent, path=self._paths.brain(safe.agent))
        outcome = replace(outcome, reason=decision.reason, redacted=request.redacted)
        if decision.verdict == "deny":
            message = f"Not allowed: {decision.reason}. Nothing was changed."
            return replace(outcome, message=message)
        if request.is_secret_alone:
            kinds = ", ".join(request.secrets)
            message = f"Only a secret ({kinds}) was given. Nothing was stored: secrets are never"
            message += " kept, and without it nothing is left. Say what it is for, or where it is."
            reason = "nothing was left but a secret"
            return replace(outcome, message=message, reason=reason)
        return None

    def _made(self, ask: Ask, witness: Witness | None) -> tuple[Step, Ask, AuditLine]:
        """Make a write; return the step, with what was asked and the line of the audit for it."""
        write = ask.write
        line = self._audit.line(write.caller, write.agent, write.op, "")
        state: list[tuple[Step, Ask]] = []
        evidence: list[MessageRef | None] = []

        def made(text: str | None) -> Step:
            now = replace(ask, write=replace(write, evidence=evidence[0])) if evidence else ask
            step = plan(text, self._brains.archived(now), now)
            if step.outcome.outcome == "written":
                self._judge(now.write, step)
                if witness and not evidence:
                    evidence.append(witness())
                    return made(text)
            state.append((step, now))
            return step

        def begin(step: Step) -> None:
            is_plain = write.how not in FOUND and not step.gone and len(step.moves) == 1
            if not is_plain:
                self._begin(self._line(line, state[-1][1].write, step))

        self._brains.carry_out(ask, made, begin)
        step, ask = state[-1]
        return step, ask, self._line(line, ask.write, step)

    # --- who may --------------------------------------------------------------------------

    def _judge(self, write: MemoryWrite, step: Step) -> None:
        """Raise Held for a step that the caller may not make alone.

        It is judged once it is known what it touches, on the text it would be written over: a
        grant for one section never changes another, whatever a person edits meanwhile.
        """
        scopes = {step.outcome.section or "brain", *(one.section or "brain" for one in step.gone)}
        decisions = [
            self._authority.decide(write.caller, write.agent, write.op, scope) for scope in scopes
        ]
        decision = min(decisions, key=lambda one: VERDICTS.index(one.verdict))
        decision = cautious(write, decision, enabled=self._settings.caution)
        late = None if decision.verdict == "deny" else self._late.hindrance(write, step.gone)
        if late and (late.dropped or decision.verdict == "allow"):
            raise Held(late.decision, step, late.dropped)
        guessed = GUESSED if inferred(write) and write.op == "forget" else ""
        if decision.verdict == "allow" and (doubt := guessed or write.hold or step.doubt):
            decision = Decision("suggest", doubt)
        if decision.verdict != "allow":
            raise Held(decision, step)

    def _hide_unsaid(
        self, ask: Ask, step: Step, decision: Decision
    ) -> tuple[Outcome, tuple[Ref, ...]]:
        """Forget what no fact says and messages may. Raises Held for what waits."""
        if decision.verdict == "allow" and ask.write.hold:
            decision = Decision("suggest", ask.write.hold)
        if decision.verdict == "allow":
            own, naming = self._brains.text(ask.path), self._naming(ask.write.caller)
            return self._hiding.forget_unsaid(ask, step.outcome, own, naming)
        if self._hiding.finds(ask.write):
            raise Held(decision, step)
        return step.outcome, ()

    def _held(self, ask: Ask, held: Held, witness: Witness | None) -> Outcome:
        """Put before the person what may not be written, or refuse it; return what that came to."""
        waits = suggest(self._queue, ask, held, witness)
        return self._tell(waits.write, _shown(ask, waits.outcome), dropped=waits.dropped)

    # --- the audit ------------------------------------------------------------------------

    def _begin(self, line: AuditLine) -> None:
        """Write down that a change is begun. Raises WriteFailed."""
        self._audit.write(replace(line, outcome=BEGUN))
        self._sound.discard(line.agent)

    def _line(self, line: AuditLine, write: MemoryWrite, step: Step) -> AuditLine:
        """Return the line of a write that comes to a step."""
        return _filled(line, write, step.outcome, self._audit.evidence(write.evidence), step.moves)

    def _tell(
        self,
        write: MemoryWrite,
        outcome: Outcome,
        *,
        line: AuditLine | None = None,
        hidden: Sequence[Ref] = (),
        dropped: str = "",
    ) -> Outcome:
        """Write the line of what a write came to; a change that is on disk stays true without."""
        if dropped:
            ref = write.evidence or MessageRef(write.agent, "", "")
            self.drop(write.agent, ref.session, [(write.text, dropped, (ref.block,))], write.caller)
            return outcome
        line = line or self._audit.line(write.caller, write.agent, write.op, "")
        line = _filled(line, write, outcome, self._audit.evidence(write.evidence), line.moves)
        line = replace(line, hidden=tuple(ref_text(ref) for ref in hidden))
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
            said = f"{outcome.message} {why[0].upper()}{why[1:]}"
            return replace(outcome, message=said, reason=outcome.reason or why)
        self._sound.add(write.agent)
        return outcome

    def drop(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Tell the audit of facts that were not kept and not told before; return how many.

        At most `MOST_DROPS` of one session.
        """
        lines = newest_first(self._paths, (agent,), (DROP,), session)
        known = Counter((one.after, one.reason) for one in lines if session_of(one) == session)
        room = MOST_DROPS - known.total()
        told = 0
        for text, reason, evidence in dropped:
            safe = "" if reason in UNTOLD else one_line(mask(blank_private(text)).text)
            safe = safe if len(safe) <= MOST_CHARS else f"{safe[: MOST_CHARS - 1].rstrip()}…"
            known[safe, reason] -= 1
            if known[safe, reason] >= 0 or told >= room:
                continue
            block = next((one for one in reversed(evidence) if one[1:].isdigit()), "")
            ref = MessageRef(agent, session, block) if session else None
            source = self._audit.evidence(ref)
            self._audit.note(
                caller, agent, DROP, DROPPED, after=safe, reason=reason, evidence=source
            )
            told += 1
        return told

    # --- what a crash cut short -----------------------------------------------------------

    def complete(self, agent: str) -> None:
        """Complete the change of an agent's facts that a crash cut short, if there is one.

        Where that fails the change waits, and is tried again; no other write has to.
        """
        if agent in self._sound:
            return
        try:
            while line := self._audit.unfinished(agent):
                if self._brains.is_unreadable(agent):
                    return
                self._complete(line)
            self._sound.add(agent)
        except (VaultMindError, OSError) as error:
            log.warning("what was cut short in the memory of %s waits: %s", agent, error)

    def _complete(self, line: AuditLine) -> None:
        brain = self._brains.text(self._paths.brain(line.agent))
        in_brain = [move for move in line.moves if not move.archive]
        is_made = bool(line.moves) and all(
            bool(find_move(brain, move)) is move.came for move in in_brain
        )
        person = line.caller == "person"
        caller = Caller("person" if person else "agent", "" if person else line.caller, line.client)
        text = line.before if line.op == "forget" else line.after
        write = MemoryWrite("forget", line.agent, caller, text, reason=line.reason)
        write = replace(write, evidence=ref_of(line.evidence))
        ask = self._ask(Asked(write, write, ()))
        if not is_made:
            again = [move for move in line.moves if move.archive and move.came]
            doubles = [one for one in again if says(brain, one.fact)]
            self._brains.move_in_archive(
                ask, [replace(one, came=False) for one in doubles], came=False
            )
            self._hiding.hide(refs_of(line.shown))
            self._audit.write(replace(line, outcome="unchanged", reason=NOT_MADE))
            return
        self._brains.move_in_archive(ask, line.moves, came=False)
        hidden = line.hidden
        if line.op == "forget" and not line.undoes:
            gone = tuple(move.fact for move in line.moves if not move.came and not move.room)
            parts = tuple(Fact(one, None) for one in line.before.split(JOINT))
            step = Step(Outcome("written", line.agent), gone=(*gone, *parts))
            refs = self._hiding.hide_said(ask, step, self._naming(caller))[1]
            hidden = tuple(ref_text(ref) for ref in refs)
        self._audit.write(replace(line, outcome="written", reason=COMPLETED, hidden=hidden))

    # --- the way back ---------------------------------------------------------------------

    def undo(self, agent: str, line_id: str, caller: Caller, *, dry_run: bool = False) -> Outcome:
        """Take a change back, the agent's last where none is named; the person's wish alone.

        A conflict comes to `unchanged`. Raises NotFound and BadArgument as `find_line` does.
        """
        if caller.kind != "person":
            reason = "only the person undoes, on the command line"
            self._audit.note(caller, agent, "undo", "denied", reason=reason)
            message = f"Not allowed: {reason}. Nothing was changed."
            return Outcome("denied", agent, message=message, reason=reason)
        self.complete(agent)
        line = self._meant(agent, line_id)
        write = MemoryWrite("replace", agent, caller, line.after or line.before)
        ask = self._ask(Asked(write, write, ()))
        try:
            return self._undone(line, ask, dry_run=dry_run)
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
        for line in newest_first(self._paths, (agent,), ("remember", "replace", "forget", "erase")):
            if line.outcome == "written" and not line.undoes and not line.undone_by:
                return line
        raise NotFound("The log has no change of a fact that could be undone.")

    def _undone(self, line: AuditLine, ask: Ask, *, dry_run: bool) -> Outcome:
        """Turn a change round. Raises Conflict."""
        check_undoable(line)
        show, stay = self._to_show(line)
        hide = refs_of(line.shown)
        made = self._audit.line(ask.write.caller, line.agent, "show" if show else "hide", "written")
        made = replace(made, undoes=line.id, reason=f"undo of {line.id}")
        made = replace(made, shown=tuple(ref_text(ref) for ref in show))
        steps = [Step(ask.outcome("written", ""))]

        def turned(text: str | None) -> Step:
            step = take_back(line, text, self._brains.archived(ask), ask)
            if not step.outcome.restored:  # the brain is as it was: what came back stays
                step = within_limits(step, text or "", ask)
            steps.append(step)
            return step

        def begun(step: Step) -> AuditLine:
            return self._undo_line(made, step)

        if line.moves:
            turned(self._brains.text(ask.path) or None)  # a conflict shows before anything is done
        if dry_run:
            outcome = _with_counts(steps[-1].outcome, len(show), len(hide), stay)
            return replace(outcome, message=f"{outcome.message} Nothing was changed yet.")
        shown = self._hiding.show(show)
        try:
            if line.moves:
                self._brains.carry_out(ask, turned, lambda step: self._begin(begun(step)))
        except (Conflict, VaultMindError):
            self._hiding.hide(shown)
            raise
        hidden = self._hiding.hide(hide) if hide else None
        names = tuple(ref_text(ref) for ref in hide)
        self._audit.write(replace(begun(steps[-1]), hidden=names))
        self._sound.add(line.agent)
        count = hidden.messages + hidden.parts if hidden else 0
        return _with_counts(steps[-1].outcome, len(shown), count, stay)

    def _undo_line(self, made: AuditLine, step: Step) -> AuditLine:
        """Return the line of an undo that comes to a step."""
        moves = _masked(step.moves)
        asked = [move for move in moves if not move.room]
        out = [move.fact.text for move in asked if not (move.came or move.archive)]
        back = [move.fact for move in asked if move.came]
        if not asked:
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

    def _to_show(self, line: AuditLine) -> tuple[tuple[Ref, ...], int]:
        """Return what is to be shown again, and how much stays hidden for other changes' sake."""
        if not line.hidden:
            return (), 0
        agents = self._paths.agent_names()
        others = newest_first(self._paths, agents, holding='"hidden"')
        kept = {
            name
            for one in others
            if one.outcome == "written" and not one.undone_by and one.id != line.id
            for name in one.hidden
        }
        refs = refs_of(name for name in line.hidden if name not in kept)
        return refs, len(line.hidden) - len(refs)


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    return replace(outcome, message=f"{outcome.message} {sentence}") if sentence else outcome


def _with_counts(outcome: Outcome, shown: int, hidden: int, stay: int) -> Outcome:
    """Return an undo's outcome that says, too, how many messages it showed and hid."""
    said = [outcome.message]
    said += [f"{_messages(shown)} shown again."] if shown else []
    said += [f"{_messages(hidden)} hidden again."] if hidden else []
    said += [f"{_messages(stay)} still hidden for another change's sake."] if stay else []
    message = " ".join(one for one in said if one) or "Nothing was hidden."
    return replace(
        outcome,
        message=mask(message).text,
        fact=mask(outcome.fact).text,
        before=mask(outcome.before).text,
        hidden_messages=hidden,
    )


def _messages(number: int) -> str:
    return f"{counted(number, 'message')} {'is' if number == 1 else 'are'}"


def _filled(
    line: AuditLine, write: MemoryWrite, outcome: Outcome, evidence: str, moves: Sequence[Move]
) -> AuditLine:
    """Return a line with what a write came to; its texts are masked."""
    is_written = outcome.outcome == "written"
    took_place = write.op == "remember" and is_written and outcome.before
    before = outcome.before
    if not before and not is_written and write.op != "remember":
        before = write.old or write.text
    return replace(
        line,
        op="replace" if took_place else write.op,
        outcome=outcome.outcome,
        section=outcome.section or "",
        before=mask(before).text,
        after="" if write.op == "forget" else mask(outcome.fact or write.text).text,
        evidence=evidence,
        reason=" · ".join(part for part in (outcome.reason, write.reason) if part),
        path=outcome.path,
        block=outcome.block,
        how=write.how if write.how in FOUND else "",
        moves=_masked(moves) if is_written else (),
    )


def _masked(moves: Sequence[Move]) -> tuple[Move, ...]:
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
    return replace(
        outcome,
        fact=mask(outcome.fact).text,
        before=mask(outcome.before).text,
        message=mask(outcome.message).text,
        nearest=tuple(mask(text).text for text in outcome.nearest),
    )


def _uses(paths: VaultPaths, agent: str) -> dict[str, Use]:
    """Return how often each fact was said again and when last, by block id, from the audit."""
    times: dict[str, list[str]] = {}
    for line in newest_first(paths, (agent,), ("remember",), '"remember"'):
        if line.block and line.outcome in ("written", "unchanged"):
            times.setdefault(line.block, []).append(line.time[:10])
    return {block: Use(len(days) - 1, max(days)) for block, days in times.items()}
