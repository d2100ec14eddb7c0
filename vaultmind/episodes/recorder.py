"""Writes down what agents do for a task, as it happens: every write goes through the gate.

While it runs, an episode's note is appended to, and flushed; at its end it is rewritten once, by
compare-and-swap. A crash leaves a note that reads well and is gone on with at the next start.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from vaultmind.episodes.hidden import Hidden, Moves
from vaultmind.episodes.left import LeftElsewhere, abandoned, is_silent
from vaultmind.episodes.notes.ending import Rewritten, Verdict, ended, judged, verdict
from vaultmind.episodes.notes.files import EpisodeFiles, is_name, line_of_offer, split_name
from vaultmind.episodes.notes.keeping import kept_event, kept_task, kept_text, kept_word
from vaultmind.episodes.notes.lines import line_of
from vaultmind.episodes.notes.naming import may_name, own_events, own_offer
from vaultmind.episodes.notes.note import rendered
from vaultmind.episodes.notes.running import Running, RunningEpisodes, is_of
from vaultmind.episodes.notes.tears import Tears
from vaultmind.episodes.types import RESULTS, Episode, Event, Offer, Result, TaskMark
from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError, WriteConflict
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name

MAX_OFFERS, MAX_OFFERED = 200, 40
"""Offers of an episode, and files of one offer."""
TRIES = 50
"""Names that are tried for a new note: a sync may bring others meanwhile."""

log = logging.getLogger(__name__)


class Records(Moves, Protocol):
    """What a recorder needs of the gate."""

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's records are written down: not at autonomy 0."""
        ...

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap."""
        ...

    def append(self, relative: str, text: str) -> None:
        """Append to a record and flush it to disk."""
        ...

    def remove(self, relative: str, caller: Caller, reason: str) -> bool:
        """Remove a record; tell whether it was there."""
        ...


@dataclass(frozen=True, slots=True)
class RecorderSettings:
    """What a recorder needs to know about this device and its configuration."""

    device: str
    agent: str = "main"
    """In whose memory the person's own episodes are kept."""
    idle_minutes: float = 120.0
    keep: bool = True
    """Whether episodes are kept at all: `episodes.keep`."""
    in_vault: Callable[[str], bool] = lambda source: False
    """Tells whether a source's files are ones that Obsidian can open."""
    told: Callable[[str], None] = lambda name: None
    """Called with the name of an episode whose note has changed; cheap, and never raises."""
    state_dir: Path | None = None


