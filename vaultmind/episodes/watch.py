"""Turns what a host's hooks tell into episodes: when one begins, what belongs to it, when it ends.

An episode begins with the first tool that is used on a source after a prompt, and the prompt is
its task. It goes on until the conversation ends, or a prompt names another task. What the hooks
did not see is read from the repository's status and log at the end of each turn.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Protocol

from vaultmind.episodes.note import can_keep
from vaultmind.episodes.recorder import Episodes
from vaultmind.episodes.types import Change, Episode, Event, TaskMark
from vaultmind.errors import BadArgument, NotFound
from vaultmind.polling import Worker, quietly
from vaultmind.ports import Clock
from vaultmind.session.capture import parse_line, read_on
from vaultmind.session.unkept import is_off
from vaultmind.times import seconds_of
from vaultmind.types import Caller, Message

MAX_TALKS, MAX_IDS = 64, 2000
"""Conversations that are held, and uses that are known by their ids."""
MOST_DELTAS = 100
"""Files of one turn: more are a tool's doing, or another branch."""
CATCH_UP_SECONDS = 3.0
"""That whoever ends an episode waits for what was not seen of it."""
CHARS_PER_TOKEN = 4
END_BYTES = 1_000_000
"""Bytes of a transcript's end that are looked through for the last prompt."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Use:
    """A tool's use, as the hook tells of it. Paths are absolute, and not looked at yet."""

    time: datetime
    cwd: str = ""
    reads: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    made: bool = False
    """Whether what was edited is new."""
    found: tuple[str, ...] = ()
    query: str = ""
    runs: tuple[str, ...] = ()
    """An outcome and a program: `yes pytest`, ` npm test`."""
    chars: int = 0
    """Of what was read."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with the files of the source that it changed."""

    id: str
    time: float
    subject: str
    """Empty where the commit is about files that are not shown."""
    changed: tuple[tuple[str, Change], ...]


class Watched(Protocol):
    """A source as it is watched."""

    @property
    def name(self) -> str:
        """Return its name."""

    def relative(self, path: Path) -> str:
        """Return a file's path in the source; empty for one that is not of it or not shown."""

    def uncommitted(self) -> Mapping[str, tuple[Change, int]]:
        """Return what differs from the last commit, and when each changed, in nanoseconds."""

    def commits(self, since: float) -> Sequence[Commit]:
        """Return the commits that were made here since then and still stand, oldest first."""


Holding = Callable[[Path], Watched | None]


class Tasks(Protocol):
    """What tells of prompts."""

    def task_mark(self, prompt: str, source: str) -> TaskMark:
        """Make a task of a prompt over a source."""

    def is_another(self, before: Sequence[str], prompt: str, touched: Collection[str]) -> bool:
        """Tell whether a prompt names another task than those before it, on other files."""

    def names_nothing(self, prompt: str) -> bool:
        """Tell whether a prompt names no task."""


@dataclass(slots=True)
class Work:
    """What a conversation does in one source."""

    place: Watched
    began: datetime
    """The turn."""
    gone: frozenset[str] = frozenset()
    """Files that were gone already when the turn began."""
    episode: str = ""
    closed: bool = False
    """It was ended by somebody else: nothing begins before the next prompt."""
    used_at: float = 0.0
    """When a tool was used on it last."""

    def begins(self, when: datetime) -> None:
        """Begin a turn."""
        self.began, self.closed = when, False
        dirty = self.place.uncommitted().items()
        self.gone = frozenset(path for path, (change, _) in dirty if change == "removed")


@dataclass(slots=True)
class Talk:
    """A host's conversation with an agent.

    A prompt is a task's words before any note has them. What is forgotten or erased goes from here
    as it goes from the notes: else the next episode of the conversation would say it again.
    """

    caller: Caller
    session: str
    prompt: str = ""
    """The last that names something."""
    works: dict[str, Work] = field(default_factory=dict)
    ids: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_IDS))


