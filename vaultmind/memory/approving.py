"""What the person says to suggestions: ticked in Suggestions.md, or on the command line.

An accepted one is written first, as the person, through the whole gate, and settled second: a
crash in between finds it ticked, sees in the audit that it was written, and settles it.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from dataclasses import replace

from vaultmind.errors import (
    BadArgument,
    NotFound,
    UnreadableNote,
    VaultMindError,
    WriteConflict,
    WriteFailed,
)
from vaultmind.memory.audit import FOUND, AuditLine, AuditLog, newest_first
from vaultmind.memory.brain import parse_brain
from vaultmind.memory.doubts import quoted
from vaultmind.memory.queue import Queue
from vaultmind.memory.suggestion_words import WORDS, Failure
from vaultmind.memory.suggestions import EXPIRE_DAYS, ID_START, Listed, Suggestion
from vaultmind.memory.words import saying
from vaultmind.redact import mask
from vaultmind.types import Caller, MemoryWrite, Outcome
from vaultmind.vault.files import VaultReader
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

OBSIDIAN = Caller("person", client="obsidian")
"""Who settled what is found ticked or rejected in the file."""

_WHERE = {OBSIDIAN.client: "in Suggestions.md", "cli": "on the command line"}
_PLAIN = re.compile(r"[^\w .-]+")
_APPROVED = re.compile(r"suggested by [a-z0-9_-]+, approved [\w .-]+ \(\^(s-[a-z0-9]+)\)")
"""What the reason of such a write begins with; what follows is the agent's own words."""
_ROUNDS = 3
"""How often one pass looks again, because a suggestion was changed while it was applied."""
_DONE = ("written", "unchanged")

log = logging.getLogger(__name__)


