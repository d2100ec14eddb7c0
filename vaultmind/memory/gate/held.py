"""What stops a write on its way, and what becomes of it: a suggestion for the person.

A step is judged once it is known what it touches, on the text it would be written over: a grant
for one section never changes another, whatever a person edits meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from vaultmind.memory.audit.lines import FOUND
from vaultmind.memory.changes import Ask, Step
from vaultmind.memory.doubts import quoted
from vaultmind.memory.gate.brains import Guard, Witness
from vaultmind.memory.gate.dropping import TOO_MANY
from vaultmind.memory.gate.extracting import Extracting
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.policy import VERDICTS, Decision, cautious, inferred
from vaultmind.memory.suggestions.queue import Queue
from vaultmind.redact import mask
from vaultmind.types import MemoryWrite, Outcome, OutcomeName

_SAID = {
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


GUESSED = "it was read out of a conversation, and nothing is forgotten by guess"
FULL = "so many suggestions of conversations wait already"
"""Why one more of extraction's is dropped."""


class Held(Exception):
    """A step that must not be written as it is: it waits for the person, or is refused."""

    def __init__(self, decision: Decision, step: Step, dropped: str = "") -> None:
        super().__init__(decision.reason)
        self.decision = decision
        self.step = step
        self.dropped = dropped
        """Under which reason extraction's audit tells it; empty where it is no drop."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who judges a step."""

    authority: Authority
    extracting: Extracting
    caution: bool = False
    """Whether an agent's sensitive facts wait for the person."""


def guard_for(write: MemoryWrite, judges: Judges) -> Guard:
    """Return what looks at each step of a write before it is made.

    It raises Held for what the caller may not do alone.
    """

    def guard(step: Step) -> None:
        decisions = [
            judges.authority.decide(write.caller, write.agent, write.op, scope)
            for scope in _scopes(step)
        ]
        decision = min(decisions, key=lambda one: VERDICTS.index(one.verdict))
        decision = cautious(write, decision, enabled=judges.caution)
        late = None if decision.verdict == "deny" else judges.extracting.hindrance(write, step)
        if late and (late.dropped or decision.verdict == "allow"):
            raise Held(late.decision, step, late.dropped)
        guessed = GUESSED if inferred(write) and write.op == "forget" else ""
        if decision.verdict == "allow" and (doubt := guessed or write.hold or step.doubt):
            decision = Decision("suggest", doubt)
        if decision.verdict != "allow":
            raise Held(decision, step)

    return guard


@dataclass(frozen=True, slots=True)
class Waits:
    """What became of a write that was held."""

    outcome: Outcome
    write: MemoryWrite
    """As it waits."""
    dropped: str = ""
    """Why extraction's fact was dropped instead; empty where it was not."""


def suggested(ask: Ask, held: Held, queue: Queue, witness: Witness | None) -> Waits:
    """Put a write before the person, and return what that came to."""
    outcome, reason = held.step.outcome, held.decision.reason
    if held.decision.verdict == "deny":
        said = "Not written" if held.dropped else "Not allowed"
        message = f"{said}: {reason}. Nothing was changed."
        denied = replace(outcome, outcome="denied", message=message, reason=reason, before="")
        return Waits(denied, ask.write, held.dropped)
    write = _readable(ask.write, held.step)
    put = queue.seen(write)
    if put is None:
        write = replace(write, evidence=witness() if witness else write.evidence)
        put = queue.put(_with_reason(write, reason), ask.language)
    path = ask.paths.suggestions
    if put.state == "full":
        reason = FULL
        outcome = replace(outcome, before="", block="")
    said = _SAID[put.state].format(reason=reason, path=path)
    name: OutcomeName = "suggested" if put.state in ("new", "waiting") else "denied"
    told = f"{quoted(write.text)}: {said}"
    outcome = replace(outcome, outcome=name, message=told, reason=reason, path=path, block=put.id)
    return Waits(outcome, write, TOO_MANY if put.state == "full" else "")


def _with_reason(write: MemoryWrite, held: str) -> MemoryWrite:
    """Return a write whose reason says, too, why it is put before the person.

    An agent gives its own reason; extraction has none but what held it.
    """
    why = held if write.how in FOUND else ""
    parts = dict.fromkeys(part for part in (write.reason, write.hold, why) if part)
    return replace(write, reason=" · ".join(parts))


def would_be(ask: Ask, held: Held, queue: Queue) -> Outcome:
    """Return what putting a write before the person would come to; nothing is put."""
    outcome, reason = replace(held.step.outcome, before="", reason=held.decision.reason), ""
    if held.decision.verdict == "deny":
        return replace(outcome, outcome="denied")
    put = queue.seen(_readable(ask.write, held.step))
    if put is not None and put.state == "rejected":
        reason = "the person has rejected this before"
    elif put is None and queue.is_full(ask.write):
        reason = FULL
    name: OutcomeName = "denied" if reason else "suggested"
    path = ask.paths.suggestions
    return replace(outcome, outcome=name, path=path, block="", reason=reason or outcome.reason)


def looked(ask: Ask, outcome: Outcome) -> Outcome:
    """Return an outcome in words that say it did not happen yet."""
    told = _WOULD.get(outcome.outcome)
    if told is None:
        return outcome
    message = told.format(quoted(outcome.fact or ask.write.text), outcome.reason, outcome.path)
    return replace(outcome, message=message)


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


def _scopes(step: Step) -> set[str]:
    """Return the parts of a brain that a step touches."""
    return {step.outcome.section or "brain", *(fact.section or "brain" for fact in step.gone)}
