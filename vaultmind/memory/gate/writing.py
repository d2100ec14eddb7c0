"""The way of one write: secrets out → rights → matching → suggestion or edit → limits → index.

The gate holds the agent's lock around it and writes the audit line of what it came to.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from vaultmind.memory.changes import Ask
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.gate.asking import Asked
from vaultmind.memory.gate.brains import Brains, Changed, Watch, Witness
from vaultmind.memory.gate.extracting import Extracting
from vaultmind.memory.gate.held import Held, Judges, guard_for, looked, suggested, would_be
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.memory.gate.repair import Repair
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.policy import Decision, inferred
from vaultmind.memory.suggestions.queue import Queue
from vaultmind.ports import Clock
from vaultmind.redact import has_household_code, mask
from vaultmind.types import Caller, MemoryWrite, Outcome
from vaultmind.vault.files import Change
from vaultmind.vault.paths import VaultPaths


@dataclass(frozen=True, slots=True)
class Done:
    """What a write came to, and what its audit line needs beside the outcome."""

    outcome: Outcome
    safe: MemoryWrite
    hidden: tuple[Ref, ...] = ()
    dropped: str = ""
    """Why extraction's fact was dropped: its audit line is of another kind then."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a write is made with: the gate's own parts."""

    paths: VaultPaths
    authority: Authority
    brains: Brains
    hiding: Hiding
    queue: Queue
    naming: Callable[[Caller], Callable[[str, Change], None]]
    """For a caller, what changes a record so that its parts can be named, and hidden by that."""
    clock: Clock
    rng: random.Random
    ledger: Ledger
    """Where it is written down what is begun, and that a damaged brain was set aside."""
    caution: bool = False
    """Whether an agent's sensitive facts wait for the person."""


class Writing:
    """Takes writes their way. The caller holds the agent's lock."""

    def __init__(self, means: Means) -> None:
        self._means = means
        late = Extracting(means.paths, means.brains.text)
        self._judges = Judges(means.authority, late, means.caution)
        self._repair = Repair(
            means.paths, means.ledger, means.brains, means.hiding, means.naming, self._again
        )

    def complete(self, agent: str) -> None:
        """Complete the change of an agent's facts that a crash cut short, if there is one."""
        self._repair.complete(agent)

    def do(self, request: Asked, witness: Witness | None) -> Done:
        """Return what a write came to: made, put before the person, refused, or not needed."""
        safe = request.safe
        self.complete(safe.agent)
        decision = self._means.authority.decide(safe.caller, safe.agent, safe.op, "brain")
        refused = self._refused(request, decision)
        return refused or self._allowed(self._ask(request), witness, decision)

    def would(self, request: Asked) -> Outcome:
        """Return what a write would come to as the memory stands now; nothing is touched."""
        safe = request.safe
        decision = self._means.authority.decide(safe.caller, safe.agent, safe.op, "brain")
        if refused := self._refused(request, decision):
            return refused.outcome
        ask = replace(self._ask(request), rng=random.Random(0))
        step = self._means.brains.look(ask)
        outcome = step.outcome
        try:
            if outcome.outcome == "written":
                guard_for(ask.write, self._judges)(step)
                outcome = replace(outcome, block=outcome.block if step.gone else "")
            elif step.unsaid and not inferred(safe) and self._means.hiding.finds(safe):
                if decision.verdict != "allow" or safe.hold:
                    raise Held(Decision("suggest", safe.hold or decision.reason), step)
                outcome = replace(outcome, outcome="written", nearest=())
        except Held as held:
            outcome = would_be(ask, held, self._means.queue)
        return _told(ask, looked(ask, outcome))

    def _refused(self, request: Asked, decision: Decision) -> Done | None:
        """Return what a write that must not happen comes to; None for one that may."""
        safe = request.safe
        outcome = Outcome("denied", safe.agent, path=self._means.paths.brain(safe.agent))
        outcome = replace(outcome, reason=decision.reason, redacted=request.redacted)
        if decision.verdict == "deny":
            message = f"Not allowed: {decision.reason}. Nothing was changed."
            return Done(replace(outcome, message=message), safe)
        if request.is_secret_alone:
            kinds = ", ".join(request.secrets)
            message = f"Only a secret ({kinds}) was given. Nothing was stored: secrets are never"
            message += " kept, and without it nothing is left. Say what it is for, or where it is."
            reason = "nothing was left but a secret"
            return Done(replace(outcome, message=message, reason=reason), safe)
        return None

    def _ask(self, request: Asked) -> Ask:
        said, safe = request.said, request.safe
        old, stored = (said.old, safe.old) if safe.op == "replace" else (said.text, safe.text)
        return Ask(
            safe,
            (old, stored),
            self._means.clock().date().isoformat(),
            self._means.authority.identity(safe.agent).language or "en",
            self._means.paths,
            self._means.rng,
            request.redacted,
        )

    def _again(self, write: MemoryWrite) -> Ask:
        """Return a write that was let through before."""
        return self._ask(Asked(write, write, ()))

    def _allowed(self, ask: Ask, witness: Witness | None, decision: Decision) -> Done:
        """Return what a write came to: made, or put before the person, or not needed."""
        guard = guard_for(ask.write, self._judges)
        try:
            watch = Watch(guard, witness, self._repair.intent())
            changed = self._means.brains.change(ask, watch)
            if changed.step.unsaid:
                done = self._unsaid(changed, witness, decision)
            else:
                done = self._followed(changed)
        except Held as held:
            done = self._held(ask, held, witness)
        return replace(done, outcome=_told(ask, done.outcome))

    def _followed(self, changed: Changed) -> Done:
        """Do what follows a step that was made: the archive, and what said a forgotten fact."""
        step, ask, outcome = changed.step, changed.ask, changed.step.outcome
        if step.gone:
            self._means.brains.drop_archived(ask.write.agent, step.gone, ended=not step.ended)
        hidden: tuple[Ref, ...] = ()
        if ask.write.op == "forget" and outcome.outcome == "written":
            outcome, hidden = self._means.hiding.hide_said(
                ask, step, self._means.naming(ask.write.caller)
            )
        return Done(outcome, ask.write, hidden)

    def _unsaid(self, changed: Changed, witness: Witness | None, decision: Decision) -> Done:
        """Forget what no fact says and messages may."""
        ask, outcome = changed.ask, changed.step.outcome
        if inferred(ask.write):
            return Done(outcome, ask.write)
        if decision.verdict == "allow" and ask.write.hold:
            decision = Decision("suggest", ask.write.hold)
        if decision.verdict != "allow":
            if self._means.hiding.finds(ask.write):
                return self._held(ask, Held(decision, changed.step), witness)
            return Done(outcome, ask.write)
        own, naming = self._means.brains.text(ask.path), self._means.naming(ask.write.caller)
        outcome, hidden = self._means.hiding.forget_unsaid(ask, outcome, own, naming)
        write = ask.write
        if witness and outcome.outcome == "written":
            write = replace(write, evidence=witness())
        return Done(outcome, write, hidden)

    def _held(self, ask: Ask, held: Held, witness: Witness | None) -> Done:
        """Put before the person what an agent may not write by itself."""
        waits = suggested(ask, held, self._means.queue, witness)
        return Done(waits.outcome, waits.write, dropped=waits.dropped)


def also(outcome: Outcome, sentence: str) -> Outcome:
    """Return an outcome whose message says one thing more."""
    return replace(outcome, message=f"{outcome.message} {sentence}") if sentence else outcome


def _told(ask: Ask, outcome: Outcome) -> Outcome:
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
