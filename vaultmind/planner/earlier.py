"""What earlier work says of a task: which files episodes like it read and changed, and why.

The episodes come from the tables over their notes; only those whose notes the caller may read
count, and what was forgotten of them is not told.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from vaultmind import tokens
from vaultmind.episodes.causal import changed_files, used
from vaultmind.episodes.types import TASK, Episode, Event, Used, seconds_of
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import Candidate
from vaultmind.planner.task import Comparable, alike, comparable, comparable_of
from vaultmind.planner.types import EarlierWork, Understood
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.types import Caller
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables, TaskRow
    from vaultmind.planner.sources import Source

MOST_ALIKE, OTHERS = 12, 3
"""Episodes that count for one task; no agent but one's own has more than one in `OTHERS`."""
MOST_HIDDEN = 20
"""After so many episodes of an agent that the caller may not know of, it is asked of no more."""
SAME_ISSUE = 0.8
"""How alike tasks of one issue are, whatever their words."""
LEAST_ALIKE, TOLD_ALIKE = 0.05, 0.3
"""How alike a task is for its files to count, and for its work to be told of."""
MOST_TOLD, LOOKED_AT = 3, 6
"""Episodes that are told of, and of how many it is looked whether there is anything to tell."""
MOST_FILES = 40
COMMON_SHARE, FEW = 0.1, 40
"""A word that more of the tasks have leads to none of them, unless they are few."""
SHARE = 0.1
"""Share of a plan's budget that earlier work may take."""
HEAD = "Earlier work on tasks like this:"
FORGOTTEN = "a task that was forgotten"
SHOWN_FILES, SHOWN_DECISIONS, MAX_TASK, MAX_WORDS = 6, 3, 120, 200
SLACK = 4
"""Tokens that two texts together may take more than each by itself."""
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
    """What earlier work says of one task."""

    found: tuple[Candidate, ...] = ()
    works: tuple[EarlierWork, ...] = ()


