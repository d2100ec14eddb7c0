"""The queue of suggestions in Suggestions.md, and what the person answers to them.

An accepted one is written first, as the person, through the whole gate, and settled second: a
crash in between finds it ticked, sees in the audit that it was written, and settles it.
"""

from __future__ import annotations

import logging
import random
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from vaultmind.errors import (
    BadArgument,
    DamagedMemory,
    NotFound,
    UnreadableNote,
    VaultMindError,
    WriteConflict,
    WriteFailed,
)
from vaultmind.memory.audit import FOUND, AuditLog, moment, newest_first
from vaultmind.memory.changes import quoted
from vaultmind.memory.suggestions import (
    ID_START,
    Listed,
    Put,
    Suggestion,
    add,
    known,
    new_id,
    parse,
    remove,
    suggestion_of,
    tell,
)
from vaultmind.memory.words import saying
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import Caller, MemoryWrite, Outcome
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.oneline import one_line

EXPIRE_DAYS = 30
OBSIDIAN = Caller("person", client="obsidian")
"""Who settled what is found ticked or rejected in the file."""

_WHERE = {OBSIDIAN.client: "in Suggestions.md", "cli": "on the command line"}
_PLAIN = re.compile(r"[^\w .-]+")
_APPROVED = re.compile(r"suggested by [a-z0-9_-]+, approved [\w .-]+ \(\^(s-[a-z0-9]+)\)")
"""What the reason of such a write begins with; what follows is the agent's own words."""
_DONE = ("written", "unchanged")

log = logging.getLogger(__name__)


