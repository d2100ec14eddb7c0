"""What the gate writes into the audit: a chained line for every change, with its texts masked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from vaultmind.errors import VaultMindError
from vaultmind.memory.audit.chain import Journal
from vaultmind.memory.audit.heads import Heads
from vaultmind.memory.audit.lines import BEGUN, FOUND, AuditLine, ref_text
from vaultmind.memory.audit.reading import unfinished
from vaultmind.memory.forget.kinds import Ref
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.paths import VaultPaths

log = logging.getLogger(__name__)


class Ledger:
    """This device's audit of every agent. Any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        device: str,
        append: Callable[[str, str], None],
        clock: Clock,
        heads: Heads | None = None,
    ) -> None:
        self._paths = paths
        self._device = device
        self._clock = clock
        keep = heads.keep if heads else None
        self.journal = Journal(append, lambda relative: _text(paths.root / relative), keep=keep)

    def wrote(
        self,
        safe: MemoryWrite,
        outcome: Outcome,
        hidden: Iterable[Ref] = (),
        undoes: str = "",
    ) -> Outcome:
        """Record a write; an outcome that is on disk stays true when that fails."""
        line = self._write_line(safe, outcome, hidden, undoes)
        try:
            self._append(self._home(safe, outcome), line)
        except VaultMindError as error:
            if outcome.outcome != "written":
                raise
            log.error("the audit line of a write is missing: %s", error)
            why = f"the audit could not be written: {error}"
            said = f"{outcome.message} {why[0].upper()}{why[1:]}"
            return replace(outcome, message=said, reason=outcome.reason or why)
        return outcome

    def begun(self, safe: MemoryWrite, outcome: Outcome) -> None:
        """Record a write before it is made, so that a crash cannot lose it. Raises WriteFailed."""
        outcome = replace(outcome, before=mask(outcome.before).text, fact=mask(outcome.fact).text)
        line = self._write_line(safe, outcome, (), "")
        self._append(safe.agent, replace(line, outcome=BEGUN, valid_until=""))

    def unfinished(self, agent: str) -> AuditLine | None:
        """Return what this device began in an agent's memory and a crash cut short."""
        return unfinished(self._paths.absolute(self._paths.audit(agent, self._device)), agent)

    def _write_line(
        self, safe: MemoryWrite, outcome: Outcome, hidden: Iterable[Ref], undoes: str
    ) -> AuditLine:
        return replace(
            self._line(safe.caller, safe.agent, _op(safe, outcome), outcome.outcome),
            section=outcome.section or "",
            before=_before(safe, outcome),
            after="" if safe.op == "forget" else outcome.fact or safe.text,
            evidence=self.evidence(safe.evidence),
            reason=" · ".join(part for part in (outcome.reason, safe.reason) if part),
            path=outcome.path,
            block=outcome.block,
            valid_until=self._now() if outcome.outcome == "written" and outcome.before else "",
            hidden=tuple(ref_text(ref) for ref in hidden),
            undoes=undoes,
            how=safe.how if safe.how in FOUND else "",
        )

    def saved(self, caller: Caller, path: str, reason: str) -> None:
        """Record that a record was stored, without its text."""
        if agent := self._paths.agent_of(path):
            line = self._line(caller, agent, "save", "written")
            self._append(agent, replace(line, path=path, reason=mask(reason).text))

    def hid(self, caller: Caller, agent: str, refs: tuple[Ref, ...]) -> None:
        """Record that messages were hidden."""
        line = self._line(caller, agent, "hide", "written")
        hidden = tuple(ref_text(ref) for ref in refs)
        self._append(agent, replace(line, reason=counted(len(refs), "message"), hidden=hidden))

    def moved(self, caller: Caller, agent: str, op: str, facts: Iterable[Fact], why: str) -> None:
        """Record that facts moved between brain and archive, a line each."""
        path = self._paths.archive(agent) if op == "archive" else self._paths.brain(agent)
        for fact in facts:
            line = self._line(caller, agent, op, "written")
            text = mask(fact.text).text
            line = replace(line, before=text, after=text, section=fact.section or "")
            self._append(agent, replace(line, block=fact.block, path=path, reason=why))

    def note(self, caller: Caller, agent: str, op: str, outcome: str, **more: str) -> None:
        """Record something else: `more` are fields of an audit line. Texts must be masked."""
        self._append(agent, replace(self._line(caller, agent, op, outcome), **more))  # type: ignore[arg-type]

    def _append(self, agent: str, line: AuditLine) -> None:
        self.journal.append(self._paths.audit(agent, self._device), line)

    def _home(self, safe: MemoryWrite, outcome: Outcome) -> str:
        """Return whose audit it goes to: what is not written makes no folder for a new agent."""
        if outcome.outcome != "written" and safe.agent not in self._paths.agent_names():
            return safe.caller.agent or safe.agent
        return safe.agent

    def evidence(self, ref: MessageRef | None) -> str:
        """Return how a line names the message that a change came from."""
        if ref is None:
            return ""
        path = self._paths.session(ref.agent, ref.session).removesuffix(".md")
        return f"{path}#^{ref.block}" if ref.block else path

    def _line(self, caller: Caller, agent: str, op: str, outcome: str) -> AuditLine:
        return AuditLine(self._now(), caller.name, caller.client, agent, op, outcome)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="milliseconds")


def _op(safe: MemoryWrite, outcome: Outcome) -> str:
    """Return what was done: a fact that took a contradicted one's place replaced it."""
    took_place = safe.op == "remember" and outcome.outcome == "written" and outcome.before
    return "replace" if took_place else safe.op


def _before(safe: MemoryWrite, outcome: Outcome) -> str:
    if not outcome.before and outcome.outcome != "written" and safe.op != "remember":
        return safe.old or safe.text
    return outcome.before


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
