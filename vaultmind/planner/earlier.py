"""What earlier work says of a task: which files episodes like it read and changed, and why.

The episodes come from the tables over their notes; only those whose notes the caller may read
count, and what was forgotten of them is not told.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from vaultmind import tokens
from vaultmind.episodes.causal import Used, changed_files, used
from vaultmind.episodes.types import TASK, Episode, Event
from vaultmind.errors import VaultMindError
from vaultmind.planner.candidates import Candidate
from vaultmind.planner.task import alike, earlier_task
from vaultmind.planner.types import EarlierWork, Understood
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.times import seconds_of
from vaultmind.types import Caller
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.episodes.store import Tables
    from vaultmind.index.outlet import Outlet
    from vaultmind.planner.source import Source

MOST_ALIKE, OTHERS = 12, 4
"""Episodes that count for one task, and of them of an agent that is not one's own: none of those
decides alone."""
SAME_ISSUE = 0.8
"""How alike tasks of one issue are, whatever their words."""
LEAST_ALIKE, TOLD_ALIKE = 0.05, 0.3
"""How alike a task is for its files to count, and for its work to be told of."""
MOST_TOLD, LOOKED_AT = 3, 6
"""Episodes that are told of, and of how many it is looked whether there is anything to tell."""
MOST_FILES = 40
SHARE = 0.1
"""Share of a plan's budget that earlier work may take."""
HEAD = "Earlier work on tasks like this:"
FORGOTTEN = "a task that was forgotten"
SHOWN_FILES, SHOWN_DECISIONS, TASK_TOKENS, SAID_TOKENS = 6, 3, 30, 50
LEAST_TOLD = 30
"""Tokens in which there is something to tell of an episode."""
SLACK = 4
"""Tokens that two texts together may take more than each by itself."""
log = logging.getLogger(__name__)


Recalled = tuple[tuple[Candidate, ...], tuple[EarlierWork, ...]]
"""What earlier work says of one task: files, and what was done."""


