"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts: policy → redaction → matching → compare-and-swap edit → audit → index.
`save` and `append` store records: sessions, summaries, identities. Nothing else writes.
"""

from __future__ import annotations

import logging
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.memory.audit.lines import AuditLine, render_line
from vaultmind.memory.brain import damage, new_brain
from vaultmind.memory.changes import Ask, Step, correct, drop, forget, remember
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import RecordKind
from vaultmind.memory.rights.identity import Identity, read_identity
from vaultmind.memory.rights.policy import AUTO, Decision, decide, keeps_records
from vaultmind.memory.words import tokens
from vaultmind.plural import counted
from vaultmind.ports import Clock, FileIndexer
from vaultmind.redact import MARK, mask
from vaultmind.types import Caller, Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.writer import VaultWriter

Change = Callable[[FileText | None], str | None]
"""Takes a file as it stands (None: there is none), returns its new text (None: no write)."""

Witness = Callable[[], MessageRef | None]
"""Logs the words asked with, when a write is about to be made; returns where they stand."""

FACT_MAX_CHARS = 1000
TRIES = 25
"""How often a write starts anew because someone else's edit came first."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate needs to know about this device and its configuration."""

    device: str
    """Names this device's audit and tombstone files: letters, digits and dashes."""
    granted_level: int = AUTO
    """The highest autonomy an identity.md may claim."""
    rng: random.Random = field(default_factory=random.Random)
    """Where block ids come from."""