@dataclass(slots=True)
class _Tasks:
    """The tasks of a source that are over, as the tables held them, and who has which word."""

    changes: int = -1
    rows: Mapping[str, TaskRow] = field(default_factory=dict)
    known: dict[str, Comparable] = field(default_factory=dict)
    holders: dict[str, list[str]] = field(default_factory=dict)


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
        self._tables, self._stands, self._showing = tables, stands, showing
        self._paths, self._clock, self._person = paths, clock, person
        self._lock = threading.Lock()
        self._sources: dict[str, _Tasks] = defaultdict(_Tasks)

    def recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        """Return what earlier work says of a task; nothing where the tables cannot be read."""
        try:
            return self._recall(understood, source, caller)
        except VaultMindError as error:  # a plan does without it
            log.warning("earlier work is not recalled: %s", error)
            return Recalled()

    def _recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        tables = self._tables()
        tasks = self._followed(tables, source.name)
        near = self._near(tables, tasks, source.name, understood, caller)
        if not near:
            return Recalled()
        episodes = tables.load([*near])
        found = used(episodes.values(), near, self._clock(), most=MOST_FILES)
        like = frozenset(name for name, one in near.items() if one >= TOLD_ALIKE)
        parts = self._parts([one for name, one in episodes.items() if name in like])
        return Recalled(
            tuple(
                Candidate(
                    one.path,
                    {"affinity": one.weight, "causal": one.causal},
                    because=(_because(one, tasks.rows, like),),
                    causal=one.causal,
                    parts=tuple(parts.get(one.path, ())),
                )
                for one in found.values()
            ),
            tuple(self._works(tables, episodes, near, source, caller)),
        )

    def _followed(self, tables: Tables, source: str) -> _Tasks:
        """Return the tasks of a source as the tables hold them now; each is understood once."""
        with self._lock:
            tasks, changes = self._sources[source], tables.changes
            if tasks.changes != changes:
                rows = {row.episode: row for row in tables.tasks(source)}
                known = {
                    name: tasks.known[name]
                    if name in tasks.known and tasks.rows[name].task == row.task
                    else comparable_of(row.task, row.kind, row.fingerprint, source)
                    for name, row in rows.items()
                }
                holders: dict[str, list[str]] = {}
                for name, one in known.items():
                    for word in (*one.roots, *one.names, f"={one.fingerprint}"):
                        holders.setdefault(word, []).append(name)
                tasks = self._sources[source] = _Tasks(changes, rows, known, holders)
            return tasks

    def _near(
        self, tables: Tables, tasks: _Tasks, source: str, understood: Understood, caller: Caller
    ) -> dict[str, float]:
        """Return the likest episodes that a caller may know of, the likest first.

        Those of the same issue are alike, whatever their words. Of no other agent there are so
        many that it decides alone; of equals one's own come first, then the latest.
        """
        wanted, limit = comparable(understood), max(FEW, COMMON_SHARE * len(tasks.known))
        names = set[str]()
        for word in (*wanted.roots, *wanted.names, f"={wanted.fingerprint}"):
            held = tasks.holders.get(word, [])
            names.update(held if len(held) <= limit or word[0] == "=" else ())
        found = {name: alike(wanted, tasks.known[name]) for name in names}
        for name in tables.naming(source, understood.entities.references):
            found[name] = max(found.get(name, 0.0), SAME_ISSUE)
        own = {caller.agent, self._person}
        ranked = sorted(found, key=lambda name: name.rpartition("/")[2], reverse=True)
        ranked.sort(key=lambda name: (-found[name], _agent(name) not in own))
        near = [one for one in ranked if found[one] >= LEAST_ALIKE and one in tasks.rows]
        return {name: found[name] for name in fair([*self._shown(near, own, caller)], own)}

    def _shown(self, names: Iterable[str], own: Collection[str], caller: Caller) -> Iterator[str]:
        """Yield of some episodes those that a caller may know of, of each agent a few."""
        shown, hidden = Counter[str](), Counter[str]()
        for name in names:
            agent = _agent(name)
            most = MOST_ALIKE if agent in own else MOST_ALIKE // OTHERS
            if shown[agent] >= most or hidden[agent] >= MOST_HIDDEN:
                continue
            path = self._paths.episode(agent, name.partition("/")[2])
            is_shown = self._showing.shows(path, caller)
            (shown if is_shown else hidden)[agent] += 1
            if is_shown:
                yield name

    def _parts(self, episodes: Iterable[Episode]) -> dict[str, dict[str, None]]:
        """Return which definitions or headings episodes told to have changed, the latest first."""
        told = [
            (event.time, event.path, event.symbol)
            for one in episodes
            for event in self._events(one)
            if event.changes and event.symbol
        ]
        found: dict[str, dict[str, None]] = {}
        for _, path, part in sorted(told, key=lambda it: it[0], reverse=True):
            found.setdefault(path, {})[part] = None
        return found

    def _events(self, one: Episode) -> list[Event]:
        """Return the events of an episode that are not forgotten."""
        record, hides = self._record(one), self._showing.hides
        if not hides(one.agent, record, *(it.block for it in one.events)):
            return [*one.events]
        return [it for it in one.events if not hides(one.agent, record, it.block)]

    def _record(self, one: Episode) -> str:
        return self._paths.episode(one.agent, one.id).removesuffix(".md")

    def _works(
        self, tables: Tables, episodes: Mapping[str, Episode], near: Mapping[str, float],
        source: Source, caller: Caller,
    ) -> Iterator[EarlierWork]:  # fmt: skip
        """Yield the likest episodes that have anything to tell, as they may be told."""
        yielded: set[tuple[str, str]] = set()
        for name in [name for name, like in near.items() if like >= TOLD_ALIKE][:LOOKED_AT]:
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

    def _work_of(self, one: Episode, like: float, source: Source, caller: Caller) -> EarlierWork:
        """Return an episode as it may be told: no secret of it, and nothing that is forgotten."""
        record, shows = self._record(one), source.index.outlet.shows
        clean, hides = self._showing.clean, self._showing.hides
        files = changed_files(one.events).items()
        changed = sorted(files, key=lambda it: (-seconds_of(it[1].last), it[0]))
        return EarlierWork(
            one.name,
            day_of(seconds_of(one.started)),
            FORGOTTEN if hides(one.agent, record, TASK) else clean(one.task.text),
            one.outcome,
            like,
            tuple(
                path for path, what in changed
                if (what.change == "removed" or source.has(path)) and shows(path, caller)
            ),
            tuple(clean(it.text) for it in self._events(one) if it.kind == "decision"),
            "" if hides(one.agent, record, one.why_block) else clean(one.rationale),
        )  # fmt: skip


