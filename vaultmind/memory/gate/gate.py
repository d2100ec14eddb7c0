"""The one gate: every change of memory passes here, whoever asks.

`write` changes facts: secrets out → rights → matching → suggestion or compare-and-swap edit →
limits → audit → index. `save` and `append` store records: sessions, summaries, identities.
Nothing else writes to the memory folder.
"""

from __future__ import annotations

import logging
import random
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaultmind.errors import NotAllowed, PathRefused, VaultMindError
from vaultmind.memory.audit.drops import settled_before
from vaultmind.memory.audit.heads import Heads
from vaultmind.memory.audit.lines import FOUND
from vaultmind.memory.forget.erasable import ERASABLES, Erasable
from vaultmind.memory.forget.erasing import Erasing
from vaultmind.memory.forget.erasure import Erased, Erasure, Preview
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import RecordKind
from vaultmind.memory.forget.lifting import Lifting
from vaultmind.memory.forget.planning import Planning
from vaultmind.memory.forget.verifying import Verifying
from vaultmind.memory.gate.approving import Approving
from vaultmind.memory.gate.asking import asked
from vaultmind.memory.gate.brains import Brains, Witness
from vaultmind.memory.gate.dropping import Dropped, Dropping
from vaultmind.memory.gate.hands import ErasingHands
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.memory.gate.overflow import Overflow, Sizes
from vaultmind.memory.gate.undoing import Hands, Undoing
from vaultmind.memory.gate.writing import Means, Writing, also
from vaultmind.memory.rights.authority import Authority
from vaultmind.memory.rights.policy import AUTO
from vaultmind.memory.suggestions.queue import Queue
from vaultmind.ports import Clock, FileIndexer, IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.tally import Tally
from vaultmind.types import Caller, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name
from vaultmind.vault.replacing import digest
from vaultmind.vault.writer import VaultWriter