class Earlier:
    """Recalls earlier work on tasks like one. Any thread."""

    def __init__(
        self,
        tables: Callable[[], Tables],
        showing: Outlet,
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

    def recall(self, understood: Understood, source: Source, caller: Caller) -> Recalled:
        """Return what earlier work says of a task; nothing where the tables cannot be read."""
        try:
            tables = self._tables()
            near = self._near(tables, source.name, understood, caller)
            episodes = tables.load([*near]) if near else {}
            found = used(episodes.values(), near, self._clock(), most=MOST_FILES)
            works = tuple(islice(self._works(tables, episodes, near, source, caller), MOST_TOLD))
        except VaultMindError as error:  # a plan does without it
            log.warning("earlier work is not recalled: %s", error)
            return (), ()
        parts: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """Which definitions or headings such work told to have changed, the latest first."""
        like = [one for name, one in episodes.items() if near[name] >= TOLD_ALIKE]
        events = [event for one in like for event in self._events(one) if event.changes]
        for event in sorted(events, key=lambda it: it.time, reverse=True):
            parts[event.path] |= {event.symbol: None} if event.symbol else {}
        files = tuple(
            Candidate(
                one.path,
                {"affinity": one.weight, "causal": one.causal},
                because={_because(one, episodes, near): None},
                parts=tuple(parts[one.path]),
            )
            for one in found.values()
        )
        return files, works

    def _near(
        self, tables: Tables, source: str, understood: Understood, caller: Caller
    ) -> dict[str, float]:
        """Return the likest episodes that a caller may know of, the likest first.

        Those of the same issue are alike, whatever their words. Of equals one's own come first,
        then the latest.
        """
        own = {caller.agent, self._person}
        found: dict[str, float] = {}
        for row in tables.tasks(source):
            task = earlier_task(row.task, row.kind, row.fingerprint, source)
            found[row.episode] = alike(understood, task)
        for name in found.keys() & {*tables.naming(source, understood.references)}:
            found[name] = max(found[name], SAME_ISSUE)
        ranked = [name for name in found if found[name] >= LEAST_ALIKE]
        ranked.sort(key=lambda name: name.rpartition("/")[2], reverse=True)
        ranked.sort(key=lambda name: (-found[name], name.partition("/")[0] not in own))
        near: dict[str, float] = {}
        shown = Counter[str]()
        for name in ranked:
            agent, _, episode = name.partition("/")
            most = MOST_ALIKE if agent in own else OTHERS
            has_room = len(near) < MOST_ALIKE and shown[agent] < most
            if has_room and self._showing.shows(self._paths.episode(agent, episode), caller):
                shown[agent] += 1
                near[name] = found[name]
        return near

    def _hides(self, one: Episode, block: str) -> bool:
        record = self._paths.episode(one.agent, one.id).removesuffix(".md")
        return self._showing.hides(one.agent, record, block)

    def _events(self, one: Episode) -> list[Event]:
        """Return the events of an episode that are not forgotten."""
        return [it for it in one.events if not self._hides(one, it.block)]

    def _works(
        self,
        tables: Tables,
        episodes: Mapping[str, Episode],
        near: Mapping[str, float],
        source: Source,
        caller: Caller,
    ) -> Iterator[EarlierWork]:
        """Yield the likest episodes that have anything to tell: no secret, nothing forgotten."""
        yielded: set[tuple[str, str]] = set()
        shows, root = source.index.outlet.shows, source.root
        for name in [name for name, like in near.items() if like >= TOLD_ALIKE][:LOOKED_AT]:
            one = episodes.get(name)
            if one is None or not self._stands(tables, name):
                continue  # it was edited: it is told of once that is read
            files = changed_files(one.events).items()
            changed = tuple(
                path
                for path, what in sorted(files, key=lambda it: (-seconds_of(it[1].last), it[0]))
                if (what.change == "removed" or (root / path).is_file()) and shows(path, caller)
            )
            decisions = [mask(it.text).text for it in self._events(one) if it.kind == "decision"]
            why = "" if self._hides(one, one.why_block) else mask(one.rationale).text
            same = (one.task.fingerprint or name, one.outcome)
            if same not in yielded and (changed or decisions or why):
                yielded.add(same)
                task = one_line(FORGOTTEN if self._hides(one, TASK) else mask(one.task.text).text)
                day = day_of(seconds_of(one.started))
                head = f"- {day}, {one.agent}, {one.outcome}: {tokens.clip(task, TASK_TOKENS)}"
                told = [f"decided: {it}" for it in decisions[:SHOWN_DECISIONS]]
                told += [f"because: {why}"] if why else []
                told = [tokens.clip(one_line(it), SAID_TOKENS) for it in told]
                more = len(changed) - SHOWN_FILES
                named = ", ".join(map(one_line, changed[:SHOWN_FILES]))
                named += f" and {more} more" if more > 0 else ""
                text = "; ".join([head, *([f"changed {named}"] if changed else []), *told])
                yield EarlierWork(name, day, one.outcome, near[name], changed, text)


def day_of(seconds: float) -> str:
    """Return the day of a time, where this machine is."""
    return datetime.fromtimestamp(seconds, UTC).astimezone().date().isoformat()


def _because(one: Used, episodes: Mapping[str, Episode], near: Mapping[str, float]) -> str:
    """Return in words how earlier work used a file: by days and outcomes, in nobody's words."""
    like = [deed for deed in one.by if near[deed.episode] >= TOLD_ALIKE]
    changed = [deed for deed in like or one.by if deed.changed]
    words = counted(len(changed or like or one.by), "earlier task")
    words += " like this" if like else " that share words with it"
    if not changed:
        return f"read in {words}"
    last = episodes[max(changed, key=lambda deed: deed.linked_at).episode]
    return f"changed in {words}, last on {day_of(seconds_of(last.started))} ({last.outcome})"


# --- how it is told -----------------------------------------------------------------------


def told_within(works: Sequence[EarlierWork], budget: int) -> tuple[tuple[EarlierWork, ...], str]:
    """Return the works that fit into a share of a budget, and the text that tells of them."""
    told, text = list[EarlierWork](), HEAD
    for work in works:
        room = int(budget * SHARE) - tokens.count(f"{text}\n\n") - SLACK
        if room >= LEAST_TOLD:
            told.append(replace(work, text=tokens.clip(work.text, room)))
            text = f"{text}\n{told[-1].text}"
    return tuple(told), text if told else ""