class Watching(Worker):
    """Follows conversations by what hooks tell of them. One thread does it all, in order."""

    def __init__(
        self, records: Episodes, holding: Holding, tasks: Callable[[], Tasks], clock: Clock
    ) -> None:
        """`holding` returns the source that a path lies in, the innermost."""
        self._records = records
        self._holding = holding
        self._tasks = tasks
        self._clock = clock
        self._talks: OrderedDict[tuple[str, str], Talk] = OrderedDict()
        super().__init__("watching")

    # --- what hooks tell; each returns at once ----------------------------------------------

    def prompted(self, caller: Caller, session: str, words: str, cwd: str, when: datetime) -> None:
        """Take notice of what the person asked for."""
        self.then(lambda: self._prompted(self._talk(caller, session), words, cwd, when))

    def used(self, caller: Caller, session: str, use: Use, asked: Callable[[], str] = str) -> None:
        """Take notice of a tool's use; `asked` finds the last prompt where none was told."""
        self.then(lambda: self._used(self._talk(caller, session), use, asked))

    def delegates(self, caller: Caller, session: str, cwd: str) -> None:
        """Begin the episode of what the person asked for: a part of it is being handed on."""
        self.then(lambda: self._delegates(self._talk(caller, session), Path(cwd)))

    def paused(self, caller: Caller, session: str) -> None:
        """Make up for what the hooks of a turn did not see: it is over."""
        now = self._clock()
        self.then(lambda: self._paused(self._talk(caller, session), now))

    def ended(self, caller: Caller, session: str) -> None:
        """End what runs in a conversation: as `unknown`, unless somebody said how it came out."""
        self.then(lambda: self._ended(caller, session))

    def catch_up(self) -> None:
        """Make up for what was not seen of episodes: somebody is about to end one.

        Returns once that is done, or after some time.
        """
        self.then(lambda: [*map(self._settle_turn, self._talks.values())])
        self.wait(CATCH_UP_SECONDS)

    def let_go(self, agent: str = "") -> None:
        """Drop what an agent, or anybody, was asked: something of it may be to be forgotten.

        Returns once that is done, and what was told before is written down; or after some time: it
        is done all the same.
        """

        def forget() -> None:
            for talk in self._talks.values():
                if agent in ("", talk.caller.agent):
                    talk.prompt = ""

        self.then(forget)
        self.wait(CATCH_UP_SECONDS)

    # --- a conversation ---------------------------------------------------------------------

    def _talk(self, caller: Caller, session: str) -> Talk:
        key = (caller.agent or "", session)
        talk = self._talks.setdefault(key, Talk(caller, session))
        self._talks.move_to_end(key)
        while len(self._talks) > MAX_TALKS:
            self._talks.popitem(last=False)
        return talk

    def _prompted(self, talk: Talk, words: str, cwd: str, told: datetime) -> None:
        words = "" if is_off(words, 0.0) else words
        says = bool(words.strip()) and not self._tasks().names_nothing(words)
        self._settle_turn(talk)  # one that was broken off
        for work in talk.works.values():
            running = self._running(talk, work)
            if says and running and self._is_another(talk, running, words):
                self._end(talk, running)
                work.episode = ""
            work.begins(told)
        if says:
            talk.prompt = words
        if cwd and (place := self._holding(Path(cwd))) is not None:
            self._work(talk, place, told)

    def _is_another(self, talk: Talk, running: Episode, words: str) -> bool:
        began = any(one.changes or one.kind in ("read", "hit", "commit") for one in running.events)
        touched = {one.path for one in running.events if one.path}
        asked = [*filter(None, (running.task.text, talk.prompt))]
        return began and self._tasks().is_another(asked, words, touched)

    def _used(self, talk: Talk, use: Use, asked: Callable[[], str]) -> None:
        if use.id and use.id in talk.ids:
            return
        talk.ids.append(use.id)
        if not talk.prompt:  # what was forgotten or erased since is not read again
            words = asked()
            talk.prompt = "" if is_off(words, 0.0) else words
        events: defaultdict[str, list[Event]] = defaultdict(list)
        for place, event in _events_of(use, self._holding):
            work = self._work(talk, place, use.time)
            work.used_at = max(work.used_at, use.time.timestamp())
            events[place.name] += [event] if event else []
        for name, some in events.items():
            self._add(talk, talk.works[name], some)

    def _delegates(self, talk: Talk, folder: Path) -> None:
        if talk.prompt and (place := self._holding(folder)) is not None:
            self._begun(talk, self._work(talk, place, self._clock()))

    def _settle_turn(self, talk: Talk) -> None:
        """Settle a conversation's turn in each source."""
        for work in talk.works.values():
            quietly(partial(self._settle, talk, work))

    def _paused(self, talk: Talk, told: datetime) -> None:
        self._settle_turn(talk)
        for work in talk.works.values():
            work.begins(told)

    def _ended(self, caller: Caller, session: str) -> None:
        talk = self._talks.pop((caller.agent or "", session), None) or Talk(caller, session)
        self._settle_turn(talk)
        for episode in self._records.running(caller.agent or "", session) if session else ():
            self._end(talk, episode)

    # --- work in a source -------------------------------------------------------------------

    def _work(self, talk: Talk, place: Watched, began: datetime) -> Work:
        work = talk.works.get(place.name)
        if work is None:
            work = talk.works[place.name] = Work(place, began)
            work.begins(began)
        return work

    def _running(self, talk: Talk, work: Work) -> Episode | None:
        """Return the episode that runs for a conversation's work in a source.

        One that the agent began itself, without naming the conversation, is gone on with.
        """
        every = self._records.running(talk.caller.agent or "", "", work.place.name)
        if work.episode:
            same = next((one for one in every if one.name == work.episode), None)
            if same is None:
                work.episode, work.closed = "", True
            return same
        held = {it.episode for other in self._talks.values() for it in other.works.values()}
        own = [one for one in every if one.session == talk.session]
        free = [one for one in every if not one.session and one.name not in held]
        found = own[0] if own else free[0] if len(free) == 1 else None
        work.episode = found.name if found else ""
        return found

    def _add(self, talk: Talk, work: Work, events: Sequence[Event]) -> None:
        kept = [one for one in events if can_keep(one)]
        running = self._begun(talk, work) if kept else None
        if running is None:
            return
        try:
            self._records.add(running.name, kept, talk.caller)
        except NotFound:  # the person deleted its note just now
            work.episode, work.closed = "", True

    def _begun(self, talk: Talk, work: Work) -> Episode | None:
        """Return the running episode, begun now where none runs; None without a task."""
        running = self._running(talk, work)
        if running is None and talk.prompt and not work.closed:
            mark = self._tasks().task_mark(talk.prompt, work.place.name)
            running = self._records.start(
                mark, work.place.name, talk.caller, session=talk.session, client=talk.caller.client
            )
            work.episode = running.name
        return running

    def _end(self, talk: Talk, episode: Episode) -> None:
        end = partial(self._records.judge, episode.name, "unknown", "", talk.caller, ends=True)
        quietly(end)

    def _settle(self, talk: Talk, work: Work) -> None:
        """Take what the hooks of a turn did not see: files that differ since, and commits.

        Where another conversation used the same source meanwhile nobody knows who changed a file.
        """
        running = self._running(talk, work)
        if running is None and work.closed:
            return
        since, name = work.began.timestamp(), work.place.name
        others = (
            it.works[name] for it in self._talks.values() if it is not talk and name in it.works
        )
        if work.used_at >= since and not any(one.used_at >= since for one in others):
            seen = {one.path for one in running.events if one.kind != "read"} if running else ()
            deltas = [
                (path, change)
                for path, (change, at_ns) in sorted(work.place.uncommitted().items())
                if (path not in work.gone if change == "removed" else at_ns >= since * 1e9)
                and path not in seen
            ]
            now = self._clock().isoformat(timespec="seconds")
            found = [Event("delta", now, path, change=it, how="files") for path, it in deltas]
            self._add(talk, work, found if len(found) <= MOST_DELTAS else ())
        if running := self._running(talk, work):
            self._add(talk, work, self._commits(running, work.place))

    def _commits(self, running: Episode, place: Watched) -> list[Event]:
        """Return the commits, not told yet, of files that an episode had changed before.

        An event for each such file, whoever committed it.
        """
        known, changed = {one.commit for one in running.events}, dict[str, int]()
        for event in running.events:
            if event.changes:
                changed.setdefault(event.path, int(seconds_of(event.time)))  # as git counts
        events = []
        for one in place.commits(min(changed.values())) if changed else ():
            time = datetime.fromtimestamp(one.time, self._clock().tzinfo).isoformat()
            event = Event("commit", time, text=one.subject, commit=one.id, how="git")
            events += [
                replace(event, path=path, change=change)
                for path, change in one.changed
                if one.id not in known and changed.get(path, inf) <= one.time
            ]
        return events


