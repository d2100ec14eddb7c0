"""What earlier work says of a task: which files episodes like it read and changed, and why.

The episodes come from the tables over their notes; only those whose notes the caller may read
count, and what was forgotten of them is not told.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from vaultmind.episodes.causal import changed_files, used
from vaultmind.episodes.types import TASK, Episode, Event, Used, seconds_of
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates.pool import Candidate
from vaultmind.planner.earlier.alike import OTHERS, AlikeTasks, EarlierTask, agent_of, fair
from vaultmind.planner.types import EarlierWork, Understood
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables, TaskRow
    from vaultmind.planner.sources.sources import Source

MOST_ALIKE = 12
"""Episodes that count for one task, the likest."""
MOST_HIDDEN = 20
"""After so many episodes of an agent that the caller may not know of, it is asked of no more."""
SAME_ISSUE = 0.8
"""How alike tasks of one issue are, whatever their words."""
LEAST_ALIKE, TOLD_ALIKE = 0.05, 0.3
"""How alike a task is for its files to count, and for its work to be told of."""
MOST_TOLD, LOOKED_AT = 3, 6
"""Episodes that are told of, and of how many it is looked whether there is anything to tell."""
MOST_FILES = 40
AT_ONCE = 8
"""Tasks, those that look likest, that one plan understands by itself; the others are understood
aside, at less than a millisecond each."""
BATCH, PAUSE_SECONDS = 10, 0.005
SHORT_COMMIT = 8
LIKE, UNLIKE = "like this", "that share words with it"
FORGOTTEN = "a task that was forgotten"

log = logging.getLogger(__name__)


class Showing(Protocol):
    """What decides who may see what of the notes: an outlet of the vault."""

    def shows(self, path: str, caller: Caller) -> bool:
        """Tell whether a caller may see a vault-relative path."""
        ...

    def hides(self, agent: str, record: str, *names: str) -> bool:
        """Tell whether a line of a record is forgotten."""
        ...

    def clean(self, text: str) -> str:
        """Return a text without the secrets in it."""
        ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """What earlier work says of one task. Implements `pool.Provider`: of that task alone."""

    found: tuple[Candidate, ...] = ()
    works: tuple[EarlierWork, ...] = ()
    waiting: int = 0
    """Earlier tasks that are not understood yet: these may be likelier."""
    known: int = 0
    """Earlier tasks, all of them."""

    @property
    def note(self) -> str:
        """Return what the plan lacks; nothing where all earlier tasks were compared."""
        if not self.waiting:
            return ""
        done = self.known - self.waiting
        return f"{done:,} of {counted(self.known, 'earlier task')} are compared with this one yet."

    def candidates(
        self, understood: Understood, source: Source, caller: Caller
    ) -> Iterable[Candidate]:
        """Return the files that earlier work on such tasks read or changed."""
        return self.found


@dataclass(frozen=True, slots=True)
class _Kept:
    """The tasks of a source that are over, as the tables held them."""

    source: str
    changes: int
    rows: Mapping[str, TaskRow]
    tasks: AlikeTasks


class Earlier:
    """Recalls earlier work on tasks like one. Any thread."""

    def __init__(
        self,
        tables: Callable[[], Tables],
        showing: Showing,
        paths: VaultPaths,
        clock: Clock,
        stands: Callable[[Tables, str], bool] = lambda tables, name: True,
        person: str = "main",
    ) -> None:
        """`stands` tells whether the tables hold an episode as its note says it now.

        `person` is the agent to which what the person does is put down.
        """
        self._tables = tables
        self._stands = stands
        self._showing = showing
        self._paths = paths
        self._clock = clock
        self._person = person
        self._lock = threading.Lock()
        self._following = threading.Lock()
        self._sources: dict[str, _Kept] = {}
        self._working: list[AlikeTasks] = []
        self._closed = threading.Event()

    def recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        """Return what earlier work says of a task; nothing where the tables cannot be read."""
        try:
            return self._recall(understood, source, caller)
        except VaultMindError as error:  # a plan does without it
            log.warning("earlier work is not recalled: %s", error)
            return Recalled()

    def settle(self, source: str, timeout_seconds: float) -> bool:
        """Have the tasks of a source understood; tell whether there was the time."""
        deadline = time.monotonic() + timeout_seconds
        try:
            tables = self._tables()
            kept = self._kept(tables, source)
            while kept.tasks.understand_some(BATCH):
                if time.monotonic() >= deadline:
                    return False
        except VaultMindError as error:
            log.warning("earlier work is not recalled: %s", error)
        return True

    def close(self) -> None:
        """Understand no more."""
        self._closed.set()

    def _recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        tables = self._tables()
        kept = self._kept(tables, source.name)
        waiting = kept.tasks.understand_some(AT_ONCE, understood)
        if waiting:
            self._go_on(kept)
        near = self._near(tables, kept, understood, caller)
        if not near:
            return Recalled(waiting=waiting, known=len(kept.rows))
        episodes = tables.load([*near])
        found = used(episodes.values(), near, self._clock(), most=MOST_FILES)
        like = frozenset(name for name, alike in near.items() if alike >= TOLD_ALIKE)
        parts = self._parts([one for name, one in episodes.items() if name in like])
        return Recalled(
            tuple(
                replace(_candidate(one, kept.rows, like), parts=tuple(parts.get(one.path, ())))
                for one in found.values()
            ),
            tuple(self._works(tables, episodes, near, source, caller)),
            waiting,
            len(kept.rows),
        )

    def _parts(self, episodes: Iterable[Episode]) -> dict[str, dict[str, None]]:
        """Return which definitions or headings some episodes told to have changed, by path.

        The latest first; not those of a line that is forgotten.
        """
        told = [
            (event.time, event.path, event.symbol)
            for one in episodes
            for event in self._shown_events(one)
            if event.changes and event.symbol
        ]
        found: dict[str, dict[str, None]] = {}
        for _, path, part in sorted(told, key=lambda it: it[0], reverse=True):
            found.setdefault(path, {})[part] = None
        return found

    def _shown_events(self, one: Episode) -> Iterator[Event]:
        """Yield the events of an episode that are not forgotten."""
        record = self._paths.episode(one.agent, one.id).removesuffix(".md")
        hides = self._showing.hides
        any_hidden = hides(one.agent, record, *(it.block for it in one.events))
        yield from (
            it for it in one.events if not (any_hidden and hides(one.agent, record, it.block))
        )

    def _near(
        self, tables: Tables, kept: _Kept, understood: Understood, caller: Caller
    ) -> dict[str, float]:
        """Return the likest episodes that a caller may know of, the likest first.

        Those of the same issue are alike, whatever their words. Of no other agent there are so
        many that it decides alone; of equals one's own come first.
        """
        found = kept.tasks.find(understood, LEAST_ALIKE)
        if named := tables.naming(kept.source, understood.entities.references):
            same = {name: max(found.get(name, 0.0), SAME_ISSUE) for name in named}
            found = dict(sorted({**found, **same}.items(), key=lambda one: -one[1]))
        own = {caller.agent, self._person}
        # what is understood may be newer than the rows: another thread follows the tables, too
        likest = (name for name in _own_first(found, own) if name in kept.rows)
        shown = [*self._shown(likest, own, caller)]
        return {name: found[name] for name in fair(shown, own, MOST_ALIKE)}

    def _shown(self, names: Iterable[str], own: Collection[str], caller: Caller) -> Iterator[str]:
        """Yield of some episodes those that a caller may know of, of each agent a few.

        No more once one's own alone are as many as count.
        """
        shown: Counter[str] = Counter()
        hidden: Counter[str] = Counter()
        for name in names:
            if sum(shown[agent] for agent in own) >= MOST_ALIKE:
                return
            agent = agent_of(name)
            most = MOST_ALIKE if agent in own else MOST_ALIKE // OTHERS
            if shown[agent] >= most or hidden[agent] >= MOST_HIDDEN:
                continue
            if self._shows(name, caller):
                shown[agent] += 1
                yield name
            else:
                hidden[agent] += 1

    def _kept(self, tables: Tables, source: str) -> _Kept:
        """Return the tasks of a source as the tables hold them now."""
        with self._following:
            kept, changes = self._sources.get(source), tables.changes
            if kept is not None and kept.changes == changes:
                return kept
            rows = {row.episode: row for row in tables.tasks(source)}
            tasks = kept.tasks if kept is not None else AlikeTasks(source)
            tasks.set(
                EarlierTask(it.episode, it.task, it.kind, it.fingerprint) for it in rows.values()
            )
            kept = self._sources[source] = _Kept(source, changes, rows, tasks)
            return kept

    def _go_on(self, kept: _Kept) -> None:
        """Understand the other tasks aside."""
        with self._lock:
            if kept.tasks in self._working:
                return
            self._working.append(kept.tasks)
        threading.Thread(target=self._work, args=(kept.tasks,), name="earlier", daemon=True).start()

    def _work(self, tasks: AlikeTasks) -> None:
        try:
            while not self._closed.wait(PAUSE_SECONDS) and tasks.understand_some(BATCH):
                pass
        except Exception:  # the thread's last word: plans know fewer earlier tasks
            log.exception("earlier tasks are not understood")
        finally:
            with self._lock:
                self._working.remove(tasks)

    def _shows(self, name: str, caller: Caller) -> bool:
        agent, _, episode = name.partition("/")
        return self._showing.shows(self._paths.episode(agent, episode), caller)

    def _works(
        self, tables: Tables, episodes: Mapping[str, Episode], near: Mapping[str, float],
        source: Source, caller: Caller,
    ) -> Iterator[EarlierWork]:  # fmt: skip
        """Yield the likest episodes that have anything to tell, as they may be told."""
        some = [name for name, alike in near.items() if alike >= TOLD_ALIKE][:LOOKED_AT]
        yielded: set[tuple[str, str]] = set()
        for name in some:
            one = episodes.get(name)
            if one is None or len(yielded) == MOST_TOLD:
                continue
            same = (one.task.fingerprint or name, one.outcome)
            if same in yielded or not self._stands(tables, name):
                continue  # it was edited: it is told of once that is read
            work = self._work_of(one, near[name], source, caller)
            if work.changed or work.decisions or work.rationale:
                yielded.add(same)
                yield work

    def _work_of(self, one: Episode, alike: float, source: Source, caller: Caller) -> EarlierWork:
        """Return an episode as it may be told: no secret of it, and nothing that is forgotten."""
        record = self._paths.episode(one.agent, one.id).removesuffix(".md")
        clean, hides = self._showing.clean, self._showing.hides
        changed = sorted(
            changed_files(one.events).items(), key=lambda it: (-seconds_of(it[1].last), it[0])
        )
        shows = source.index.outlet.shows
        return EarlierWork(
            one.name,
            day_of(seconds_of(one.started)),
            FORGOTTEN if hides(one.agent, record, TASK) else clean(one.task.text),
            one.outcome,
            alike,
            tuple(
                path for path, what in changed
                if (what.change == "removed" or source.has(path)) and shows(path, caller)
            ),
            tuple(clean(it.text) for it in self._shown_events(one) if it.kind == "decision"),
            "" if hides(one.agent, record, one.why_block) else clean(one.rationale),
        )  # fmt: skip


def _own_first(found: Mapping[str, float], own: Collection[str]) -> Iterator[str]:
    """Yield episodes as they come, the likest first, of equals one's own first."""
    begin = tuple(f"{agent}/" for agent in own)
    for _, equals in groupby(found, key=found.__getitem__):
        names = [*equals]
        yield from (
            names if len(names) == 1 else sorted(names, key=lambda it: not it.startswith(begin))
        )


