"""Turns what a host's hooks tell into episodes: when one begins, what belongs to it, when it ends.

An episode begins with the first tool that is used on a source after a prompt, and the prompt is
its task. It goes on until the conversation ends, or a prompt names another task. What the hooks
did not see is made up for at the end of each turn: commits by the repository's own log, other
changes by comparing the files.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from vaultmind.episodes.notes.keeping import can_keep
from vaultmind.episodes.types import Episode, Event
from vaultmind.episodes.watching.commits import Commit
from vaultmind.episodes.watching.seen import (
    Use,
    changed_in,
    commit_events,
    delta_events,
    events_of,
    shares,
)
from vaultmind.episodes.watching.talks import MAX_IDS, Talk, Work
from vaultmind.episodes.watching.watched import Means, Records
from vaultmind.errors import NotAllowed, NotFound, VaultMindError
from vaultmind.types import Caller

MAX_TALKS = 64
"""Conversations that are held in memory; of an older one the notes are read again."""
MOST_DELTAS = 100
"""Files of one turn: more are a tool's doing, or another branch."""
MOST_EDITED = 5000
"""Files of one source of which it is known who edited them last."""
CATCH_UP_SECONDS = 3.0
"""That whoever ends an episode waits for what was not seen of it."""
COMMAND_SECONDS = 120.0
"""A commit this much older than the end of a command was not made by it."""
LONGEST_SECONDS = 86_400.0
"""Of a tool's use: what is said to have taken longer says nothing."""
GONE = (0, 0)
"""Stands for how a file was that has changed since."""

log = logging.getLogger(__name__)