class Queue:
    """The suggestions of one vault, and the person's answers to them. Any thread.

    Every change goes through `edit`, the gate's compare-and-swap: a person's edit that comes
    first is kept, and the change is made again to the newer text.
    """

    def __init__(
        self,
        reader: VaultReader,
        edit: Callable[[str, Change], object],
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._reader = reader
        self._paths = reader.paths
        self._edit = edit
        self._clock = clock
        self._rng = rng

    @property
    def path(self) -> str:
        """Return the vault-relative path of Suggestions.md."""
        return self._paths.suggestions

    def put(self, write: MemoryWrite, language: str = "en") -> Put:
        """Make a suggestion of a write whose texts are safe to store, unless it was made before.

        The file is made where it is missing. Raises DamagedMemory, which names the file, where
        nothing can be added to it; WriteConflict and WriteFailed when nothing was written.
        """
        time = self._clock().isoformat(timespec="seconds")
        done: list[Put] = []
        rejected = self._rejected(write)

        def change(text: str) -> str | None:
            one = suggestion_of(write, new_id(text, self._rng), time)
            done.append(rejected or known(text, one))
            return add(text, one, self._paths, language) if done[-1].state == "new" else None

        self._change(change)
        return done[-1]

    def seen(self, write: MemoryWrite) -> Put:
        """Return what would become of a suggestion of this write; nothing is put."""
        return self._rejected(write) or known(self._text(), suggestion_of(write, "", ""))

    def _rejected(self, write: MemoryWrite) -> Put | None:
        """Return that the person has rejected the same before, as the log has it."""
        said = saying(one_line(mask(write.text).text))
        for line in newest_first(self._paths, (write.agent,), (write.op,), '"rejected"'):
            text = line.before if write.op == "forget" else line.after
            if line.outcome == "rejected" and saying(text) == said:
                return Put("rejected")
        return None

    def listed(self) -> tuple[Listed, ...]:
        """Return every suggestion in order. Raises UnreadableNote for a file that is no text."""
        return parse(self._text())

    def waiting(self, agent: str = "") -> int:
        """Return how many wait for the person: for one agent's memory, or for anybody's.

        Raises UnreadableNote.
        """
        return sum(not one.is_due and agent in ("", one.suggestion.agent) for one in self.listed())

    def due(self) -> tuple[Listed, ...]:
        """Return those that the person ticked or rejected and that nobody acted on yet.

        Read as a writer reads, while nobody saves the file: half a save may hold half a fact.
        """
        found: list[tuple[Listed, ...]] = [()]
        self._change(lambda text: found.append(parse(text)))
        return tuple(one for one in found[-1] if one.is_due)

    def tell(self, expected: Suggestion, reason: str) -> None:
        """Say under a suggestion why it could not be applied; it is to be ticked again.

        Nothing where it is gone or says something else by now. Raises DamagedMemory.
        """

        def change(text: str) -> str | None:
            found = next((one for one in parse(text) if one.suggestion == expected), None)
            return tell(text, found, reason) if found else None

        self._change(change)

    def settle(self, expected: Suggestion) -> bool:
        """Take a suggestion that was answered out of the file.

        False where it does not wait any more, or does not say what was expected: somebody
        changed it meanwhile, and it is left as it stands. Raises DamagedMemory.
        """
        done = [False]

        def change(text: str) -> str | None:
            same = [one for one in parse(text) if one.suggestion == expected]
            done.append(bool(same))
            return remove(text, same) if same else None

        self._change(change)
        return done[-1]

    def expire(self) -> tuple[Suggestion, ...]:
        """Settle what has waited too long as expired, and return it; what is ticked is left."""
        oldest = (self._clock() - timedelta(days=EXPIRE_DAYS)).timestamp()
        gone: list[tuple[Suggestion, ...]] = [()]

        def change(text: str) -> str | None:
            old = [
                one
                for one in parse(text)
                if one.state == "waiting" and 0 < moment(one.suggestion.time) < oldest
            ]
            gone.append(tuple(one.suggestion for one in old))
            return remove(text, old) if old else None

        if any(one.state == "waiting" for one in self.listed()):
            self._change(change)
        return gone[-1]

    def _change(self, change: Callable[[str], str | None]) -> None:
        def changed(file: FileText | None) -> str | None:
            return change(file.text if file else "")

        try:
            self._edit(self.path, changed)
        except (DamagedMemory, UnreadableNote) as error:
            reason = error.reason if isinstance(error, UnreadableNote) else error.message
            raise DamagedMemory(
                f"{self.path} cannot be used: {reason}",
                hint="Nothing was changed. Repair the file or rename it; a new one will be made.",
            ) from error

    def _text(self) -> str:
        try:
            return self._reader.read(self.path).text
        except NotFound:
            return ""


class Approving:
    """Settles suggestions, one at a time. Used by the gate alone; any thread."""

    def __init__(
        self,
        reader: VaultReader,
        queue: Queue,
        write: Callable[[MemoryWrite], Outcome],
        audit: AuditLog,
    ) -> None:
        self._paths = reader.paths
        self._queue = queue
        self._write = write
        self._audit = audit
        self._lock = threading.Lock()

    def settle(self) -> tuple[Outcome, ...]:
        """Act on what stands ticked or rejected in the file; expire what is too old.

        What fails for a passing reason stays due. Raises DamagedMemory and UnreadableNote for a
        file that cannot be used, WriteConflict and WriteFailed when it could not be changed.
        """
        with self._lock:
            for old in self._queue.expire():
                self._note(old.caller, old, "expired", f"no answer in {EXPIRE_DAYS} days")
            done = [self._settle_one(one) for one in self._queue.due()]
        return tuple(one for one in done if one)

    def answer(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject one suggestion in the person's name.

        Raises BadArgument for every caller but the person, NotFound for an id that does not
        wait; what `gate.write` raises, with the suggestion left as it was.
        """
        if caller.kind != "person":
            raise BadArgument("caller", caller.name, "the person: agents approve nothing")
        with self._lock:
            wanted = suggestion_id.strip().removeprefix("^").lower()
            names = {wanted, f"{ID_START}{wanted.removeprefix(ID_START)}"}
            found = [one for one in self._queue.listed() if one.suggestion.id in names]
            if not found:
                raise NotFound(
                    f"No suggestion {suggestion_id!r} waits in {self._queue.path}.",
                    hint="`vaultmind suggestions list` names those that do.",
                )
            if not accept:
                return self._rejected(found[0].suggestion, caller)
            outcome = self._applied(found[0].suggestion, caller)
            if outcome.outcome in _DONE:
                self._queue.settle(found[0].suggestion)
            return outcome

    def _settle_one(self, one: Listed) -> Outcome | None:
        """Act on one that is due; None for one that stays due."""
        suggestion = one.suggestion
        try:
            if one.state == "rejected":
                return self._rejected(suggestion, OBSIDIAN)
            try:
                outcome = self._applied(suggestion, OBSIDIAN)
            except (WriteConflict, WriteFailed):
                raise
            except (VaultMindError, OSError) as error:
                log.warning("a suggestion could not be applied: %s", error)
                outcome = self._failed(suggestion, str(error))
            if outcome.outcome in _DONE:
                self._queue.settle(suggestion)
            else:
                self._queue.tell(suggestion, outcome.reason or outcome.message)
        except (WriteConflict, WriteFailed) as error:
            log.warning("a suggestion stays due: %s", error)
            return None
        return outcome

    def _applied(self, one: Suggestion, caller: Caller) -> Outcome:
        """Write what a suggestion says, unless the audit says that this was done."""
        if one.agent not in self._paths.agent_names():
            return self._failed(one, "there is no agent of this name")
        if done := self._done_already(one):
            return done
        where = _WHERE.get(caller.client) or f"in {_PLAIN.sub(' ', caller.client)}"
        told = f"suggested by {one.caller.name}, approved {where} (^{one.id})"
        reason = ": ".join(part for part in (told, one.reason) if part)
        outcome = self._write(replace(one.write(caller), reason=reason))
        if outcome.outcome in _DONE:
            return outcome
        # what a crash cut short was completed just now
        return self._done_already(one) or outcome

    def _done_already(self, one: Suggestion) -> Outcome | None:
        """Return the outcome of a suggestion whose words were written before a crash hid it."""
        for line in newest_first(self._paths, (one.agent,), holding=one.id):
            named = _APPROVED.search(line.reason)
            ours = named is not None and named.group(1) == one.id and not line.undoes
            by_person = line.caller == OBSIDIAN.name and line.outcome == "written"
            if ours and by_person and (one.op == "forget" or _same(line.after, one.text)):
                message = f"Already done: {quoted(one.text)} (change {line.id})."
                path = self._paths.brain(one.agent)
                return Outcome("unchanged", one.agent, path=path, message=message)
        return None

    def _rejected(self, one: Suggestion, caller: Caller) -> Outcome:
        if not self._queue.settle(one):
            raise WriteConflict(f"The suggestion in {self._queue.path} was changed just now.")
        self._note(caller, one, "rejected", f"suggested by {one.caller.name}")
        message = f"Rejected: {quoted(one.text)}. It does not come back."
        return Outcome("unchanged", one.agent, path=self._queue.path, message=message)

    def _note(self, caller: Caller, one: Suggestion, outcome: str, reason: str) -> None:
        agents = self._paths.agent_names()
        home = next((name for name in (one.agent, one.caller.agent) if name in agents), "")
        if not home:
            log.warning("a suggestion for an agent that is not there came to: %s", outcome)
            return
        before, after = (one.text, "") if one.op == "forget" else (one.old, one.text)
        self._audit.note(
            caller, home, one.op, outcome, reason=reason, section=one.section or "",
            before=mask(before).text, after=mask(after).text,
            evidence=self._audit.evidence(one.evidence), how=one.how if one.how in FOUND else "",
        )  # fmt: skip

    def _failed(self, one: Suggestion, why: str) -> Outcome:
        message = f"Not written: {quoted(one.text)}: {why.rstrip('.')}. It goes on waiting."
        return Outcome("not_found", one.agent, path=self._queue.path, message=message, reason=why)


def _same(stored: str, text: str) -> bool:
    return saying(stored) == saying(one_line(mask(text).text))