@lru_cache(maxsize=2_000)
def day_of(seconds: int) -> str:
    """Return the day of a time, where this machine is."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date().isoformat()


def _candidate(one: Used, rows: Mapping[str, TaskRow], alike: Collection[str]) -> Candidate:
    """Return a file with what earlier work says for it."""
    signals = {"affinity": one.weight, "causal": one.causal}
    return Candidate(one.path, signals, because=(_because(one, rows, alike),), causal=one.causal)


def _because(one: Used, rows: Mapping[str, TaskRow], alike: Collection[str]) -> str:
    """Return in words how earlier work used a file: by days and outcomes, in nobody's words.

    Of the tasks that are as like as those that are told of; only where none of these used it, of
    those that share some words.
    """
    like = [deed for deed in one.by if deed.episode in alike]
    told = like or one.by
    changed = [deed for deed in told if deed.changed]
    parts = [("changed", len(changed)), ("read", len(told) - len(changed))]
    did, *more = [(how, number) for how, number in parts if number]
    words = f"{did[0]} in {counted(did[1], 'earlier task')} {LIKE if like else UNLIKE}"
    last = max(changed, key=lambda deed: deed.linked_at, default=None)
    row = rows.get(last.episode) if last is not None else None
    if last is not None and row is not None:
        known = [row.outcome, *([last.commit[:SHORT_COMMIT]] if last.commit else [])]
        words += f", last on {day_of(row.started)} ({', '.join(known)})"
    return words + "".join(f", and {how} in {number} more" for how, number in more)
