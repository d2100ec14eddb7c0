"""Making summaries: an L1 of every five sessions, an L2 of every five L1.

The file is written first, in one piece and under a name that was free; then its sources are
marked. A kill between the two leaves marks missing, which the next run adds: what the summary's
own front matter names is summed up, marked or not.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from vaultmind.config.settings import LevelsConfig
from vaultmind.consolidate.levels.checking import Writers
from vaultmind.consolidate.levels.extractive import ExtractiveWriter
from vaultmind.consolidate.levels.file import rendered, rewritten, with_mark, with_tries
from vaultmind.consolidate.levels.numbering import level_of, next_number, path_of
from vaultmind.consolidate.levels.plan import Plan, completed, reading
from vaultmind.consolidate.levels.sources import Given, Sources, language_of
from vaultmind.consolidate.levels.waiting import (
    Summary,
    is_in,
    named,
    of_device,
    sessions_waiting,
    summaries,
    summaries_waiting,
    unmarked,
)
from vaultmind.consolidate.levels.writer import SummaryWriter
from vaultmind.consolidate.types import Level, SummaryDone
from vaultmind.errors import BadArgument, NotFound, VaultMindError, WriteConflict
from vaultmind.ports import Clock, Embedder, Report, silent
from vaultmind.session.records.reading import Hides
from vaultmind.session.records.shelf import Head
from vaultmind.session.records.store import iso
from vaultmind.types import Caller, Progress
from vaultmind.vault.files import Change, FileText, VaultReader

LEVELS: tuple[Level, ...] = ("L1", "L2")
TRIES = 5
"""How often a summary is written anew because its sources changed, or its number was taken."""

log = logging.getLogger(__name__)


class LevelsGate(Protocol):
    """The part of the gate that stores summaries."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap: `change` may be called again on new text."""
        ...

    def keeps_records(self, agent: str) -> bool:
        """Tell whether anything is written for an agent."""
        ...


@dataclass(frozen=True, slots=True)
class LevelsMeans:
    """What summaries are made with."""

    gate: LevelsGate
    reader: VaultReader
    writer: SummaryWriter
    hides: Hides
    heads: Callable[[str], Sequence[Head]]
    """Returns the heads of an agent's sessions, oldest first."""
    clock: Clock
    device: str
    settings: LevelsConfig = field(default_factory=LevelsConfig)
    spare: SummaryWriter = field(default_factory=ExtractiveWriter)
    """Writes where what `writer` gives does not hold."""
    embedder: Callable[[], Embedder | None] = lambda: None
    """Returns what embeds, once it is loaded."""


class _Changed(Exception):
    """What a summary was to be made of is not as it was: look again. Never leaves this module."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One call, as asked for."""

    agent: str
    caller: Caller
    dry: bool = False
    imported: bool = False
    """Whether imported sessions are summed up, too."""
    planned: list[Plan] = field(default_factory=list)
    """What a dry run would have written so far."""