def fair(names: Sequence[str], own: Collection[str], most: int = MOST_ALIKE) -> list[str]:
    """Return the first of some episodes (`agent/id`), of no agent too many.

    Of an agent that is not one of one's own no more than a third: of those that are returned
    where own ones are among them, else of `most`.
    """
    taken: list[str] = []
    for share in range(max(1, most // OTHERS), 0, -1):
        counts, taken = Counter[str](), []
        for name in names:
            agent = _agent(name)
            if len(taken) < most and (agent in own or counts[agent] < share):
                counts[agent] += 1
                taken.append(name)
        others = [count for agent, count in counts.items() if agent not in own]
        if sum(others) == len(taken) or max(others, default=0) <= max(1, len(taken) // OTHERS):
            break
    return taken


def _agent(episode: str) -> str:
    return episode.partition("/")[0]


def day_of(seconds: int) -> str:
    """Return the day of a time, where this machine is."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date().isoformat()


def _because(one: Used, rows: Mapping[str, TaskRow], like: Collection[str]) -> str:
    """Return in words how earlier work used a file: by days and outcomes, in nobody's words."""
    near = [deed for deed in one.by if deed.episode in like]
    told = near or one.by
    changed = [deed for deed in told if deed.changed]
    parts = [("changed", len(changed)), ("read", len(told) - len(changed))]
    did, *more = [(how, number) for how, number in parts if number]
    which = "like this" if near else "that share words with it"
    words = f"{did[0]} in {counted(did[1], 'earlier task')} {which}"
    last = max(changed, key=lambda deed: deed.linked_at, default=None)
    row = rows.get(last.episode) if last is not None else None
    if last is not None and row is not None:
        known = [row.outcome, *([last.commit[:8]] if last.commit else [])]
        words += f", last on {day_of(row.started)} ({', '.join(known)})"
    return words + "".join(f", and {how} in {number} more" for how, number in more)


# --- how it is told -----------------------------------------------------------------------


def told_within(works: Sequence[EarlierWork], budget: int) -> tuple[tuple[EarlierWork, ...], str]:
    """Return the works that fit into a share of a budget, and the text that tells of them."""
    told: list[EarlierWork] = []
    for work in works:
        short = replace(work, decisions=(), rationale="")
        for form in (_line(work, SHOWN_FILES, SHOWN_DECISIONS), _line(work, SHOWN_FILES // 2, 1),
                     _line(short, SHOWN_FILES // 2, 0)):  # fmt: skip
            text = "\n".join([HEAD, *(one.text for one in told), form])
            if tokens.count(f"{text}\n\n") + SLACK <= int(budget * SHARE):
                told.append(replace(work, text=form))
                break
    return tuple(told), "\n".join([HEAD, *(one.text for one in told)]) if told else ""


def _line(work: EarlierWork, files: int, decisions: int) -> str:
    who = _agent(work.episode)
    parts = [f"- {work.when}, {who}, {work.outcome}: {_clipped(work.task, MAX_TASK)}"]
    if work.changed:
        shown = ", ".join(map(one_line, work.changed[:files]))
        more = len(work.changed) - files
        parts.append(f"changed {shown}{f' and {more} more' if more > 0 else ''}")
    parts += [f"decided: {_clipped(one, MAX_WORDS)}" for one in work.decisions[:decisions]]
    parts += [f"because: {_clipped(work.rationale, MAX_WORDS)}"] if work.rationale else []
    return "; ".join(parts)


def _clipped(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