def _events_of(use: Use, holding: Holding) -> Iterator[tuple[Watched, Event | None]]:
    """Yield the sources that a use was on, with each event; without one for what is not shown."""
    tokens = use.chars // CHARS_PER_TOKEN // max(1, len(use.reads))
    change: Change = "added" if use.made else "modified"
    event = Event("read", use.time.isoformat(timespec="seconds"), how="hook")
    hit = replace(event, kind="hit", text=use.query)
    about = (
        (use.reads, replace(event, tokens=tokens)),
        (use.edits, replace(event, kind="edit", change=change)),
        (use.found, hit),
    )
    for path, one in ((Path(path), one) for paths, one in about for path in paths if path):
        if place := holding(path):
            inside = place.relative(path)
            yield place, replace(one, path=inside) if inside else None
    if here := holding(Path(use.cwd)) if use.cwd else None:
        yield here, hit if use.query and not use.found else None
        for run in use.runs:
            went, _, program = run.partition(" ")
            ok = {"yes": True, "no": False}.get(went)
            yield here, replace(event, kind="run", text=program, ok=ok) if program else None


def last_prompt(path: str) -> Message | None:
    """Return what the person said last, by the end of a transcript; nothing is written down."""
    said: list[Message] = []
    with suppress(BadArgument, NotFound, OSError):
        start = max(0, Path(path).lstat().st_size - END_BYTES)
        lines, _, _ = read_on(Path(path), start, END_BYTES)
        said = [one for raw in lines for one in parse_line(raw, {}) or () if one.role == "user"]
    return said[-1] if said else None
