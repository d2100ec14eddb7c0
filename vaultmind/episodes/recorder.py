"""Episodes over a vault: written down as they happen, ended when abandoned, shrunk when old.

Every write goes through the gate. While it runs, an episode's note is appended to, and flushed; at
its end it is rewritten once, by compare-and-swap. What runs is asked of the table, and what it
holds of its note.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.episodes import note
from vaultmind.episodes.files import EpisodeFiles, line_of_offer, split_name
from vaultmind.episodes.note import kept_text, kept_word
from vaultmind.episodes.store import FILE, Tables
from vaultmind.episodes.types import RESULTS, Episode, Event, How, Offer, Result, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError, WriteConflict
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.ports import Clock
from vaultmind.times import time_of
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

MAX_OFFERS = 200
"""Offers of an episode."""
TRIES = 50
"""Names that are tried for a new note: a sync may bring others meanwhile."""
VAULT = "vault"
"""Stands for the vault as a source, whatever its folder is called."""
OTHERS = timedelta(days=7)
"""So much later what another device left is ended, or shrunk: two that write one note on one day
make a sync conflict."""
LOOK_SECONDS = 60.0
"""How often it is looked for what others did to the notes: a hand, a sync."""
RETENTION, WHY = "retention", "an episode is past its retention"

log = logging.getLogger(__name__)


class Episodes:
    """What agents do for tasks: written down here, read by `files`, counted by `tables`.

    One per vault; any thread.
    """

    def __init__(
        self, config: Config, gate: Gate, reader: VaultReader, clock: Clock, device: str
    ) -> None:
        self._config = config
        self._gate = gate
        self._clock = clock
        self._device = device
        self.paths = reader.paths
        self.files = EpisodeFiles(self.paths, reader)
        self._tombstones = Tombstones(self.paths)
        self._tables: Tables | None = None
        self._lock, self._following = threading.RLock(), threading.RLock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def tables(self) -> Tables:
        """The table that is made of the notes; it has followed them since it was begun.

        Raises IndexUnavailable.
        """
        if self._tables is None or not self._tables.has_followed:
            with self._following:
                self._tables = self._tables or Tables(self._config.state_dir / FILE)
                self._follow(self._tables)
        return self._tables

    # --- writing down -----------------------------------------------------------------------

    def start(
        self, task: TaskMark, source: str, caller: Caller, *, session: str = "", client: str = "",
    ) -> Episode:  # fmt: skip
        """Begin an episode, or return the one that runs for this task in this conversation.

        The same words are the same task, whatever kind of task somebody said it is. Raises
        NotAllowed at autonomy 0, BadArgument for a task without words, and what the gate raises.
        """
        agent = self._may(caller)
        task, session, source = note.kept_task(task), kept_word(session), kept_word(source)
        if not task.text:
            raise BadArgument("task", task.text, "words that say what is to be done")
        with self._lock:
            for one in self.running(agent):
                same = task.fingerprint and one.task.fingerprint == task.fingerprint
                is_same = same or one.task.text == task.text
                if is_same and (one.session, one.source) == (session, source):
                    return one
            new = Episode(
                "", agent, source, task, self._now(), session, kept_word(client or caller.client),
                self._device,
            )  # fmt: skip
            for _ in range(TRIES):
                new = replace(new, id=self.files.free_id(agent, new.started[:10]))
                free = partial(_if_free, note.rendered(new))
                path = self.files.path(new.name)
                if self._gate.save(path, free, caller, "an episode begins"):
                    return self._took(new.name)
        raise WriteConflict(f"No name was free for an episode of {agent}.")

    def add(self, name: str, events: Sequence[Event], caller: Caller) -> Episode:
        """Write events into a running episode and return it; what is no news is left out.

        Events without a time happen now. Raises NotFound where none runs under that name,
        BadArgument (then nothing is written), NotAllowed, and what the gate raises.
        """
        agent, now = self._may(caller, name), self._now()
        each = [note.kept_event(event, now) for event in events]
        own = [*note.own_events(each, note.may_name(self.paths, agent))]
        with self._lock:
            one = self._running(name)
            if not (kept := note.news(one.events, own)):
                return one
            file = self.files.file(name)
            links = one.source.casefold() in (VAULT, self.paths.root.name.casefold())
            lines = [
                f"{note.line_of(event, links=links)}{file.newline}"
                for event in note.numbered(kept, file.text, self._hides(name))
            ]
            self._gate.append(self.files.path(name), "".join(lines))
            return self._took(name)

    def offer(self, name: str, offer: Offer, caller: Caller) -> None:
        """Keep what a plan offered in a running episode, for training. Raises as `add` does."""
        may = note.may_name(self.paths, self._may(caller, name))
        with self._lock:
            self._running(name)
            if len(self.files.offers(name)) < MAX_OFFERS:
                files = {path: of for path, of in offer.files.items() if may(path)}
                own = replace(offer, files=files, chosen=tuple(filter(may, offer.chosen)))
                self._gate.append(self.files.offers_path(name), line_of_offer(own))
                self._took(name)

    def judge(
        self, name: str, outcome: Result, rationale: str, caller: Caller, *, ends: bool = False
    ) -> Episode:
        """Say what came of an episode, running or ended; one that runs `ends` with it.

        The person's word stands over an agent's. Raises as `add` does.
        """
        self._may(caller, name)
        if outcome not in RESULTS:
            raise BadArgument("outcome", outcome, ", ".join(RESULTS))
        how: How = "person" if caller.kind == "person" else "reported"
        said = Event("feedback", self._now(), text=kept_text(rationale), how=how, outcome=outcome)
        is_silent = ends and outcome == "unknown" and not rationale
        return self._rewrite(name, None if is_silent else said, caller, self._now(), ends=ends)

    def running(self, agent: str, session: str = "", source: str = "") -> tuple[Episode, ...]:
        """Return an agent's running episodes of this device, the newest first, as the notes say."""
        meant = {"session_id": kept_word(session), "source": kept_word(source)}
        with self._lock:
            names = self.tables.names(state="running", agent=agent, device=self._device, **meant)
            every = [one for name in names if (one := self.tables.take(self.files, name))]
        return tuple(one for one in every if one.state == "running")

    def drop_offers(self, name: str) -> None:
        """Remove what plans offered in an episode."""
        path = self.files.offers_path(name)
        self._gate.remove(path, PERSON, "what plans offered is removed")

    def _running(self, name: str) -> Episode:
        """Return an episode that runs on this device. Raises NotFound."""
        one = self.tables.take(self.files, name)
        if one is None or (one.state, one.device) != ("running", self._device):
            raise NotFound(f"Episode {name} is not running.", hint="Start one for the task first.")
        return one

    def _rewrite(
        self, name: str, said: Event | None, caller: Caller, now: str, *, ends: bool
    ) -> Episode:
        def change(file: FileText | None) -> str:
            if file is None:
                raise NotFound(f"There is no episode {name!r}.")
            return note.judged(file.text, said, now, self._hides(name), ends=ends)

        why = f"an episode {'ends' if ends else 'is judged'}: {said.outcome if said else 'unknown'}"
        with self._lock:
            self._gate.save(self.files.path(name), change, caller, why)
            return self._took(name)

    def _hides(self, name: str) -> partial[bool]:
        """Return what tells by its id whether a part of an episode is hidden."""
        return partial(self._tombstones.hides, split_name(name)[0], self.files.record(name))

    def _took(self, name: str) -> Episode:
        """Have the table take a note that was just written; return the episode."""
        return self.tables.take(self.files, name) or self.files.read(name)

    def _may(self, caller: Caller, name: str = "") -> str:
        """Return whose episodes a caller means. Raises NotAllowed, for another agent's too."""
        own = agent_name(caller.agent or self._config.agent)
        agent = split_name(name)[0] if name else own
        if caller.kind == "agent" and agent != own:
            raise NotAllowed(f"{name} is an episode of {agent}: {own} may write its own only.")
        if not self._config.episodes.keep:
            raise NotAllowed("No episode was kept: `episodes.keep` is false in the configuration.")
        if not self._gate.keeps_records(agent):
            raise NotAllowed(
                f"No episode was kept: {agent} is at autonomy 0, which keeps no records."
            )
        return agent

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")

    # --- in the background ------------------------------------------------------------------

    def settle(self) -> None:
        """Bring the table up to date with the notes, now. Raises IndexUnavailable."""
        with self._following:
            self._follow(self.tables)

    def _follow(self, tables: Tables) -> None:
        """What plans offered in an episode goes once its note was deleted by hand."""
        for name in tables.follow(self.files):
            self.drop_offers(name)

    def scrub(self) -> str:
        """Leave in the table no byte of what the notes no longer say; return what failed.

        Raises IndexUnavailable.
        """
        self.settle()
        return self.tables.scrub()

    def follow(self, *, tends: bool = True) -> None:
        """Begin to follow the notes, in the background; returns at once.

        Unless it `tends` to them, too, none is closed or shrunk.
        """
        self._thread = threading.Thread(
            target=self._run, args=(tends,), name="episodes", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop following, and let go of the table."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if self._tables is not None:
            self._tables.close()

    def _run(self, tends: bool) -> None:
        """Follow the notes; end what was abandoned, and once a day shrink what is old."""
        purged_on = ""
        while not self._stopped.is_set():
            try:
                self.settle()
                if tends:
                    self.close_abandoned()
                    if (today := self._clock().date().isoformat()) != purged_on:
                        purged_on = today
                        self.purge()
            except Exception:  # the next look may succeed: nobody waits for this
                log.exception("episodes could not be looked at")
            self._stopped.wait(LOOK_SECONDS)

    def close_abandoned(self) -> int:
        """End as `unknown` what had no event for too long; return how many."""
        closed, idle = 0, timedelta(minutes=self._config.episodes.idle_minutes)
        with self._lock:
            now = self._clock()  # not before: whoever held the lock may have begun one since
            for name in self.tables.names(state="running"):
                try:
                    one = self.files.read(name)
                    last = one.events[-1].time if one.events else one.started
                    own, then = one.device == self._device, time_of(last)
                    if then is None or now - then >= (idle if own else idle + OTHERS):
                        self._rewrite(name, None, PERSON, last, ends=True)
                        closed += 1
                except (VaultMindError, OSError) as error:
                    log.warning("%s was not closed: %s", name, error)
        return closed

    def purge(self) -> None:
        """Shrink what is past its retention, in the name of each agent.

        What one note does not allow leaves the others alone. Raises IndexUnavailable.
        """
        self.settle()
        before, shrunk_any = self._clock() - timedelta(days=self._config.retention.days), False
        for name in self.tables.ended_before(before):
            try:
                one = self.files.read(name)
                ended, others = time_of(one.ended), one.device not in ("", self._device)
                if others and ended and ended > before - OTHERS:
                    continue
                path, who = self.files.path(name), Caller("agent", one.agent, RETENTION)
                if self._gate.save(path, _shrink, who, WHY):
                    self._gate.remove(self.files.offers_path(name), who, WHY)
                    shrunk_any = True
            except (VaultMindError, OSError) as error:
                log.warning("%s was not shrunk: %s", name, error)
        if shrunk_any:
            self.scrub()


def _if_free(text: str, file: FileText | None) -> str | None:
    return text if file is None else None


def _shrink(file: FileText | None) -> str | None:
    """Return what a note is to say; None for one that is gone, gone on with, or not whole."""
    if file is None:
        return None
    one = note.parsed(file.text, "", "")
    return note.shrunk(file.text) if one.state == "ended" and not one.flaw else None