TRIES = 25
"""How often a write starts anew because someone else's edit came first."""

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
    heads: Heads | None = None
    """Where the last line of each audit file is kept in mind; nowhere without it."""
    erasables: tuple[Erasable, ...] = ERASABLES
    """The kinds of record that an erasure reaches."""
    state_dir: Path | None = None
    """The folder of index and log: an erasure cleans and searches it, too."""
    tally: Tally | None = None
    """Where it is counted what came of each write of a fact."""


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
        self._clock = clock
        self._writer = VaultWriter(paths)
        reader = VaultReader(paths, max_bytes=0)
        self._brains = Brains(reader, self._writer, TRIES)
        self._ledger = Ledger(paths, settings.device, self._writer.append, clock, settings.heads)
        self._hiding = Hiding(paths, settings.device, kinds, self._writer, clock)
        self._overflow = Overflow(paths, reader, self._edit, clock, settings.sizes)
        self.queue = Queue(paths, reader, self._edit, clock, settings.rng)
        """What waits for the person."""
        self._lifting = Lifting(paths, settings.device, self._writer.append)
        self._approving = Approving(paths, self.queue, self._write, self._ledger)
        hands = ErasingHands(self._edit, self._writer.remove, self._hiding, self._ledger)
        planning = Planning(paths, reader, settings.erasables, clock, self._language)
        self._erasing = Erasing(planning, hands, Verifying(paths, planning, settings.state_dir))
        means = Means(
            paths,
            authority,
            self._brains,
            self._hiding,
            self.queue,
            self._naming,
            clock,
            settings.rng,
            self._ledger,
            settings.caution,
        )
        self._writing = Writing(means)
        self._dropping = Dropping(paths, self._ledger)
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
        request = asked(write)
        safe = request.safe
        with self._locks[safe.agent]:
            done = self._writing.do(request, witness)
            if done.dropped:
                self._dropping.tell_one(done.safe, done.dropped)
                return done.outcome
            outcome = self._ledger.wrote(done.safe, done.outcome, done.hidden)
            if self._settings.tally is not None:
                self._settings.tally.add(safe.op, outcome.outcome)
            if outcome.outcome == "written":
                outcome = self._within_limits(done.safe, outcome)
        self._index(safe, outcome)
        return outcome

    def would(self, write: MemoryWrite) -> Outcome:
        """Return what a write would come to now. Nothing is written, suggested or audited.

        Raises BadArgument as `write` does.
        """
        return self._writing.would(asked(_in_name(write)))

    def dropped(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Tell the audit what extraction found in a session and did not keep; return how many.

        What was told before is not told again, and nothing for an agent at autonomy 0.
        """
        with self._locks[agent]:
            if agent not in self._paths.agent_names() or not self.keeps_records(agent):
                return 0
            return self._dropping.tell(agent, session, dropped, caller)

    def settled_before(self, agent: str, session: str) -> frozenset[str]:
        """Return what extraction wrote from a session once, and what the person then rejected.

        Each as `settled_words` of `memory/audit/drops` gives the words of a fact. What a crash cut
        short is completed first: it may be one of them.
        """
        with self._locks[agent]:
            self._writing.complete(agent)
        return settled_before(self._paths, agent, session)

    def hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        """Hide messages from every recall; return how many were not hidden before.

        Raises NotAllowed for an agent that may not forget by itself.
        """
        decision = self._authority.decide(caller, agent, "forget", "brain")
        if decision.verdict != "allow":
            raise NotAllowed(f"Not allowed: {decision.reason}. Nothing was hidden.")
        with self._locks[agent]:
            return self._hide(agent, refs, caller)

    def hide_request(self, ref: MessageRef, caller: Caller) -> None:
        """Hide the words of a request to forget, which say what was forgotten once more.

        Called in the middle of a write, maybe to another agent's memory: it takes no agent's lock,
        or two that forget in each other's memory would wait for each other for ever.
        """
        self._hide(ref.agent, [ref], caller)

    def _hide(self, agent: str, refs: Iterable[MessageRef], caller: Caller) -> int:
        hidden = self._hiding.hide(refs)
        if hidden.messages:
            self._ledger.hid(caller, agent, hidden.refs)
        return hidden.messages

    def undo(self, agent: str, line_id: str, caller: Caller, *, dry_run: bool = False) -> Outcome:
        """Take a change back, the agent's last where none is named; the person's wish alone."""
        edit, text, rng = self._edit, self._brains.text, self._settings.rng
        hands = Hands(
            self._paths, edit, text, self._ledger, self._hiding, self._lifting, self._clock, rng
        )
        write = MemoryWrite("replace", agent, caller, line_id)
        with self._locks[agent]:
            self._writing.complete(agent)
            language = self._language(agent)
            outcome = Undoing(hands, agent, language, caller).undo(line_id, dry_run=dry_run)
            if dry_run or outcome.outcome != "written":
                return outcome
            if not outcome.restored:  # the brain is as it was: what came back does not go again
                outcome = self._within_limits(write, outcome)
        self._index(write, outcome)
        return outcome

    def repair(self) -> None:
        """Complete what a crash cut short in anybody's memory, and remove what it left."""
        self._writer.sweep()
        for agent in self._paths.agent_names():
            with self._locks[agent]:
                self._writing.complete(agent)

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
        self._ledger.note(caller, agent, "allow", "written", reason=mask("; ".join(asked_for)).text)
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

    # --- records -------------------------------------------------------------------------

    def save(
        self, relative: str, change: Change, caller: Caller, reason: str, without: str = ""
    ) -> FileText | None:
        """Store a record by compare-and-swap; `change` may be called again on newer text.

        A record that it is to stand `without` from now on goes with it: one change, one line in
        the audit. Returns the file as written, None when the change declined. Raises PathRefused
        for the files that `write` keeps, and for an agent that reaches into another's memory.
        """
        self._check_record(relative, caller)
        if without:
            self._check_record(without, caller)
        written = self._edit(relative, change)
        if written is not None:
            self._ledger.saved(caller, relative, reason)
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
        self._ledger.saved(caller, relative, reason)
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
        self._ledger.note(caller, agent, op, "written", path=path, reason=mask(reason).text)

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

    # --- what follows a write ------------------------------------------------------------

    def _within_limits(self, safe: MemoryWrite, outcome: Outcome) -> Outcome:
        """Move what an oversized brain holds too much to the archive, and say so."""
        try:
            if self._authority.level(safe.agent) < AUTO:
                return outcome
            language = self._language(safe.agent)
            moved = self._overflow.shrink(safe.agent, (outcome.block,), language)
        except (VaultMindError, OSError) as error:  # the fact itself is on disk
            log.warning("the brain of %s stays over its limit: %s", safe.agent, error)
            return also(outcome, f"The brain is over its limit, and stays so: {error}")
        if not moved:
            return outcome
        why = f"the brain was over {self._settings.sizes.max_tokens} tokens"
        self._ledger.moved(safe.caller, safe.agent, "archive", moved, why)
        facts = "1 older fact" if len(moved) == 1 else f"{len(moved)} older facts"
        archive = self._paths.archive(safe.agent)
        outcome = replace(outcome, archived=len(moved))
        room = f"moved to {archive} to keep the brain small"
        return also(outcome, f"{facts} {room}; undoing this brings back what moved.")

    def _naming(self, caller: Caller) -> Callable[[str, Change], None]:
        """Return what changes a record so that its parts can be named, and hidden by that."""

        def edit(relative: str, change: Change) -> None:
            if self._edit(relative, change) is not None:
                self._ledger.saved(caller, relative, "parts are named, to be hidden")
                self._indexer.refresh([relative])

        return edit

    def _language(self, agent: str) -> str:
        return self._authority.identity(agent).language or "en"

    def _edit(self, relative: str, change: Change) -> FileText | None:
        return self._writer.edit(relative, change, TRIES)

    def _index(self, safe: MemoryWrite, outcome: Outcome) -> None:
        """Bring the index up to date; the fact is on disk, so that a failure is only said."""
        if outcome.outcome != "written":
            return
        files = [self._paths.brain(safe.agent), self._paths.archive(safe.agent)]
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