class Approving:
    """Settles suggestions. Used by the gate alone; any thread, one at a time."""

    def __init__(
        self,
        paths: VaultPaths,
        queue: Queue,
        write: Callable[[MemoryWrite], Outcome],
        book: AuditLog,
    ) -> None:
        self._paths = paths
        self._queue = queue
        self._write = write
        self._book = book
        self._reader = VaultReader(paths, max_bytes=0)
        self._lock = threading.Lock()

    def settle(self) -> tuple[Outcome, ...]:
        """Act on what stands ticked or rejected in the file; expire what is too old.

        What fails for a passing reason stays due. Raises DamagedMemory and UnreadableNote for a
        file that cannot be used, WriteConflict and WriteFailed when it could not be changed.
        """
        outcomes: list[Outcome] = []
        with self._lock:
            self._expire()
            self._take_back_failures()
            for _ in range(_ROUNDS):
                done = [self._settle_one(one, outcomes) for one in self._queue.due()]
                if all(done):
                    break
        return tuple(outcomes)

    def answer(self, suggestion_id: str, accept: bool, caller: Caller) -> Outcome:
        """Accept or reject one suggestion in the person's name.

        Raises BadArgument for every caller but the person, NotFound for an id that does not
        wait; what `gate.write` raises, with the suggestion left as it was.
        """
        if caller.kind != "person":
            raise BadArgument("caller", caller.name, "the person: agents approve nothing")
        with self._lock:
            one = self._find(suggestion_id)
            if not accept:
                return self._rejected(one, caller)
            if one.fault:
                return _failed(one, _why(one.fault), self._queue.path)
            outcome = self._apply(one, caller)
            if outcome.outcome in _DONE:
                self._queue.settle(one.suggestion.id, "accepted", one.suggestion)
            return outcome

    def _settle_one(self, one: Listed, outcomes: list[Outcome]) -> bool:
        """Act on one that is due; tell whether nothing is left to do for it in this pass."""
        try:
            if one.state == "rejected":
                outcomes.append(self._rejected(one, OBSIDIAN))
                return True
            outcome, failure = self._tried(one)
            outcomes.append(outcome)
            if failure is None:
                return self._queue.settle(one.suggestion.id, "accepted", one.suggestion)
            self._queue.tell(one.suggestion, failure)
        except (WriteConflict, WriteFailed) as error:
            log.warning("a suggestion stays due: %s", error)
        return True

    def _tried(self, one: Listed) -> tuple[Outcome, Failure | None]:
        """Apply an accepted one; return what it came to, and why it could not be, if so."""
        failure = one.fault or self._unknown(one.suggestion)
        if failure:
            return _failed(one, _why(failure), self._queue.path), failure
        try:
            outcome = self._apply(one, OBSIDIAN)
        except (WriteConflict, WriteFailed):
            raise
        except BadArgument as error:
            failure = "too_long"
            return _failed(one, error.message, self._queue.path), failure
        except (VaultMindError, OSError) as error:
            log.warning("a suggestion could not be applied: %s", error)
            return _failed(one, str(error), self._queue.path), "refused"
        if outcome.outcome in _DONE:
            return outcome, None
        return outcome, "secret" if outcome.outcome == "denied" else "not_found"

    def _apply(self, one: Listed, caller: Caller) -> Outcome:
        """Write what a suggestion says, unless the audit says that this was done."""
        suggestion = one.suggestion
        if failure := self._unknown(suggestion):
            return _failed(one, _why(failure), self._queue.path)
        if line := self._written(suggestion):
            return self._done_already(suggestion, f" (change {line.id})")
        where = _WHERE.get(caller.client) or f"in {_PLAIN.sub(' ', caller.client)}"
        told = f"suggested by {suggestion.caller.name}, approved {where} (^{suggestion.id})"
        reason = ": ".join(part for part in (told, suggestion.reason) if part)
        outcome = self._write(replace(suggestion.write(caller), reason=reason))
        if outcome.outcome == "not_found" and suggestion.op == "replace" and self._says(suggestion):
            return self._done_already(suggestion)  # a crash came before even its audit line
        return outcome

    def _written(self, suggestion: Suggestion) -> AuditLine | None:
        """Return the change that wrote these words of a suggestion, before a crash hid it."""
        for line in newest_first(self._paths, (suggestion.agent,), holding=suggestion.id):
            if line.caller != OBSIDIAN.name or line.outcome != "written" or line.undoes:
                continue
            named = _APPROVED.search(line.reason)
            ours = named is not None and named.group(1) == suggestion.id
            if ours and (suggestion.op == "forget" or _says(line.after, suggestion.text)):
                return line
        return None

    def _says(self, suggestion: Suggestion) -> bool:
        """Tell whether the brain says already what a correction would make it say."""
        try:
            text = self._reader.read(self._paths.brain(suggestion.agent)).text
        except (NotFound, UnreadableNote):
            return False
        return any(_says(fact.text, suggestion.text) for fact in parse_brain(text).all())

    def _done_already(self, suggestion: Suggestion, by: str = "") -> Outcome:
        path = self._paths.brain(suggestion.agent)
        message = f"Already done: {quoted(suggestion.text)}{by}."
        return Outcome("unchanged", suggestion.agent, path=path, message=message)

    def _rejected(self, one: Listed, caller: Caller) -> Outcome:
        suggestion = one.suggestion
        if not self._queue.settle(suggestion.id, "rejected", suggestion):
            raise WriteConflict(f"The suggestion in {self._queue.path} was changed just now.")
        self._note(caller, suggestion, "rejected", f"suggested by {suggestion.caller.name}")
        message = f"Rejected: {quoted(suggestion.text)}. It does not come back."
        return Outcome("unchanged", suggestion.agent, path=self._queue.path, message=message)

    def _expire(self) -> None:
        for one in self._queue.expire():
            self._note(one.caller, one, "expired", f"no answer in {EXPIRE_DAYS} days")

    def _take_back_failures(self) -> None:
        """Unticked is untried: ticked again, it is tried again."""
        for one in self._queue.listed():
            if one.state == "waiting" and one.tried:
                self._queue.tell(one.suggestion, None)

    def _note(self, caller: Caller, one: Suggestion, outcome: str, reason: str) -> None:
        home = next((a for a in (one.agent, one.caller.agent) if self._knows(a)), "")
        if not home:
            log.warning("a suggestion for an agent that is not there came to: %s", outcome)
            return
        before, after = (one.text, "") if one.op == "forget" else (one.old, one.text)
        texts = {"before": mask(before).text, "after": mask(after).text}
        more = {"section": one.section or "", "evidence": self._book.evidence(one.evidence)}
        more |= {"how": one.how} if one.how in FOUND else {}
        self._book.note(caller, home, one.op, outcome, reason=reason, **more, **texts)

    def _find(self, suggestion_id: str) -> Listed:
        wanted = suggestion_id.strip().removeprefix("^").lower()
        names = {wanted, f"{ID_START}{wanted.removeprefix(ID_START)}"}
        for one in self._queue.listed():
            if one.suggestion.id in names:
                return one
        raise NotFound(
            f"No suggestion {suggestion_id!r} waits in {self._queue.path}.",
            hint="`vaultmind suggestions list` names those that do.",
        )

    def _unknown(self, suggestion: Suggestion) -> Failure | None:
        return None if self._knows(suggestion.agent) else "no_agent"

    def _knows(self, agent: str) -> bool:
        return agent in self._paths.agent_names()


def _failed(one: Listed, why: str, path: str) -> Outcome:
    message = f"Not written: {quoted(one.suggestion.text)}: {why.rstrip('.')}. It goes on waiting."
    return Outcome("not_found", one.suggestion.agent, path=path, message=message, reason=why)


def _why(failure: Failure) -> str:
    return WORDS["en"].failures[failure]


def _says(stored: str, text: str) -> bool:
    return saying(stored) == saying(one_line(mask(text).text))
