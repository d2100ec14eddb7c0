"""Changes that take a fact away touch several files; a crash between two of them is repaired.

Right before the brain is edited, the audit says what is begun; the line of what came of it follows
when all is done. Where it does not follow, the next write finds the change and completes it. So it
is for what extraction adds: a fact that the audit does not know to have come from a session would
come back from it once a person has deleted it by hand.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from vaultmind.errors import VaultMindError
from vaultmind.memory.audit.lines import FOUND, AuditLine, ref_of
from vaultmind.memory.audit.reading import Wanted, history
from vaultmind.memory.audit.undo import CHANGES, JOINT, taken_away
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.changes import Ask, Step
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.gate.brains import Brains
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.redact import mask
from vaultmind.types import SECTIONS, Caller, Fact, MemoryWrite, Outcome
from vaultmind.vault.files import Change
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

COMPLETED = "completed after it was cut short"
NOT_MADE = "cut short before anything was changed"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Repair:
    """Says what is begun, and completes what was cut short. The caller holds the agent's lock."""

    paths: VaultPaths
    ledger: Ledger
    brains: Brains
    hiding: Hiding
    naming: Callable[[Caller], Callable[[str, Change], None]]
    ask: Callable[[MemoryWrite], Ask]

    def intent(self) -> Callable[[Ask, Step], None]:
        """Return what writes down each step that takes a fact away, once, before it is made.

        And each that adds what extraction found.
        """
        begun: list[Outcome] = []

        def begin(ask: Ask, step: Step) -> None:
            new = not begun or replace(begun[-1], message="") != replace(step.outcome, message="")
            takes = bool(step.gone and step.outcome.before)
            if new and (takes or (ask.write.how in FOUND and step.outcome.fact)):
                self.ledger.begun(ask.write, step.outcome)
                begun.append(step.outcome)

        return begin

    def complete(self, agent: str) -> None:
        """Complete the change that a crash cut short, if there is one.

        Where that fails the change waits, and is tried again; no other write has to.
        """
        try:
            line = self.ledger.unfinished(agent)
            if line is not None and not self._is_unreadable(line):
                self._complete(line)
        except (VaultMindError, OSError) as error:
            log.warning("what was cut short in the memory of %s waits: %s", agent, error)

    def _complete(self, line: AuditLine) -> None:
        write = _write(line)
        section = next((one for one in SECTIONS if one == line.section), None)
        outcome = Outcome(
            "written", line.agent, section, line.after, line.path, line.block, line.before
        )
        adds = line.op == "remember" and bool(line.after)
        if not (line.before or adds) or not self._is_made(line):
            made = replace(outcome, outcome="unchanged", reason=NOT_MADE)
            self.ledger.wrote(write, made)
            return
        gone: tuple[Fact, ...] = ()
        if line.before:
            told = history(self.paths, Wanted((line.agent,), ops=CHANGES))[0]
            gone = taken_away(line, [one.line for one in told if one.line.id != line.id])
            self.brains.drop_archived(line.agent, gone, ended=line.op != "replace")
        hidden: tuple[Ref, ...] = ()
        if line.op == "forget":
            said = {fact.text for fact in gone}
            parts = (Fact(one, None) for one in line.before.split(JOINT) if one not in said)
            step = Step(None, outcome, (*gone, *parts))
            hidden = self.hiding.hide_said(self.ask(write), step, self.naming(write.caller))[1]
        self.ledger.wrote(write, replace(outcome, reason=COMPLETED), hidden)

    def _is_made(self, line: AuditLine) -> bool:
        """Tell whether the change reached the file that it begins with."""
        said = {line.before, line.before.split(JOINT)[0]} - {line.after}
        here = self._says(line.path)
        if line.op == "forget":
            return not any(text in said for text, _ in here)
        if (line.after, line.block) in here:
            return True
        if not line.before:  # it was added, or has moved to the archive since
            return (line.after, line.block) in self._says(self._archive(line))
        return not any(text in said for text, _ in here | self._says(self._archive(line)))

    def _says(self, path: str) -> set[tuple[str, str]]:
        """Return the facts of a file as the audit would name them, each with its block id."""
        facts = parse_brain(self.brains.text(path)).all()
        return {(mask(one_line(fact.text)).text, fact.block) for fact in facts}

    def _archive(self, line: AuditLine) -> str:
        return self.paths.archive(line.agent)

    def _is_unreadable(self, line: AuditLine) -> bool:
        files = (self.paths.absolute(path) for path in (line.path, self._archive(line)))
        sizes = (file.stat().st_size if file.exists() else 0 for file in files)
        texts = (self.brains.text(path) for path in (line.path, self._archive(line)))
        return any(size and not text for size, text in zip(sizes, texts, strict=True))


def _write(line: AuditLine) -> MemoryWrite:
    """Return the write that a line says was begun."""
    person = line.caller == "person"
    caller = Caller("person" if person else "agent", "" if person else line.caller, line.client)
    text = line.before if line.op == "forget" else line.after
    write = MemoryWrite("forget", line.agent, caller, text, reason=line.reason)
    old = line.before if line.op == "replace" else ""
    write = replace(write, op=line.op, old=old, evidence=ref_of(line.evidence))  # type: ignore[arg-type]
    return replace(write, how=line.how or write.how)
