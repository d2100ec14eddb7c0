"""Which earlier tasks of a source are like one: each is understood once, and found by its words."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultmind.planner.earlier.comparing import Compared
from vaultmind.planner.intent import understand
from vaultmind.planner.intent.similarity import Comparable, comparable
from vaultmind.planner.types import TASK_KINDS, TaskKind, Understood

OTHERS = 3
"""No agent but one's own has more than one in so many of the episodes that count."""
SAME = 1.0
"""How alike tasks of one fingerprint are: they need not be understood for it."""
_BEGINNING = re.compile(r"\b\w{3,4}")
"""What of a word is compared before a task is understood."""


@dataclass(frozen=True, slots=True)
class EarlierTask:
    """A task that is over, as it is looked for."""

    episode: str
    """`agent/id`."""
    text: str
    kind: str
    fingerprint: str


class AlikeTasks:
    """The earlier tasks of one source, by their words. Any thread."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._waiting: dict[str, EarlierTask] = {}
        self._looks: dict[str, frozenset[str]] = {}
        """The beginnings of the words of those that wait, by episode."""
        self._held: dict[str, EarlierTask] = {}
        self._compared = Compared()
        self._understood: dict[str, Comparable] = {}
        """By fingerprint and text: the same task is often done again."""

    @property
    def waiting(self) -> int:
        """Return how many tasks are not understood yet."""
        return len(self._waiting)

    def set(self, tasks: Iterable[EarlierTask]) -> None:
        """Take what tasks there are: those that went are forgotten, new ones wait."""
        now = {one.episode: one for one in tasks}
        with self._lock:
            for episode in [name for name, task in self._held.items() if now.get(name) != task]:
                del self._held[episode]
                self._compared.drop(episode)
            self._waiting = {name: one for name, one in now.items() if name not in self._held}
            self._looks = {}
            kept = {task.fingerprint for task in now.values()}
            self._understood = {
                key: one for key, one in self._understood.items() if one.fingerprint in kept
            }

    def understand_some(self, most: int, like: Understood | None = None) -> int:
        """Understand the next tasks, those that look most like one first; return how many wait."""
        with self._lock:
            some = [*self._waiting.values()][:most] if like is None else self._likest(most, like)
        for task in some:
            key = f"{task.fingerprint} {task.text}"
            seen = self._understood.get(key) or comparable(understood_then(task, self._source))
            with self._lock:
                if self._waiting.get(task.episode) == task:
                    del self._waiting[task.episode]
                    self._understood[key] = seen
                    self._held[task.episode] = task
                    self._compared.put(task.episode, seen)
        return self.waiting

    def find(self, understood: Understood, least: float) -> Mapping[str, float]:
        """Return the episodes whose tasks are like one, best first, with how alike they are.

        Of equals the one that was started last; none is below `least`. Those of its fingerprint
        are found before they are understood.
        """
        wanted = comparable(understood)
        with self._lock:
            scored = self._compared.find(wanted, least)
            scored += [
                (SAME, name)
                for name, task in self._waiting.items()
                if task.fingerprint and task.fingerprint == wanted.fingerprint
            ]
        best = sorted(((value, _when(name), name) for value, name in scored), reverse=True)
        return {name: likeness for likeness, _, name in best}

    def _likest(self, most: int, wanted: Understood) -> list[EarlierTask]:
        """Return those of the waiting tasks that share most words with one, as far as is seen."""
        waiting = self._waiting
        if len(waiting) <= most:
            return [*waiting.values()]
        words = _beginnings(" ".join((*wanted.terms, *wanted.entities.identifiers)))
        for name, task in waiting.items():
            if name not in self._looks:
                self._looks[name] = _beginnings(task.text)
        ranked = sorted(waiting, key=lambda name: -len(words & self._looks[name]))
        return [waiting[name] for name in ranked[:most]]


def fair(names: Sequence[str], own: Collection[str], most: int) -> list[str]:
    """Return the first of some episodes (`agent/id`), of no agent too many.

    Of an agent that is not one of one's own no more than a third: of those that are returned
    where own ones are among them, else of `most`.
    """
    for share in range(max(1, most // OTHERS), 0, -1):
        taken = _first(names, own, share, most)
        counts = Counter(agent for name in taken if (agent := agent_of(name)) not in own)
        fits = max(counts.values(), default=0) <= max(1, len(taken) // OTHERS)
        if fits or len(taken) == counts.total():
            break
    return taken


def agent_of(episode: str) -> str:
    """Return whose an episode is."""
    return episode.partition("/")[0]


def _first(names: Sequence[str], own: Collection[str], share: int, most: int) -> list[str]:
    """Return the first of some episodes, of each agent that is not one's own only `share`."""
    counts: Counter[str] = Counter()
    taken: list[str] = []
    for name in names:
        agent = agent_of(name)
        counts[agent] += 1
        if len(taken) < most and (agent in own or counts[agent] <= share):
            taken.append(name)
    return taken


def _beginnings(text: str) -> frozenset[str]:
    """Return how the words of a text begin: a form of a word is often told by it."""
    return frozenset(_BEGINNING.findall(text.casefold()))


def _when(episode: str) -> str:
    """Return what later episodes have more of: their ids begin with the day."""
    return episode.rpartition("/")[2]


def understood_then(task: EarlierTask, source: str) -> Understood:
    """Return an earlier task as it was understood then: its kind and its fingerprint stand."""
    kind: TaskKind = next((one for one in TASK_KINDS if one == task.kind), "unknown")
    told = understand(task.text, source, kind)
    return replace(told, task_fingerprint=task.fingerprint or told.task_fingerprint)