class Levels:
    """Makes an agent's summaries. Any thread; one at a time."""

    def __init__(self, means: LevelsMeans) -> None:
        self._means = means
        self._paths = means.reader.paths
        self._sources = Sources(means.reader, means.hides, means.embedder)
        self._lock = threading.Lock()

    def make(
        self,
        agent: str,
        caller: Caller,
        *,
        dry_run: bool = False,
        imported_too: bool = False,
        report: Report = silent,
    ) -> tuple[SummaryDone, ...]:
        """Make what is due, and add marks that a kill left out; what is there already is left.

        A dry run takes every ended session as consolidated. Raises WriteFailed, WriteConflict.
        """
        if not self._means.gate.keeps_records(agent):
            return ()
        with self._lock:
            run = _Run(agent, caller, dry_run, imported_too)
            done = [] if dry_run else [*self._completed(agent, caller), *self._better(run)]
            for level in LEVELS:
                while plan := self._next(run, level):
                    report(Progress(len(done), len(done) + 1, plan.id))
                    done.append(self._kept(run, plan))
                    report(Progress(len(done), len(done), plan.id))
            return tuple(done)

    def again(
        self,
        agent: str,
        id: str,
        caller: Caller,
        *,
        dry_run: bool = False,
        report: Report = silent,
    ) -> SummaryDone:
        """Make one summary anew, under its id, of what may be recalled of its sources now.

        What a person typed into it stays. Raises BadArgument for what is no summary's id, NotFound
        for one that never was.
        """
        level = level_of(id)
        if level is None:
            raise BadArgument("again", id, "a session's id, or a summary's such as L1_001")
        if not self._means.gate.keeps_records(agent):
            raise BadArgument("agent", agent, "an agent whose records are kept (autonomy 1 to 3)")
        with self._lock:
            report(Progress(0, 1, id))
            for _ in range(TRIES):
                old = next((one for one in self._summaries(agent, level) if one.id == id), None)
                notes: list[str] = []
                given = self._made_of(agent, level, id, old, notes)
                path = old.path if old else path_of(self._paths, agent, id)
                plan = self._plan(agent, id, path, given, notes)
                if dry_run:
                    return plan.done("would be written")
                try:
                    self._save(plan, caller, "a summary is made anew", anew=bool(old))
                except _Changed:
                    continue
                self._mark(plan, caller)
                report(Progress(1, 1, id))
                return plan.done("written")
        raise _conflict(path_of(self._paths, agent, id))

    def left(self, agent: str, *, imported_too: bool = False) -> tuple[int, int]:
        """Return how many more sessions the next L1 waits for, and how many L1 the next L2."""
        settings, device = self._means.settings, self._means.device
        made = self._summaries(agent, "L1")
        sessions = sessions_waiting(
            self._means.heads(agent), made, device, imported_too=imported_too, done=True
        )
        above = summaries_waiting(of_device(made, device), self._summaries(agent, "L2"))
        return (
            max(0, settings.l1_sessions - len(sessions)),
            max(0, settings.l2_summaries - len(above)),
        )

    # --- what is due ---------------------------------------------------------------------

    def _next(self, run: _Run, level: Level) -> Plan | None:
        """Return the next summary of a level that is due; None where none is."""
        notes: list[str] = []
        size = self._size(level)
        # The number before the sources: who writes a summary of them meanwhile takes it, and that
        # shows when this one is saved.
        number = self._number(run.agent, level) + sum(one.level == level for one in run.planned)
        given: list[Given] = []
        for read in self._waiting(run, level, notes):
            try:
                given.append(read())
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
            if len(given) == size:
                break
        if len(given) < size:
            return None
        id = f"{level}_{number:03d}"
        return self._plan(run.agent, id, path_of(self._paths, run.agent, id), given, notes)

    def _waiting(self, run: _Run, level: Level, notes: list[str]) -> list[Callable[[], Given]]:
        """Return what reads each source that waits, the oldest first."""
        agent, device = run.agent, self._means.device
        gone = {one.source.id for plan in run.planned for one in plan.given}
        made = summaries(self._means.reader, agent, "L1", notes)
        if level == "L1":
            heads, done = self._means.heads(agent), not run.dry
            found = sessions_waiting(heads, made, device, imported_too=run.imported, done=done)
            ids = [head.id for head in found if head.id not in gone]
            return [reading(self._sources.session, agent, id) for id in ids]
        above = summaries(self._means.reader, agent, "L2", notes)
        ready = summaries_waiting(of_device(made, device), above)
        thought = [one for one in run.planned if one.level == "L1" and one.id not in gone]
        return [
            *(reading(self._sources.summary, agent, one) for one in ready if one.stem not in gone),
            *(one.as_given for one in thought),
        ]

    def _made_of(
        self, agent: str, level: Level, id: str, old: Summary | None, notes: list[str]
    ) -> list[Given]:
        """Return what a summary is made of: by its own front matter, or by its sources' marks."""
        if level == "L1":
            heads = self._means.heads(agent)
            ids = old.file.sources if old else ()
            ids = ids or tuple(head.id for head in heads if is_in(head.meta.summarised_in, id))
            known = {head.id for head in heads}
            reads = [reading(self._sources.session, agent, one) for one in ids if one in known]
        else:
            made = self._summaries(agent, "L1")
            names = old.file.sources if old else ()
            reads = [
                reading(self._sources.summary, agent, one)
                for one in made
                if not one.is_copy
                and (
                    one.stem in names
                    or one.id in names
                    or (not names and is_in(one.file.summarised_in, id))
                )
            ]
        given = []
        for read in reads:
            try:
                given.append(read())
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
        if not given:
            raise NotFound(
                f"There is no summary {id} of {agent}, and nothing says what it was made of.",
                hint="`vaultmind consolidate --status` says what waits.",
            )
        return given

    def _plan(
        self, agent: str, id: str, path: str, given: Sequence[Given], notes: Sequence[str]
    ) -> Plan:
        level: Level = level_of(id) or "L1"
        language = language_of(given)
        sources = [one.source for one in given]
        settings = self._means.settings
        most = settings.l1_tokens if level == "L1" else settings.l2_tokens
        writers = Writers(self._means.writer, self._means.spare)
        told = writers.written(level, sources, language, most)
        return Plan(agent, level, id, path, tuple(given), told, language, tuple(notes))

    # --- writing -------------------------------------------------------------------------

    def _kept(self, run: _Run, plan: Plan) -> SummaryDone:
        """Write a summary and mark its sources; where something came first, look again."""
        if run.dry:
            run.planned.append(plan)
            return plan.done("would be written")
        for _ in range(TRIES):
            try:
                self._save(plan, run.caller, f"a summary of {len(plan.given)} {plan.of}")
            except _Changed:
                newer = self._next(run, plan.level)
                if newer is None:
                    return plan.done("unchanged")
                plan = newer
                continue
            self._mark(plan, run.caller)
            return plan.done("written")
        raise _conflict(plan.path)

    def _save(self, plan: Plan, caller: Caller, reason: str, *, anew: bool = False) -> None:
        """Write a summary's file, unless its sources are not as they were read.

        `anew`: over the one that stands. Raises _Changed where anything has come in between.
        """
        properties = plan.properties(iso(self._means.clock()), self._means.device)
        lines = plan.lines()

        def change(file: FileText | None) -> str | None:
            if (file is None) == anew or not self._sources.still(plan.agent, plan.given, plan.used):
                return None
            if file is None:
                return rendered(properties, plan.heading, lines)
            return rewritten(file.text, properties, lines)

        if self._means.gate.save(plan.path, change, caller, reason) is None:
            raise _Changed

    def _mark(self, plan: Plan, caller: Caller) -> int:
        summary = plan.path.removesuffix(".md")
        return sum(self._marked(one.path, summary, caller) for one in plan.given)

    def _marked(self, path: str, summary: str, caller: Caller) -> bool:
        """Write into a source what it is summed up in; tell whether that was missing."""

        def change(file: FileText | None) -> str | None:
            return with_mark(file.text, summary) if file else None

        try:
            return self._means.gate.save(path, change, caller, "it is summed up") is not None
        except VaultMindError as error:  # the summary names it: nothing is summed up twice
            log.warning("%s was not marked as summed up: %s", path, error)
            return False

    def _completed(self, agent: str, caller: Caller) -> list[SummaryDone]:
        """Add the marks that are missing on what summaries name; return which these are."""
        device = self._means.device
        made = self._summaries(agent, "L1")
        lacking: dict[str, tuple[Level, Summary, list[str]]] = {}
        for session, one in unmarked(self._means.heads(agent), made, device).items():
            path = self._paths.session(agent, session)
            lacking.setdefault(one.path, ("L1", one, []))[2].append(path)
        above = self._summaries(agent, "L2")
        of = {name: one for one in above if not one.is_copy for name in one.file.sources}
        for low in of_device(made, device):
            over = of.get(low.stem) or of.get(low.id)
            if over and not (low.file.summarised_in or low.file.fault or low.is_copy):
                lacking.setdefault(over.path, ("L2", over, []))[2].append(low.path)
        done = []
        for level, one, paths in lacking.values():
            summary = one.path.removesuffix(".md")
            if sum(self._marked(path, summary, caller) for path in paths):
                done.append(completed(agent, level, one))
        return done

    def _better(self, run: _Run) -> list[SummaryDone]:
        """Have models write what they could not when it was due; return what they wrote."""
        done = []
        for level in LEVELS:
            ours = of_device(self._summaries(run.agent, level), self._means.device)
            for one in ours:
                if one.file.pending and not (one.file.fault or one.is_copy):
                    try:
                        done += self._written_by_a_model(run, level, one)
                    except (_Changed, VaultMindError) as error:  # another time
                        log.warning("%s was not written by a model: %s", one.path, error)
        return done

    def _written_by_a_model(self, run: _Run, level: Level, one: Summary) -> list[SummaryDone]:
        notes: list[str] = []
        given = self._made_of(run.agent, level, one.id, one, notes)
        plan = self._plan(run.agent, one.id, one.path, given, notes)
        plan = replace(plan, failed=one.file.tries)
        if not plan.told.again:
            self._save(plan, run.caller, "a model writes a summary", anew=True)
            return [plan.done("written")]
        pending = plan.properties("", "").pending

        def change(file: FileText | None) -> str | None:
            return with_tries(file.text, plan.tries if pending else None) if file else None

        if not plan.told.untried:
            reason = "a model could not write a summary"
            self._means.gate.save(one.path, change, run.caller, reason)
        return []

    def _summaries(self, agent: str, level: Level) -> list[Summary]:
        return summaries(self._means.reader, agent, level, [])

    def _size(self, level: Level) -> int:
        settings = self._means.settings
        return settings.l1_sessions if level == "L1" else settings.l2_summaries

    def _number(self, agent: str, level: Level) -> int:
        every = [*self._summaries(agent, "L1"), *self._summaries(agent, "L2")]
        return next_number(self._paths, agent, level, named(self._means.heads(agent), every))


def _conflict(path: str) -> WriteConflict:
    return WriteConflict(f"{path}, or what it is made of, kept changing.")