class Recorder:
    """Starts, goes on with and ends episodes. One per vault; any thread."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        paths: VaultPaths,
        clock: Clock,
        settings: RecorderSettings,
    ) -> None:
        self._gate = gate
        self.paths = paths
        self._clock = clock
        self._settings = settings
        self._lock = threading.RLock()
        self.files = EpisodeFiles(paths, reader)
        self._hidden = Hidden(gate, paths, self.files)
        self._tears = Tears(settings.state_dir)
        self._running = RunningEpisodes(self.files, settings.device, self._tears, self._mend)
        idle = timedelta(minutes=settings.idle_minutes)
        self._left = LeftElsewhere(gate, self.files, self._running, settings.device, idle)

    def start(
        self,
        task: TaskMark,
        source: str,
        caller: Caller,
        *,
        session: str = "",
        client: str = "",
        token_budget: int = 0,
    ) -> Episode:
        """Begin an episode, or return the one that runs for this task in this conversation.

        Raises NotAllowed at autonomy 0, BadArgument for a task without words, and what the gate
        raises.
        """
        agent = self._may(caller)
        task, session, source = kept_task(task), kept_word(session), kept_word(source)
        if not task.text:
            raise BadArgument("task", task.text, "words that say what is to be done")
        with self._lock:
            for one in self._running.of(agent):
                if is_of(one.episode, task, session, source):
                    try:
                        return self._running.fresh(one).episode
                    except NotFound:
                        continue  # its note was deleted: this is another one
            if left := self._taken_over(agent, lambda one: is_of(one, task, session, source)):
                return left.episode
            begun = Episode(
                id="",
                agent=agent,
                source=source,
                task=task,
                started=self._now(),
                session=session,
                client=kept_word(client or caller.client),
                device=self._settings.device,
                token_budget=max(0, token_budget),
            )
            return self._begin(begun, caller)

    def add(
        self, name_or_session: str, events: Sequence[Event], caller: Caller, source: str = ""
    ) -> Episode:
        """Write events into a running episode and return it; what is no news is left out.

        Events without a time happen now. Raises NotFound where none runs under that name or
        session, BadArgument (then nothing is written), NotAllowed, and what the gate raises.
        """
        agent = self._may(caller, name_or_session)
        now = self._now()
        each = [kept_event(event, now) for event in events]
        kept = [*own_events(each, may_name(self.paths, agent))]
        with self._lock:
            return self._add(self._found(agent, name_or_session, source), kept)

    def offer(self, name: str, offer: Offer, caller: Caller) -> None:
        """Keep what a plan offered in a running episode, for training. Raises as `add` does."""
        agent = self._may(caller, name)
        with self._lock:
            one = self._running.find(agent, name)
            if one.offers >= MAX_OFFERS:
                return
            own = own_offer(offer, may_name(self.paths, agent), MAX_OFFERED)
            path = self.files.offers_path(one.episode.name)
            self._gate.append(path, line_of_offer(own))
            one.offers += 1
            if not one.episode.latency_ms:
                one.episode = replace(one.episode, latency_ms=round(offer.took_ms))
        self._settings.told(one.episode.name)

    def end(self, name: str, outcome: Result, rationale: str, caller: Caller) -> Episode:
        """End an episode with what came of it; of one that has ended it is feedback.

        What the person said of it before stands. Raises as `add` does.
        """
        agent, said = self._may(caller, name), self._verdict(outcome, rationale, caller)
        with self._lock:
            try:
                one = self._running.find(agent, name)
            except NotFound:
                return self._judge(self._name_of(agent, name), said, caller)
            return self._end(one.episode.name, said, caller)

    def feedback(self, name: str, outcome: Result, rationale: str, caller: Caller) -> Episode:
        """Say what came of an episode, running or ended; the person's word stands over an agent's.

        `name` may be a session: its last episode is meant. Raises NotFound, NotAllowed,
        BadArgument, and what the gate raises.
        """
        agent, said = self._may(caller, name), self._verdict(outcome, rationale, caller)
        with self._lock:
            named = self._name_of(agent, name)
            for one in self._running.of(agent):
                if one.episode.name == named:
                    return self._add(one, [said.event])
            return self._judge(named, said, caller)

    def running(self, agent: str, session: str = "", source: str = "") -> tuple[Episode, ...]:
        """Return an agent's running episodes of this device, the newest first.

        Of a conversation that goes on here, what a device that is silent left of it is one of them.
        """
        session, source = kept_word(session), kept_word(source)
        with self._lock:
            if session and not any(
                one.episode.session == session for one in self._running.of(agent)
            ):
                self._talk_taken_over(agent, session, source)
            return tuple(
                one.episode
                for one in self._running.of(agent)
                if session in ("", one.episode.session) and source in ("", one.episode.source)
            )

    def resume(self) -> int:
        """Read what runs in every agent's memory, mend what a crash tore; return how many run."""
        with self._lock:
            return sum(len(self._running.of(agent)) for agent in self.paths.agent_names())

    def close_abandoned(self) -> int:
        """End as `unknown` what had no event for too long; return how many. Never raises."""
        closed, idle = 0, timedelta(minutes=self._settings.idle_minutes)
        with self._lock:
            now = self._clock()  # not before: whoever held the lock may have begun one since
            every = [one for agent in self.paths.agent_names() for one in self._running.of(agent)]
            for one in every:
                try:
                    episode = self._running.fresh(one).episode
                    if is_silent(episode, now, idle):
                        self._end(episode.name, abandoned(episode, now), PERSON)
                        closed += 1
                except (VaultMindError, OSError) as error:
                    log.warning("%s was not closed: %s", one.episode.name, error)
        return closed

    def close_left(self) -> int:
        """End as `unknown` what another device left a week ago; return how many. Never raises."""
        closed = 0
        with self._lock:
            now = self._clock()
            agents = self.paths.agent_names()
            for one in [it for agent in agents for it in self._left.for_days(agent, now)]:
                try:
                    self._end(one.name, abandoned(one, now), PERSON)
                    closed += 1
                except (VaultMindError, OSError) as error:
                    log.warning("%s was not closed: %s", one.name, error)
        return closed

    def drop_offers(self, name: str, caller: Caller) -> bool:
        """Remove what plans offered in an episode; tell whether there was something."""
        path = self.files.offers_path(name)
        return self._gate.remove(path, caller, "what plans offered is removed")

    def changed(self, names: Sequence[str]) -> None:
        """Have notes read again before they are gone on with: an erasure, say, changed them."""
        with self._lock:
            for name in names:
                self._running.changed(name)

    def _found(self, agent: str, name: str, source: str) -> Running:
        """Return what runs under a name or in a conversation. Raises NotFound."""
        try:
            return self._running.find(agent, name, source)
        except NotFound:
            if left := self._talk_taken_over(agent, kept_word(name), kept_word(source)):
                return left
            raise

    def _talk_taken_over(self, agent: str, session: str, source: str) -> Running | None:
        return self._taken_over(
            agent,
            lambda one: bool(session) and one.session == session and source in ("", one.source),
        )

    def _taken_over(self, agent: str, is_meant: Callable[[Episode], bool]) -> Running | None:
        if not (self._settings.keep and self._gate.keeps_records(agent)):
            return None
        one = self._left.taken_over(agent, is_meant, self._clock())
        if one is not None:
            self._settings.told(one.episode.name)
        return one

    def _begin(self, episode: Episode, caller: Caller) -> Episode:
        day = episode.started[:10]
        for _ in range(TRIES):
            new = replace(episode, id=self._running.next_id(episode.agent, day))
            path, text = self.files.path(new.name), rendered(new)
            if self._gate.save(path, _new(text), caller, "an episode begins") is not None:
                self._running.begun(new)
                self._settings.told(new.name)
                return new
        raise WriteConflict(f"No name was free for an episode of {episode.agent} on {day}.")

    def _add(self, one: Running, events: Sequence[Event]) -> Episode:
        one = self._running.fresh(one)
        kept = [event for event in events if one.keeping.takes(event)]
        if not kept:
            return one.episode
        named = [replace(event, block=f"e{number}") for number, event in enumerate(kept, one.next)]
        links = self._settings.in_vault(one.episode.source)
        lines = [f"{line_of(event, links=links)}{one.newline}" for event in named]
        name, before = one.episode.name, one.stat
        one.stat = None  # until it is known what stands there now
        with self._tears.writing(name, lines, lambda: self.files.stat(name)):
            self._gate.append(self.files.path(name), "".join(lines))
        one.next += len(named)
        one.episode = replace(one.episode, events=(*one.episode.events, *named))
        after, size = self.files.stat(name), sum(len(line.encode()) for line in lines)
        one.stat = after if before and after and after.size == before.size + size else None
        self._settings.told(name)
        return one.episode

    def _end(self, name: str, said: Verdict, caller: Caller) -> Episode:
        took_ms = round(next((one.took_ms for one in self.files.offers(name)), 0))
        mends, hides = self._tears.mended, self._hidden.of(name)

        def end(text: str) -> Rewritten:
            return ended(name, mends(name, text), said, took_ms, hides)

        why = f"an episode ends: {said.outcome}"
        try:
            over = self._rewrite(name, end, caller, why)
        except NotFound:  # its note was deleted
            self._running.over(name)
            raise
        self._running.over(name)
        return over

    def _judge(self, name: str, said: Verdict, caller: Caller) -> Episode:
        why, hides = f"an episode is judged: {said.outcome}", self._hidden.of(name)
        return self._rewrite(name, lambda text: judged(name, text, said, hides), caller, why)

    def _rewrite(
        self, name: str, rewrite: Callable[[str], Rewritten], caller: Caller, why: str
    ) -> Episode:
        now: list[Rewritten] = []

        def change(file: FileText | None) -> str | None:
            if file is None:
                raise NotFound(f"There is no episode {name!r} any more.")
            new = rewrite(file.text)
            now.append(new)
            self._hidden.moved(name, new.moved)
            return new.text

        try:
            self._gate.save(self.files.path(name), change, caller, why)
        finally:
            self._settings.told(name)
        self._hidden.left(name, now[-1].left)
        return now[-1].episode

    def _mend(self, name: str) -> None:
        def change(file: FileText | None) -> str | None:
            return self._tears.mended(name, file.text) if file else None

        self._gate.save(self.files.path(name), change, PERSON, "a line that was cut short goes")

    def _may(self, caller: Caller, name: str = "") -> str:
        """Return whose episodes a caller means. Raises NotAllowed, for another agent's too."""
        own = agent_name(caller.agent or self._settings.agent)
        agent = split_name(name)[0] if is_name(name) else own
        if caller.kind == "agent" and agent != own:
            raise NotAllowed(f"{name} is an episode of {agent}: {own} may write its own only.")
        if not self._settings.keep:
            raise NotAllowed("No episode was kept: `episodes.keep` is false in the configuration.")
        if not self._gate.keeps_records(agent):
            raise NotAllowed(
                f"No episode was kept: {agent} is at autonomy 0, which keeps no records."
            )
        return agent

    def _name_of(self, agent: str, name: str) -> str:
        """Return an episode's whole name, ended ones included: by name, id or session."""
        try:
            return self._running.find(agent, name).episode.name
        except NotFound:
            whole = name if is_name(name) else f"{agent}/{name}"
            if is_name(whole) and self.files.stat(whole) is not None:
                return whole
        wanted = kept_word(name)
        for listed in reversed(self.files.listed(agent)):
            if wanted and self.files.session_of(listed, wanted) == wanted:
                return listed.name
        raise NotFound(f"There is no episode {name!r} of {agent}, and none of such a session.")

    def _verdict(self, outcome: Result, rationale: str, caller: Caller) -> Verdict:
        if outcome not in RESULTS:
            raise BadArgument("outcome", outcome, ", ".join(RESULTS))
        return verdict(outcome, kept_text(rationale), caller, self._now())

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


def _new(text: str) -> Change:
    return lambda file: text if file is None else None
