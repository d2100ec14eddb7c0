"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts: secrets out → rights → matching → suggestion or compare-and-swap edit →
limits → audit → index. `save` and `append` store records: sessions, summaries, identities.
Nothing else writes to the memory folder.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from vaultmind.errors import NotAllowed, PathRefused, VaultMindError
from vaultmind.memory.audit import FOUND, AuditLog, ref_text, settled_before
from vaultmind.memory.brains import TRIES
from vaultmind.memory.forget.erasing import Erasing, Hands
from vaultmind.memory.forget.erasure import Erased, Erasure, Preview
from vaultmind.memory.forget.kinds import RecordKind, Ref
from vaultmind.memory.forget.tombstones import Hiding
from vaultmind.memory.queue import Approving, Queue
from vaultmind.memory.rights import Authority
from vaultmind.memory.undo import Undoing
from vaultmind.memory.writing import (
    Dropped,
    FactStores,
    FactWriter,
    GateSettings,
    Witness,
)
from vaultmind.plural import counted
from vaultmind.ports import Clock, FileIndexer, IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.types import Caller, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.replacing import digest
from vaultmind.vault.writer import VaultWriter

log = logging.getLogger(__name__)


class Gate:
    """Writes to the memory folder. One per vault; any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        settings: GateSettings,
        kinds: Sequence[RecordKind],
        indexer: FileIndexer,
        authority: Authority,
        clock: Clock,
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._indexer = indexer
        self._authority = authority
        self._writer = VaultWriter(paths)
        reader = VaultReader(paths, max_bytes=0)
        self._audit = AuditLog(paths, settings.device, self._writer.append, clock)
        self._hiding = Hiding(paths, settings.device, kinds, self._writer.append, clock)
        self.queue = Queue(reader, self._edit, clock, settings.rng)
        """What waits for the person."""
        stores = FactStores(authority, self._audit, self._hiding, self.queue, self._naming)
        self._facts = FactWriter(self._writer, reader, stores, clock, settings)
        self._undoing = Undoing(self._facts, self._hiding, self._audit, paths)
        self._approving = Approving(reader, self.queue, self._write, self._audit)
        self._erasing = Erasing(
            reader, settings.erasables, Hands(self._edit, self._bury, self._erased), clock,
            settings.state_dir, lambda agent: authority.identity(agent).language or "en",
        )  # fmt: skip
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

    # --- facts ---------------------------------------------------------------------------

    def write(self, write: MemoryWrite, witness: Witness | None = None) -> Outcome:
        """Change one agent's facts, or say why not. Never both lost, never one twice.

        `witness` is called before something is written, and only then: a request that comes to
        nothing leaves no words behind. Raises BadArgument for empty or over-long texts;
        WriteConflict and WriteFailed when nothing was written.
        """
        return self._write(_in_name(write), witness)

    def _write(self, write: MemoryWrite, witness: Witness | None = None) -> Outcome:
        """Change facts in the name of the caller, who has approved it where that is the person."""
        agent = agent_name(write.agent)
        with self._locks[agent]:
            outcome = self._facts.write(write, witness)
        if self._settings.tally is not None:
            self._settings.tally.add(write.op, outcome.outcome)
        self._index(agent, outcome)
        return outcome

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to now. Nothing is written, suggested or audited.

        Raises BadArgument as `write` does.
        """
        return self._facts.would(_in_name(write))

    def dropped(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Tell the audit what extraction found in a session and did not keep; return how many.

        What was told before is not told again, and nothing for an agent at autonomy 0.
        """
        with self._locks[agent]:
            if agent not in self._paths.agent_names() or not self.keeps_records(agent):
                return 0
            return self._facts.drop(agent, session, dropped, caller)

    def settled_before(self, agent: str, session: str) -> frozenset[str]:
        """Return what extraction wrote from a session once, and what the person then rejected.

        Each as `settled_words` of `memory/audit` gives the words of a fact.
        """
        with self._locks[agent]:
            self._facts.complete(agent)
        return settled_before(self._paths, agent, session)

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall; return how many were not hidden before.

        Raises NotAllowed for an agent that may not forget by itself.
        """
        decision = self._authority.decide(caller, agent, "forget", "brain")
        if decision.verdict != "allow":
            raise NotAllowed(f"Not allowed: {decision.reason}. Nothing was hidden.")
        with self._locks[agent]:
            wanted = tuple(refs)
            hidden = self._hiding.hide(wanted)
            if hidden:
                names, reason = tuple(map(ref_text, wanted)), counted(len(wanted), "message")
                self._audit.note(caller, agent, "hide", "written", reason=reason, hidden=names)
            return len(hidden)

    def hide_request(self, ref: MessageRef, caller: Caller) -> None:
        """Hide the words of a request to forget, which say what was forgotten once more.

        Called in the middle of a write, maybe to another agent's memory: it takes no agent's lock,
        or two that forget in each other's memory would wait for each other for ever.
        """
        if self._hiding.hide([ref]):
            more = {"reason": "1 message", "hidden": (ref_text(ref),)}
            self._audit.note(caller, ref.agent, "hide", "written", **more)

    def undo(self, agent: str, line_id: str, caller: Caller, *, dry_run: bool = False) -> Outcome:
        """Take a change back, the agent's last where none is named; the person's wish alone."""
        with self._locks[agent]:
            outcome = self._undoing.undo(agent, line_id, caller, dry_run=dry_run)
        if not dry_run:
            self._index(agent, outcome)
        return outcome

    def repair(self) -> None:
        """Complete what a crash cut short in anybody's memory, and remove what it left."""
        self._writer.sweep()
        for agent in self._paths.agent_names():
            with self._locks[agent]:
                self._facts.complete(agent)

    def settle_suggestions(self) -> tuple[Outcome, ...]:
        """Act on what the person ticked or rejected in Suggestions.md; expire what is old."""
        return self._approving.settle()

    def answer_suggestion(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject a suggestion. Raises BadArgument for every caller but the person."""
        return self._approving.answer(suggestion_id, accept, caller)

    def allow(self, agent: str, seen: str, caller: Caller) -> tuple[str, ...]:
        """Let an agent have what its identity asks for and the person has seen; return what.

        Raises BadArgument as `Authority.allow` does.
        """
        asked_for = self._authority.waiting(agent)
        self._authority.allow(agent, seen, caller)
        self._audit.note(caller, agent, "allow", "written", reason=mask("; ".join(asked_for)).text)
        return asked_for

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down: not at autonomy 0."""
        return self._authority.keeps_records(agent)

    # --- erasing -------------------------------------------------------------------------

    def preview_erasure(self, erasure: Erasure) -> Preview:
        """Return what an erasure would remove. Raises NotAllowed for all but the person."""
        return self._erasing.preview(erasure)

    def erase(self, erasure: Erasure, index: IndexErasing, report: Report = silent) -> Erased:
        """Remove what says it from every file and the index, and return what is still found.

        It cannot be undone. Raises NotAllowed for all but the person, WriteConflict where the
        preview is no longer true, BadArgument, NotFound.
        """
        return self._erasing.erase(erasure, index, report)

    def _bury(self, refs: Iterable[Ref]) -> None:
        self._hiding.hide(refs, erased=True)

    def _erased(self, caller: Caller, agent: str, reason: str) -> None:
        self._audit.note(caller, agent, "erase", "written", reason=reason)

    # --- records -------------------------------------------------------------------------

    def save(
        self, relative: str, change: Change, caller: Caller, reason: str, without: str = ""
    ) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        A record that it is to stand `without` from now on goes with it: one change, one line in
        the audit. Returns the file as written, None when the change declined. Raises PathRefused
        for the files that `write` keeps, and for an agent that reaches into another's memory.
        """
        for path in (relative, without):
            if path:
                self._check_record(path, caller)
        written = self._edit(relative, change)
        if written is not None:
            self._saved(caller, relative, reason)
            self._indexer.mark([relative])
            if without:
                self._removed(without)
        return written

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk. Raises PathRefused, WriteFailed."""
        self._check_record(relative, None)
        self._writer.append(relative, text)
        self._indexer.mark([relative])

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a record; tell whether it was there. Raises PathRefused, WriteConflict."""
        self._check_record(relative, caller)
        if not self._removed(relative):
            return False
        self._saved(caller, relative, reason)
        return True

    def _removed(self, relative: str) -> bool:
        path = self._paths.writable(relative)
        if not path.is_file():
            return False
        self._writer.remove(relative, digest(path.read_bytes()))
        self._indexer.mark([relative])
        return True

    def told(self, caller: Caller, agent: str, op: str, path: str, reason: str) -> None:
        """Tell an agent's audit of a change that was made to a file which is nobody's."""
        self._audit.note(caller, agent, op, "written", path=path, reason=mask(reason).text)

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

    def _saved(self, caller: Caller, path: str, reason: str) -> None:
        """Record that a record was stored, without its text."""
        if agent := self._paths.agent_of(path):
            self.told(caller, agent, "save", path, reason)

    def _naming(self, caller: Caller) -> Callable[[str, Change], None]:
        """Return what changes a record so that its parts can be named, and hidden by that."""

        def edit(relative: str, change: Change) -> None:
            if self._edit(relative, change) is not None:
                self._saved(caller, relative, "parts are named, to be hidden")
                self._indexer.refresh([relative])

        return edit

    def _edit(self, relative: str, change: Change) -> FileText | None:
        return self._writer.edit(relative, change, TRIES)

    def _index(self, agent: str, outcome: Outcome) -> None:
        """Bring the index up to date; the fact is on disk, so that a failure is only said."""
        if outcome.outcome != "written":
            return
        files = [self._paths.brain(agent), self._paths.archive(agent)]
        try:
            self._indexer.refresh(files)
        except VaultMindError as error:
            self._indexer.mark(files)
            log.warning("%s was written and not indexed: %s", outcome.path, error)


def _in_name(write: MemoryWrite) -> MemoryWrite:
    """Return a write with the caller whose rights it has: extraction has none but the agent's."""
    if write.how not in FOUND or write.caller.kind == "agent":
        return write
    return replace(write, caller=Caller("agent", agent_name(write.agent), write.caller.client))
