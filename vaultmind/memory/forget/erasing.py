"""Erasing: everything that says a thing is taken out of every file and index, then looked for.

In the order: tombstones, messages, summaries, runs, suggestions, copies, audit texts, facts, then
logs and the index. What the rest is found by goes last, so that an erasure which was killed in
the middle is finished by doing it again.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from vaultmind.errors import NotAllowed, VaultMindError, WriteConflict
from vaultmind.memory.forget.erasure import Erased, Erasure, Place, Preview
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.forget.planning import Item, Plan, Planning
from vaultmind.memory.forget.taken import Taken
from vaultmind.memory.forget.verifying import Verifying
from vaultmind.plural import counted
from vaultmind.ports import IndexErasing, Report, silent
from vaultmind.types import Caller, Progress
from vaultmind.vault.files import Change, FileText

MOST_SHOWN = 2000
"""Finds that a preview lists; its counts are of all."""


class Hands(Protocol):
    """What of the gate an erasure works with."""

    def edit(self, relative: str, change: Change) -> object:
        """Change a file by compare-and-swap."""
        ...

    def remove(self, relative: str, sha: str) -> None:
        """Remove a file that still has these bytes."""
        ...

    def hide(self, refs: Iterable[Ref]) -> object:
        """Add messages to the tombstones for good, those that are hidden already included."""
        ...

    def note(self, caller: Caller, agent: str, reason: str) -> None:
        """Write an audit line `erase`, without text."""
        ...


@dataclass(slots=True)
class _Work:
    """What was done so far."""

    paths: list[str]
    texts: list[str]
    faults: list[Place]


class Erasing:
    """Previews and does erasures, one at a time. Used by the gate alone."""

    def __init__(self, planning: Planning, hands: Hands, verifying: Verifying) -> None:
        self._planning = planning
        self._hands = hands
        self._verifying = verifying
        self._lock = threading.Lock()
        self._key = secrets.token_bytes(16)

    def preview(self, erasure: Erasure) -> Preview:
        """Return what would be removed. Raises NotAllowed, BadArgument, NotFound."""
        _check(erasure.caller)
        plan = self._planning.plan(erasure)
        files = self._verifying.state_files(plan)
        return Preview(
            erasure.text,
            plan.meant,
            plan.found()[:MOST_SHOWN],
            plan.counts,
            plan.yours,
            files,
            self._seal(plan),
            _told_before(plan, files),
        )

    def erase(self, erasure: Erasure, index: IndexErasing, report: Report = silent) -> Erased:
        """Remove it, search for it, and return what the search found.

        Raises NotAllowed for every caller but the person; WriteConflict where something else
        would go than the preview showed, BadArgument, NotFound: then nothing was touched.
        """
        _check(erasure.caller)
        with self._lock:
            plan = self._planning.plan(erasure)
            if erasure.seal and not secrets.compare_digest(erasure.seal, self._seal(plan)):
                raise WriteConflict(
                    "What would be erased has changed since it was shown.",
                    hint="Nothing was erased; look at it again.",
                )
            concerned = tuple(dict.fromkeys(item.agent for item in plan.items if item.agent))
            for agent in concerned:
                self._hands.note(erasure.caller, agent, "begun")
            index.begin()
            work = self._take_all(plan, report)
            report(Progress(len(plan.items), len(plan.items), "cleaning the index"))
            scrubbed = index.scrub(dict.fromkeys([item.path for item in plan.items] + work.paths))
            report(Progress(len(plan.items), len(plan.items), "searching for what is left"))
            erased = self._verifying.verified(plan, work, scrubbed, index)
            for agent in concerned:
                own = [item for item in plan.items if item.agent == agent]
                places = sum(len(item.taken) for item in own)
                done = "" if erased.outcome == "erased" else ", not whole"
                reason = f"{counted(places, 'place')} in {counted(len(own), 'file')}{done}"
                self._hands.note(erasure.caller, agent, reason)
        return erased

    def _take_all(self, plan: Plan, report: Report) -> _Work:
        work = _Work([], [], [])
        moved: dict[str, str] = {}
        for number, item in enumerate(plan.items):
            report(Progress(number, len(plan.items), item.kind.name))
            try:
                done = self._take(item, plan)
                work.texts += [taken.text for taken in done]
                work.paths.append(item.path)
                moved |= dict(taken.moved for taken in done if taken.moved)
            except VaultMindError as error:
                work.faults.append(Place(item.path, why=error.message))
        if moved:
            self._relink(plan, moved, work)
        for whole in plan.wholes:
            try:
                self._hands.remove(whole.path, whole.sha)
                work.paths.append(whole.path)
            except VaultMindError as error:
                work.faults.append(Place(whole.path, why=error.message))
        try:
            self._verifying.blank(plan.wanted)
        except OSError as error:
            work.faults.append(Place("the log", why=str(error)))
        return work

    def _take(self, item: Item, plan: Plan) -> tuple[Taken, ...]:
        """Take it out of one file, as it stands then; what is hidden stays so whatever happens."""
        self._hands.hide(taken.ref for taken in item.taken if taken.ref)
        done: list[tuple[Taken, ...]] = []

        def change(file: FileText | None) -> str | None:
            if file is None:
                return None
            target = self._planning.as_target(item.path, item.agent, file.text)
            new = item.kind.without(target, plan.wanted)
            done.append(new.taken)
            return new.text if new.taken else None

        self._hands.edit(item.path, change)
        taken = done[-1] if done else ()
        self._hands.hide(one.ref for one in taken if one.ref)
        return taken

    def _relink(self, plan: Plan, moved: dict[str, str], work: _Work) -> None:
        """Have summaries name what is left of their sources by the ids that it has now."""

        def change(file: FileText | None) -> str | None:
            text = old = file.text if file else ""
            for was, now in moved.items():
                text = text.replace(was, now)
            return text if text != old else None

        for path in self._planning.summaries(plan.agents):
            try:
                if self._hands.edit(path, change) is not None:
                    work.paths.append(path)
            except VaultMindError as error:
                work.faults.append(Place(path, why=error.message))

    def _seal(self, plan: Plan) -> str:
        """Return what tells this plan from any other, and nothing of what it says."""
        parts = [
            f"{item.path}\0{taken.place}\0{taken.text}"
            for item in plan.items
            for taken in item.taken
        ]
        parts += [f"{whole.path}\0{whole.sha}" for whole in plan.wholes]
        raw = "\0\0".join((*plan.wanted.texts, *parts)).encode("utf-8", "replace")
        return hashlib.blake2b(raw, key=self._key, digest_size=8).hexdigest()


def _check(caller: Caller) -> None:
    if caller.kind != "person":
        raise NotAllowed(
            f"{caller.name} may not erase: only the person may, on the command line.",
            hint="Nothing was touched. The person can run `vaultmind forget --everywhere`.",
        )


def _told_before(plan: Plan, state_files: tuple[str, ...]) -> str:
    counts = plan.counts
    if plan.unread:
        stay = ", ".join(place.path for place in plan.unread)
        told = f"No UTF-8 text, so these will stay, though they say it: {stay}."
        rest = replace(plan, unread=())
        has_more = plan.counts or plan.yours or state_files
        return f"{_told_before(rest, state_files)} {told}" if has_more else told
    if not counts and not state_files:
        return f"Nothing in the memory says it.{_told_yours(plan.yours)}"
    if not counts:
        return "No file of the memory says it; the index or the log still hold its bytes."
    files = len({item.path for item in plan.items}) + len(plan.wholes)
    what = ", ".join(f"{name}: {number}" for name, number in counts.items())
    told = f"To be erased in {counted(files, 'file')}: {what}. This cannot be undone."
    return told + _told_yours(plan.yours)


def _told_yours(yours: tuple[Place, ...]) -> str:
    if not yours:
        return ""
    holds = "holds" if len(yours) == 1 else "hold"
    return f" {counted(len(yours), 'file')} of your own {holds} it and will not be touched."
