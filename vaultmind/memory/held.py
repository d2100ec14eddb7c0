"""What stops a write on its way, and what becomes of it: a suggestion for the person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vaultmind.memory.audit import FOUND
from vaultmind.memory.changes import Ask, Step
from vaultmind.memory.doubts import quoted
from vaultmind.memory.queue import Queue
from vaultmind.memory.rights.policy import Decision
from vaultmind.redact import mask
from vaultmind.types import MemoryWrite, MessageRef, Outcome, OutcomeName

FULL = "so many suggestions of conversations wait already"
"""Why one more of extraction's is dropped."""
TOO_MANY = "too many"
_SAID = {
    "new": "not written yet: {reason}. It waits for the person's approval in {path}.",
    "waiting": "not written yet: {reason}. It waits already, in {path}.",
    "full": "not written: {reason} ({path}).",
    "rejected": "not written: the person has rejected this before ({path}).",
}
Witness = Callable[[], MessageRef | None]
"""Logs the words asked with, when a write is about to be made; returns where they stand."""


class Held(Exception):
    """A step that must not be written as it is: it waits for the person, or is refused."""

    def __init__(self, decision: Decision, step: Step, dropped: str = "") -> None:
        super().__init__(decision.reason)
        self.decision = decision
        self.step = step
        self.dropped = dropped
        """Under which reason extraction's audit tells it; empty where it is no drop."""


@dataclass(frozen=True, slots=True)
class Suggested:
    """What became of a write that was held."""

    outcome: Outcome
    write: MemoryWrite
    """As it waits."""
    dropped: str = ""
    """Why extraction's fact was dropped instead; empty where it was not."""


def suggest(queue: Queue, ask: Ask, held: Held, witness: Witness | None) -> Suggested:
    """Put a write before the person, or refuse it."""
    outcome, reason = held.step.outcome, held.decision.reason
    if held.decision.verdict == "deny":
        said = "Not written" if held.dropped else "Not allowed"
        message = f"{said}: {reason}. Nothing was changed."
        outcome = replace(outcome, outcome="denied", message=message, reason=reason, before="")
        return Suggested(outcome, ask.write, held.dropped)
    write = _readable(ask.write, held.step)
    put = queue.seen(write)
    if put is None:
        write = replace(write, evidence=witness() if witness else write.evidence)
        why = reason if write.how in FOUND else ""  # an agent gives a reason of its own
        told = dict.fromkeys(part for part in (write.reason, write.hold, why) if part)
        put = queue.put(replace(write, reason=" · ".join(told)), ask.language)
    path, dropped = ask.paths.suggestions, ""
    if put.state == "full":
        reason, dropped = FULL, TOO_MANY
        outcome = replace(outcome, before="", block="")
    said = _SAID[put.state].format(reason=reason, path=path)
    name: OutcomeName = "suggested" if put.state in ("new", "waiting") else "denied"
    message = f"{quoted(write.text)}: {said}"
    outcome = replace(
        outcome, outcome=name, message=message, reason=reason, path=path, block=put.id
    )
    return Suggested(outcome, write, dropped)


def would_be(queue: Queue, ask: Ask, held: Held) -> Outcome:
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