class Watching:
    """Follows conversations by what hooks tell of them. One thread does it all, in order."""

    def __init__(self, records: Records, means: Means) -> None:
        self._records = records
        self._means = means
        self._talks: OrderedDict[tuple[str, str], Talk] = OrderedDict()
        self._edited: dict[str, dict[str, tuple[str, int]]] = {}
        """By source and path: which conversation edited it last, and when."""
        self._claimed: deque[str] = deque(maxlen=MAX_IDS)
        """Commits that belong to an episode."""
        self._lock = threading.Lock()
        self._worker: ThreadPoolExecutor | None = None
        self._closed = False

    # --- what hooks tell; each returns at once ----------------------------------------------

    def prompted(self, caller: Caller, session: str, words: str, cwd: str, when: datetime) -> None:
        """Take notice of what the person asked for."""
        self.then(lambda: self._prompted(self._talk(caller, session), words, cwd, when))

    def used(
        self, caller: Caller, session: str, use: Use, asked: Callable[[], str] = str
    ) -> Future[None]:
        """Take notice of a tool's use; `asked` finds the last prompt where none was told."""
        return self.then(lambda: self._used(self._talk(caller, session), use, asked))

    def paused(self, caller: Caller, session: str) -> None:
        """Make up for what the hooks of a turn did not see: it is over."""
        now = self._means.clock()
        self.then(lambda: self._paused(self._talk(caller, session), now))

    def ended(self, caller: Caller, session: str) -> None:
        """End what runs in a conversation: as `unknown`, unless somebody said how it came out."""
        self.then(lambda: self._ended(caller, session))

    def catch_up(self, name: str, seconds: float = CATCH_UP_SECONDS) -> bool:
        """Make up for what was not seen of an episode that somebody is about to end.

        Returns once that is done; False where it takes longer.
        """
        return _is_done(self.then(lambda: self._catch_up(name)), seconds)

    def let_go(
        self, left: Callable[[str], str], agent: str = "", seconds: float = CATCH_UP_SECONDS
    ) -> bool:
        """Keep of an agent's prompts, or of all, what is `left`: the rest is to be forgotten.

        Returns once that is done, and what was told before is written down; False where it takes
        longer: it is done all the same.
        """
        return _is_done(self.then(lambda: self._let_go(left, agent)), seconds)

    def wait(self, seconds: float) -> bool:
        """Return once all that was told is done; False where that takes longer."""
        return _is_done(self.then(lambda: None), seconds)

    def close(self) -> None:
        """Finish what was told, and stop."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.shutdown(wait=True)

    def then(self, job: Callable[[], None]) -> Future[None]:
        """Do something once all that was told before is done."""
        with self._lock:
            if self._closed:
                done: Future[None] = Future()
                done.set_result(None)
                return done
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="watching")
            return self._worker.submit(_quietly, job)

    # --- a conversation ---------------------------------------------------------------------

    def _talk(self, caller: Caller, session: str) -> Talk:
        key = (caller.agent or "", session)
        talk = self._talks.get(key)
        if talk is None:
            talk = self._talks[key] = Talk(caller, session)
        self._talks.move_to_end(key)
        while len(self._talks) > MAX_TALKS:
            self._talks.popitem(last=False)
        return talk

    def _let_go(self, left: Callable[[str], str], agent: str) -> None:
        for talk in self._talks.values():
            if agent in ("", talk.caller.agent):
                talk.let_go(left)
                if talk.prompt and self._means.names_nothing(talk.prompt):
                    talk.prompt, talk.is_silent = "", True

    def _prompted(self, talk: Talk, words: str, cwd: str, told: datetime) -> None:
        says = bool(words.strip()) and not self._means.names_nothing(words)
        for work in talk.works.values():
            if work.active:  # the turn before was broken off
                _quietly(partial(self._settle, talk, work))
            running = self._running(talk, work)
            if says and running and self._is_another(work, running, words):
                _quietly(partial(self._end, talk, running))
                work.episode, work.asked = "", []
            elif says and running:
                work.asked.append(words)
            work.begins(told)
        if says:
            talk.prompt, talk.is_silent = words, False
        if cwd and (place := self._means.holding(Path(cwd))) is not None:
            talk.works.setdefault(place.name, Work(place, told))

    def _is_another(self, work: Work, running: Episode, words: str) -> bool:
        began = any(one.kind in ("read", "edit", "hit", "delta", "commit")
                    for one in running.events)  # fmt: skip
        touched = {one.path for one in running.events if one.path}
        asked = work.asked or [running.task.text]
        return began and self._means.is_another(asked, words, touched)

    def _used(self, talk: Talk, use: Use, asked: Callable[[], str]) -> None:
        if use.id and use.id in talk.ids:
            return
        talk.ids.append(use.id)
        if not talk.prompt and not talk.is_silent:
            talk.prompt = asked()
        took = use.took if 0 <= use.took <= LONGEST_SECONDS else 0.0
        began = datetime.fromisoformat(use.time) - timedelta(seconds=took)
        for place, events in events_of(use, self._means.holding):
            work = talk.works.setdefault(place.name, Work(place, began))
            self._mark(work)
            work.active = True
            for event in events:
                if event.kind == "edit":
                    self._own(talk, work, event.path)
            if events:
                self._add(talk, work, events)
        if use.commits:
            for work in [*talk.works.values()]:
                self._mark(work)
                self._committed(talk, work, use)

    def _paused(self, talk: Talk, told: datetime) -> None:
        for work in talk.works.values():
            if work.active:
                _quietly(partial(self._settle, talk, work))
                work.begins(told)

    def _catch_up(self, name: str) -> None:
        for talk in [*self._talks.values()]:
            for work in talk.works.values():
                if work.episode == name and work.active:
                    self._settle(talk, work)

    def _ended(self, caller: Caller, session: str) -> None:
        talk = self._talks.pop((caller.agent or "", session), None) or Talk(caller, session)
        for work in talk.works.values():
            if work.active:
                _quietly(partial(self._settle, talk, work))
        for episode in self._records.running(caller.agent or "", session):
            if episode.session == session:
                _quietly(partial(self._end, talk, episode))

    # --- work in a source -------------------------------------------------------------------

    def _mark(self, work: Work) -> None:
        """Remember how a source stood when the turn began: what differs later was done in it.

        It is looked at with the first tool of the turn: what was changed meanwhile differs.
        """
        if work.due is None:
            return
        when, work.due = work.due, None
        work.position = work.place.position(when.timestamp())
        work.since_ns = since = _nanoseconds(when)
        try:
            stamps = work.place.stamps(now=False)
            work.before = {path: one if one[0] < since else GONE for path, one in stamps.items()}
        except (VaultMindError, OSError) as error:  # it is away just now
            work.before = {}
            log.warning("%s is not compared in this turn: %s", work.place.name, error)

    def _running(self, talk: Talk, work: Work) -> Episode | None:
        """Return the episode that runs for a conversation's work in a source.

        One that the agent began itself, without naming the conversation, is taken over.
        """
        agent, source = talk.caller.agent or "", work.place.name
        every = self._records.running(agent, "", source)
        own = [one for one in every if one.session == talk.session]
        if work.episode:
            same = [one for one in every if one.name == work.episode]
            if not same:
                work.episode, work.closed = "", True
            return same[0] if same else None
        free = [one for one in every if not one.session and not self._is_held(one.name)]
        found = own[0] if own else free[0] if len(free) == 1 else None
        if found is not None:
            work.episode = found.name
        return found

    def _is_held(self, name: str) -> bool:
        return any(
            work.episode == name for talk in self._talks.values() for work in talk.works.values()
        )

    def _add(self, talk: Talk, work: Work, events: Sequence[Event]) -> None:
        kept = [one for one in events if can_keep(one)]
        if len(kept) < len(events):
            log.info("%d files of odd names are left out", len(events) - len(kept))
        if not kept:
            return
        running = self._running(talk, work)
        if running is None:
            if work.closed or not talk.prompt:
                return
            running = self._records.start(
                self._means.mark(talk.prompt, work.place.name),
                work.place.name,
                talk.caller,
                session=talk.session,
                client=talk.caller.client,
            )
            work.episode, work.asked = running.name, [talk.prompt]
        try:
            self._records.add(running.name, kept, talk.caller)
        except NotFound:  # the person deleted its note just now
            work.episode, work.closed = "", True

    def _end(self, talk: Talk, episode: Episode) -> None:
        self._records.end(episode.name, episode.outcome, episode.rationale, talk.caller)

    def _own(self, talk: Talk, work: Work, path: str) -> None:
        edited = self._edited.setdefault(work.place.name, {})
        edited.pop(path, None)
        edited[path] = (talk.session, _nanoseconds(self._means.clock()))
        while len(edited) > MOST_EDITED:
            del edited[next(iter(edited))]

    # --- what the hooks did not see ---------------------------------------------------------

    def _committed(self, talk: Talk, work: Work, use: Use) -> None:
        """Take the commits that a command of this conversation has just made.

        Somebody else may commit to the same work tree: its own are those made while it ran, or,
        where that is not known, the last if it is fresh; and what holds files that it changed.
        """
        looked = work.place.look(work.position)
        new = [one for one in looked.commits if one.id not in self._claimed]
        own = changed_in(self._running(talk, work))
        began = datetime.fromisoformat(use.time).timestamp() - 1 - (use.took or COMMAND_SECONDS)
        fresh = [one for one in new if one.time >= began]
        made = {one.id for one in (fresh if use.took else fresh[-1:])}
        mine = [one for one in new if one.id in made or shares(one, own)]
        self._claim(talk, work, mine)
        work.position = looked.position
        work.foreign |= looked.brought
        for other in new:
            if other not in mine:
                work.foreign |= {path for path, _ in other.changed}

    def _settle(self, talk: Talk, work: Work) -> None:
        """Compare a source with how it stood: what differs, and is nobody else's, is this work's.

        A commit that no command of this conversation was seen to make is its own only if it holds
        a file that this episode changed.
        """
        running = self._running(talk, work)
        if running is None and work.closed:
            return
        seen = {one.path for one in running.events if one.kind != "read"} if running else set()
        looked = work.place.look(work.position)
        work.foreign |= looked.brought
        try:
            deltas = self._deltas(talk, work, seen)
        except (VaultMindError, OSError) as error:
            deltas = {}
            log.warning("%s could not be compared: %s", work.place.name, error)
        own = changed_in(running) | deltas.keys()
        committed = {path for one in looked.commits for path, _ in one.changed}
        left = {path: what for path, what in deltas.items() if path not in committed}
        if left:
            self._add(talk, work, delta_events(left, self._means.clock()))
        mine = [one for one in looked.commits if shares(one, own)]
        self._claim(talk, work, mine)
        work.position = looked.position

    def _deltas(
        self, talk: Talk, work: Work, seen: Collection[str]
    ) -> dict[str, tuple[int, int] | None]:
        """Return the files that differ from how they stood, None for one that is gone."""
        after = work.place.stamps(now=True)
        others = {
            path
            for path, (session, when) in self._edited.get(work.place.name, {}).items()
            if session != talk.session and when >= work.since_ns
        }
        found: dict[str, tuple[int, int] | None] = {}
        for path in work.before.keys() | after.keys():
            is_new = after.get(path) != work.before.get(path)
            if not is_new or path in seen or path in others or path in work.foreign:
                continue
            stamp = after.get(path)
            if stamp is None or stamp[0] >= work.since_ns:
                found[path] = None if stamp is None else (stamp[0], int(path in work.before))
        return found if len(found) <= MOST_DELTAS else {}

    def _claim(self, talk: Talk, work: Work, commits: Sequence[Commit]) -> None:
        new = [one for one in commits if one.id not in self._claimed]
        if events := commit_events(new, self._means.clock()):
            self._add(talk, work, events)
        self._claimed.extend(one.id for one in new)


def _quietly(job: Callable[[], None]) -> None:
    """Do one thing; what goes wrong with it must not keep the next from being done."""
    try:
        job()
    except NotAllowed as error:
        log.debug("nothing is kept of what was done: %s", error)
    except (VaultMindError, OSError) as error:
        log.warning("what was done could not be written down: %s", error)
    except Exception:  # one hook's fault
        log.exception("what was done could not be written down")


def _is_done(told: Future[None], seconds: float) -> bool:
    with suppress(TimeoutError):
        told.result(seconds)
    return told.done()


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000
