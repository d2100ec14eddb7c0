"""Writes down what agents do for a task, as it happens: every write goes through the gate.

While it runs, an episode's note is appended to, and flushed; at its end it is rewritten once, by
compare-and-swap. What runs is asked of the table, and what it holds of its note.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from vaultmind.config import Config
from vaultmind.episodes.files import EpisodeFiles, is_name, line_of_offer, split_name
from vaultmind.episodes.keep import (
    kept_event,
    kept_task,
    kept_text,
    kept_word,
    may_name,
    news,
    own_events,
)
from vaultmind.episodes.note import ended, line_of, numbered, rendered
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import RESULTS, Episode, Event, How, Offer, Result, TaskMark, time_of
from vaultmind.errors import BadArgument, NotAllowed, NotFound, VaultMindError, WriteConflict
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.ports import Clock
from vaultmind.types import PERSON, Caller
from vaultmind.vault.files import FileText
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
"""So much later what another device left running is ended: it may do so itself."""

log = logging.getLogger(__name__)


class Recorder:
    """Starts, goes on with and ends episodes. One per vault; any thread."""

    def __init__(
        self, gate: Gate, files: EpisodeFiles, tables: Callable[[], Tables], clock: Clock,
        config: Config, device: str,
    ) -> None:  # fmt: skip
        """`tables` gives them up to date with the notes."""
        self._gate = gate
        self.files = files
        self.paths = files.paths
        self._tables = tables
        self._clock = clock
        self._config = config
        self._device = device
        self._lock = threading.RLock()
        self._tombstones = Tombstones(self.paths)

    def start(
        self, task: TaskMark, source: str, caller: Caller, *, session: str = "", client: str = "",
    ) -> Episode:  # fmt: skip
        """Begin an episode, or return the one that runs for this task in this conversation.

        The same words are the same task, whatever kind of task somebody said it is. Raises
        NotAllowed at autonomy 0, BadArgument for a task without words, and what the gate raises.
        """
        agent = self._may(caller)
        task, session, source = kept_task(task), kept_word(session), kept_word(source)
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
                path, text = self.files.path(new.name), rendered(new)
                free = partial(_if_free, text)
                if self._gate.save(path, free, caller, "an episode begins"):
                    return self._took(new.name)
        raise WriteConflict(f"No name was free for an episode of {agent}.")

    def add(
        self, name_or_session: str, events: Sequence[Event], caller: Caller, source: str = ""
    ) -> Episode:
        """Write events into a running episode and return it; what is no news is left out.

        Events without a time happen now. Raises NotFound where none runs under that name or
        session, BadArgument (then nothing is written), NotAllowed, and what the gate raises.
        """
        agent, now = self._may(caller, name_or_session), self._now()
        each = [kept_event(event, now) for event in events]
        kept = [*own_events(each, may_name(self.paths, agent))]
        with self._lock:
            return self._add(self._find(agent, name_or_session, source), kept)

    def offer(self, name: str, offer: Offer, caller: Caller) -> None:
        """Keep what a plan offered in a running episode, for training. Raises as `add` does."""
        agent = self._may(caller, name)
        with self._lock:
            one = self._find(agent, name)
            if len(self.files.offers(one.name)) < MAX_OFFERS:
                may = may_name(self.paths, agent)
                files = {path: of for path, of in offer.files.items() if may(path)}
                own = replace(offer, files=files, chosen=tuple(filter(may, offer.chosen)))
                self._gate.append(self.files.offers_path(one.name), line_of_offer(own))
                self._took(one.name)

    def end(self, name: str, outcome: Result, rationale: str, caller: Caller) -> Episode:
        """End an episode with what came of it; of one that has ended it is feedback.

        What the person said of it before stands. Raises as `add` does.
        """
        agent, said = self._may(caller, name), self._verdict(outcome, rationale, caller)
        is_said = outcome != "unknown" or rationale
        with self._lock:
            one = self._find(agent, name, over=True)
            return self._rewrite(one.name, said if is_said else None, caller)

    def feedback(self, name: str, outcome: Result, rationale: str, caller: Caller) -> Episode:
        """Say what came of an episode, running or ended; the person's word stands over an agent's.

        `name` may be a session: its last episode is meant. Raises as `add` does.
        """
        agent, said = self._may(caller, name), self._verdict(outcome, rationale, caller)
        with self._lock:
            one = self._find(agent, name, over=True)
            if one.state == "running":
                return self._add(one, [said])
            return self._rewrite(one.name, said, caller)

    def running(self, agent: str, session: str = "", source: str = "") -> tuple[Episode, ...]:
        """Return an agent's running episodes of this device, the newest first, as the notes say."""
        session, source = kept_word(session), kept_word(source)
        with self._lock:
            tables = self._tables()
            names = tables.names(state="running", agent=agent, device=self._device)
            every = [one for name in names if (one := tables.take(self.files, name))]
        meant = [it for it in every if session in ("", it.session) and source in ("", it.source)]
        return tuple(one for one in meant if one.state == "running")

    def close_abandoned(self) -> int:
        """End as `unknown` what had no event for too long; return how many. Never raises.

        What another device left running a week later: it may do so itself.
        """
        closed, idle = 0, timedelta(minutes=self._config.episodes.idle_minutes)
        with self._lock:
            now = self._clock()  # not before: whoever held the lock may have begun one since
            for name in self._tables().names(state="running"):
                try:
                    one = self.files.read(name)
                    last = one.events[-1].time if one.events else one.started
                    own, then = one.device == self._device, time_of(last)
                    if then is None or now - then >= (idle if own else idle + OTHERS):
                        self._rewrite(name, None, PERSON, last)
                        closed += 1
                except (VaultMindError, OSError) as error:
                    log.warning("%s was not closed: %s", name, error)
        return closed

    def drop_offers(self, name: str, caller: Caller) -> bool:
        """Remove what plans offered in an episode; tell whether there was something."""
        path = self.files.offers_path(name)
        return self._gate.remove(path, caller, "what plans offered is removed")

    def _find(self, agent: str, name: str, source: str = "", *, over: bool = False) -> Episode:
        """Return a running episode by its name, its id or its conversation; or one that is `over`.

        Raises NotFound.
        """
        wanted, source, running = kept_word(name), kept_word(source), self.running(agent)
        found = [one for one in running if name in (one.name, one.id)]
        talked = [one for one in running if wanted and wanted == one.session]
        found += [one for one in talked if source in ("", one.source)]
        if found:
            return found[0]
        if not over:
            hint = "Start one for the task first."
            raise NotFound(f"No episode of {agent} runs under {name!r}.", hint=hint)
        whole = name if is_name(name) else f"{agent}/{name}"
        if is_name(whole) and self.files.listed_one(whole) is not None:
            return self.files.read(whole)
        names = self._tables().names(agent=agent, session=wanted) if wanted else ()
        if not names:
            raise NotFound(f"There is no episode {name!r} of {agent}, and none of such a session.")
        return self.files.read(max(names))

    def _add(self, one: Episode, events: Sequence[Event]) -> Episode:
        kept = news(one.events, events)
        if not kept:
            return one
        file = self.files.file(one.name)
        named = numbered(kept, file.text, self._hider(one.name))
        links = one.source.casefold() in (VAULT, self.paths.root.name.casefold())
        lines = "".join(f"{line_of(event, links=links)}{file.newline}" for event in named)
        self._gate.append(self.files.path(one.name), lines)
        return self._took(one.name)

    def _rewrite(self, name: str, said: Event | None, caller: Caller, when: str = "") -> Episode:
        """End an episode, or judge one that has ended."""
        now, hides = when or self._now(), self._hider(name)

        def change(file: FileText | None) -> str:
            if file is None:
                raise NotFound(f"There is no episode {name!r} any more.")
            return ended(file.text, said, now, hides)

        why = f"an episode ends: {said.outcome if said else 'unknown'}"
        self._gate.save(self.files.path(name), change, caller, why)
        return self._took(name)

    def _hider(self, name: str) -> Callable[[str], bool]:
        """Return what tells by its id whether a part of an episode is hidden."""
        return partial(self._tombstones.hides, split_name(name)[0], self.files.record(name))

    def _took(self, name: str) -> Episode:
        """Have the table take a note that was just written; return the episode."""
        return self._tables().take(self.files, name) or self.files.read(name)

    def _may(self, caller: Caller, name: str = "") -> str:
        """Return whose episodes a caller means. Raises NotAllowed, for another agent's too."""
        own = agent_name(caller.agent or self._config.agent)
        agent = split_name(name)[0] if is_name(name) else own
        if caller.kind == "agent" and agent != own:
            raise NotAllowed(f"{name} is an episode of {agent}: {own} may write its own only.")
        if not self._config.episodes.keep:
            raise NotAllowed("No episode was kept: `episodes.keep` is false in the configuration.")
        if not self._gate.keeps_records(agent):
            raise NotAllowed(
                f"No episode was kept: {agent} is at autonomy 0, which keeps no records."
            )
        return agent

    def _verdict(self, outcome: Result, rationale: str, caller: Caller) -> Event:
        if outcome not in RESULTS:
            raise BadArgument("outcome", outcome, ", ".join(RESULTS))
        how: How = "person" if caller.kind == "person" else "reported"
        text = kept_text(rationale)
        return Event("feedback", self._now(), text=text, how=how, outcome=outcome)

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


def _if_free(text: str, file: FileText | None) -> str | None:
    return text if file is None else None