class _Damaged(Exception):
    """A brain must be set aside before anything is written."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Unwitnessed(Exception):
    """A write is about to be made whose evidence is not logged yet."""


class Gate:
    """Writes to the memory folder. One per vault; any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        settings: GateSettings,
        kinds: Sequence[RecordKind],
        indexer: FileIndexer,
        clock: Clock,
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._indexer = indexer
        self._clock = clock
        self._reader = VaultReader(paths, max_bytes=0)
        self._writer = VaultWriter(paths)
        self._hiding = Hiding(paths, settings.device, kinds, self._writer, clock)
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    def write(self, write: MemoryWrite, witness: Witness | None = None) -> Outcome:
        """Change one agent's facts, or say why not. Never both lost, never one twice.

        `witness` is called before something is written, and only then: a request that comes to
        nothing leaves no words behind. Raises BadArgument for empty or over-long texts;
        WriteConflict and WriteFailed when nothing was written.
        """
        asked = replace(write, agent=agent_name(write.agent))
        safe, redacted = _masked(asked)
        _check(safe)
        identity = read_identity(self._reader, self._paths, safe.agent)
        level = identity.level(self._settings.granted_level)
        decision = decide(safe.caller, safe.agent, level, safe.op)
        with self._locks[safe.agent]:
            refused = self._refused(safe, decision, redacted)
            if refused:
                return self._audited(safe, refused)
            ask = self._ask(asked, safe, identity, redacted)
            outcome, safe = self._apply(ask, witness)
            outcome = self._audited(safe, replace(outcome, reason=decision.reason))
        self._index(safe, outcome)
        return outcome

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        Returns the file as written, None when the change declined. Raises PathRefused for the
        files that `write` keeps, and for an agent that reaches into another's memory.
        """
        self._check_record(relative, caller)
        written = self._writer.edit(relative, change, TRIES)
        if written is not None:
            self._save_audited(relative, caller, reason)
            self._indexer.mark([relative])
        return written

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk. Raises PathRefused, WriteFailed."""
        self._check_record(relative, None)
        self._writer.append(relative, text)
        self._indexer.mark([relative])

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall; return how many were not hidden before.

        Used for the words of a request to forget, which say what was forgotten once more.
        """
        with self._locks[agent]:
            hidden = self._hiding.hide(refs).messages
            if hidden:
                line = self._line(caller, agent, "hide", "written")
                self._append_audit(agent, replace(line, reason=counted(hidden, "message")))
        return hidden

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        identity = read_identity(self._reader, self._paths, agent)
        return keeps_records(identity.level(self._settings.granted_level))

    def _refused(
        self, safe: MemoryWrite, decision: Decision, redacted: tuple[str, ...]
    ) -> Outcome | None:
        """Return the outcome of a write that must not happen; None for one that may."""
        outcome = Outcome("denied", safe.agent, path=self._paths.brain(safe.agent))
        outcome = replace(outcome, reason=decision.reason, redacted=redacted)
        if decision.verdict == "deny":
            message = f"Not allowed: {decision.reason}. Nothing was changed."
            return replace(outcome, message=message)
        if decision.verdict == "suggest":
            return self._suggested(outcome)
        if safe.op != "forget" and redacted and not tokens(MARK.sub("", safe.text)):
            message = f"Only a secret ({', '.join(redacted)}) was given. Nothing was stored."
            return replace(outcome, message=message, reason="nothing was left but a secret")
        return None

    def _suggested(self, outcome: Outcome) -> Outcome:
        """Return what a write at autonomy 1 comes to: suggestions are queued from here."""
        message = (
            f"Not written: {outcome.reason}. The person can make the change with `vaultmind "
            "remember` or `forget`, or in the file itself."
        )
        return replace(outcome, message=message)

    def _ask(
        self, asked: MemoryWrite, safe: MemoryWrite, identity: Identity, redacted: tuple[str, ...]
    ) -> Ask:
        old, stored = (asked.old, safe.old) if safe.op == "replace" else (asked.text, safe.text)
        return Ask(
            safe,
            (old, stored),
            self._clock().date().isoformat(),
            identity.language or "en",
            self._paths,
            self._settings.rng,
            redacted,
        )

    def _apply(self, ask: Ask, witness: Witness | None) -> tuple[Outcome, MemoryWrite]:
        """Return what a write came to, and the write with its evidence."""
        step, aside, safe = self._edit_brain(ask, witness)
        outcome = step.outcome
        if step.gone:
            self._drop_archived(safe.agent, step.gone)
        if safe.op == "forget" and outcome.outcome == "written":
            outcome = self._hiding.hide_said(ask, step, self._naming(safe.caller))
        if safe.op == "forget" and step.unsaid:
            own = self._text(ask.path)
            outcome = self._hiding.forget_unsaid(ask, outcome, own, self._naming(safe.caller))
            if witness and outcome.outcome == "written":
                safe = replace(safe, evidence=witness())
        notes = [outcome.message]
        if ask.redacted:
            notes.append(f"Taken out before storing: {', '.join(ask.redacted)}.")
        if aside:
            notes.append(aside)
        fact, before = mask(outcome.fact).text, mask(outcome.before).text
        message = mask(" ".join(notes)).text
        nearest = tuple(mask(text).text for text in outcome.nearest)
        outcome = replace(outcome, fact=fact, before=before, message=message, nearest=nearest)
        return outcome, safe

    def _edit_brain(self, ask: Ask, witness: Witness | None) -> tuple[Step, str, MemoryWrite]:
        """Return what the last try came to, a sentence about a brain that was set aside, and
        the write with the evidence that was logged for it.
        """
        steps: list[Step] = []
        aside = ""

        def change(file: FileText | None) -> str | None:
            if file and (reason := damage(file.text)):
                raise _Damaged(reason)
            steps.append(self._step(file.text if file else None, ask))
            if witness and steps[-1].outcome.outcome == "written":
                raise _Unwitnessed
            return steps[-1].text

        while True:
            try:
                self._edit(ask.path, change)
                return steps[-1], aside, ask.write
            except _Damaged as found:
                aside = self._set_aside(ask.path, found.reason, ask)
            except _Unwitnessed:
                evidence, witness = witness() if witness else None, None
                ask = replace(ask, write=replace(ask.write, evidence=evidence))

    def _edit(self, relative: str, change: Change) -> FileText | None:
        try:
            return self._writer.edit(relative, change, TRIES)
        except UnreadableNote as error:
            if self._is_text(relative):
                raise
            raise _Damaged(error.reason) from error

    def _step(self, text: str | None, ask: Ask) -> Step:
        if ask.write.op == "remember":
            return remember(text, ask)
        archive = self._archive(ask.write.agent)
        return (correct if ask.write.op == "replace" else forget)(text, archive, ask)

    def _archive(self, agent: str) -> str:
        """Return the archive's text; empty where there is none to be read."""
        return self._text(self._paths.archive(agent))

    def _drop_archived(self, agent: str, gone: tuple[Fact, ...]) -> None:
        if self._archive(agent):
            path = self._paths.archive(agent)
            self._writer.edit(path, lambda file: drop(file.text, gone) if file else None, TRIES)

    def _naming(self, caller: Caller) -> Callable[[str, Change], None]:
        """Return what changes a record so that its parts can be named, and hidden by that."""

        def edit(relative: str, change: Change) -> None:
            if self._writer.edit(relative, change, TRIES) is not None:
                self._save_audited(relative, caller, "parts are named, to be hidden")
                self._indexer.refresh([relative])

        return edit

    def _text(self, path: str) -> str:
        try:
            return self._reader.read(path).text
        except (NotFound, UnreadableNote):
            return ""

    def _set_aside(self, path: str, reason: str, ask: Ask) -> str:
        """Set a damaged brain aside, start a new one, and tell the person; return the words."""
        aside = self._writer.set_aside(path, self._clock())
        self._edit(path, lambda file: None if file else new_brain(ask.write.agent, ask.language))
        told = f"{path} was damaged: {reason}. It was set aside, whole, as {aside}"
        note = (
            f"\n> [!warning] {self._clock():%Y-%m-%d %H:%M} · a damaged memory file\n"
            f"> {told}, and a new one was started. "
            f"Copy back what you want to keep: [[{aside.removesuffix('.md')}]]\n"
        )
        self._writer.append(self._paths.suggestions, note)
        return f"{told}, and a new one was started."

    def _is_text(self, relative: str) -> bool:
        """Tell whether a file is sound text, or cannot be read for another reason."""
        try:
            raw = self._paths.absolute(relative).read_bytes()
        except OSError:
            return True
        try:
            return "\0" not in raw.decode("utf-8")
        except UnicodeDecodeError:
            return False

    def _check_record(self, relative: str, caller: Caller | None) -> None:
        agent = self._paths.agent_of(relative)
        name = relative.rsplit("/", 1)[-1]
        kept = {self._paths.brain(agent), self._paths.archive(agent)} if agent else set()
        if relative in kept or (agent and name.startswith(("audit-", "tombstones-"))):
            raise PathRefused(relative, "facts, audit and tombstones change by gate.write only")
        if caller is None or caller.kind == "person":
            return
        if agent != caller.agent or relative == self._paths.identity(agent):
            raise PathRefused(relative, f"{caller.agent} may write its own records only")

    def _save_audited(self, relative: str, caller: Caller, reason: str) -> None:
        agent = self._paths.agent_of(relative)
        if agent:
            line = self._line(caller, agent, "save", "written")
            self._append_audit(agent, replace(line, path=relative, reason=mask(reason).text))

    def _audited(self, safe: MemoryWrite, outcome: Outcome) -> Outcome:
        """Write the audit line; an outcome that is on disk stays true when it cannot be."""
        evidence = ""
        if ref := safe.evidence:
            evidence = f"{self._paths.session(ref.agent, ref.session).removesuffix('.md')}"
            evidence += f"#^{ref.block}" if ref.block else ""
        before = outcome.before
        if not before and outcome.outcome != "written" and safe.op != "remember":
            before = safe.old or safe.text
        line = replace(
            self._line(safe.caller, safe.agent, safe.op, outcome.outcome),
            section=outcome.section or "",
            before=before,
            after="" if safe.op == "forget" else outcome.fact or safe.text,
            evidence=evidence,
            reason=" · ".join(part for part in (outcome.reason, safe.reason) if part),
            path=outcome.path,
            block=outcome.block,
        )
        home = safe.agent
        if outcome.outcome == "denied" and home not in self._paths.agent_names():
            home = safe.caller.agent or home
        try:
            self._append_audit(home, line)
        except VaultMindError as error:
            if outcome.outcome != "written":
                raise
            log.error("the audit line of a write is missing: %s", error)
            said = f"{outcome.message} The audit could not be written: {error}"
            return replace(outcome, message=said)
        return outcome

    def _line(self, caller: Caller, agent: str, op: str, outcome: str) -> AuditLine:
        return AuditLine(self._now(), caller.name, caller.client, agent, op, outcome)

    def _append_audit(self, agent: str, line: AuditLine) -> None:
        self._writer.append(self._paths.audit(agent, self._settings.device), render_line(line))

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")

    def _index(self, safe: MemoryWrite, outcome: Outcome) -> None:
        """Bring the index up to date; the fact is on disk, so that a failure is only said."""
        if outcome.outcome != "written":
            return
        try:
            self._indexer.refresh([self._paths.brain(safe.agent), self._paths.archive(safe.agent)])
        except VaultMindError as error:
            log.warning("%s was written and not indexed: %s", outcome.path, error)


def _check(safe: MemoryWrite) -> None:
    """Raise BadArgument for texts that are empty or too long to be one fact."""
    allowed = f"1 to {FACT_MAX_CHARS} characters: one fact"
    if not tokens(safe.text) or len(safe.text) > FACT_MAX_CHARS:
        raise BadArgument("text", safe.text, allowed)
    if safe.op == "replace" and (not tokens(safe.old) or len(safe.old) > FACT_MAX_CHARS):
        raise BadArgument("old", safe.old, f"{allowed} to replace, or its id (^k3f9)")


def _masked(write: MemoryWrite) -> tuple[MemoryWrite, tuple[str, ...]]:
    """Return the write as it may be stored, and the kinds of secrets that were taken out."""
    text, old, reason = mask(write.text), mask(write.old), mask(write.reason)
    kinds = text.kinds if write.op != "forget" else ()
    safe = replace(
        write, text=one_line(text.text), old=one_line(old.text), reason=one_line(reason.text)
    )
    return safe, kinds
