"""The episodes that run on this device, as their notes stand: taken up anew after a crash."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from vaultmind.episodes.notes.files import EpisodeFiles
from vaultmind.episodes.notes.keeping import Keeping, kept_word
from vaultmind.episodes.notes.mending import next_number
from vaultmind.episodes.notes.tears import Tears
from vaultmind.episodes.types import Episode, TaskMark
from vaultmind.errors import NotFound, VaultMindError
from vaultmind.vault.files import FileStat, Newline, newline_of

log = logging.getLogger(__name__)

Mend = Callable[[str], None]
"""Takes from the end of the note of this name what a crash left there in part."""


@dataclass(slots=True)
class Running:
    """An episode that goes on, as its note stood when it was last looked at."""

    episode: Episode
    stat: FileStat | None
    """None where it must be read again."""
    keeping: Keeping
    next: int = 1
    """Number of the next event's id."""
    offers: int = 0
    newline: Newline = "\n"


def is_of(episode: Episode, task: TaskMark, session: str, source: str) -> bool:
    """Tell whether an episode is of a task, in the same conversation and source.

    The same words are the same task, whatever kind of task somebody said it is: that is a part of
    the fingerprint, and a plan may have begun the episode before the kind was named.
    """
    if (episode.session, episode.source) != (session, source):
        return False
    if task.fingerprint and episode.task.fingerprint == task.fingerprint:
        return True
    return episode.task.text == task.text


@dataclass(slots=True)
class _Known:
    """An agent's running episodes, newest last, and the numbers that were ever used."""

    running: dict[str, Running] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)
    others: tuple[str, ...] = ()
    """What other devices left running when it was looked last, oldest first."""


class RunningEpisodes:
    """What runs, agent by agent. Not for several threads at once: its owner has a lock."""

    def __init__(self, files: EpisodeFiles, device: str, tears: Tears, mend: Mend) -> None:
        self._files = files
        self._device = device
        self._tears = tears
        self._mend = mend
        self._agents: dict[str, _Known] = {}

    def of(self, agent: str) -> tuple[Running, ...]:
        """Return what runs of an agent, the newest first."""
        return tuple(reversed(self._known(agent).running.values()))

    def find(self, agent: str, name: str, source: str = "") -> Running:
        """Return a running episode by its name, its id or its conversation. Raises NotFound."""
        wanted, source, running = kept_word(name), kept_word(source), self.of(agent)
        named = (one for one in running if wanted in (one.episode.name, one.episode.id))
        talked = (
            one
            for one in running
            if wanted and wanted == one.episode.session and source in ("", one.episode.source)
        )
        found = next(named, None) or next(talked, None)
        if found is None:
            raise NotFound(
                f"No episode of {agent} runs under {name!r}.", hint="Start one for the task first."
            )
        return found

    def next_id(self, agent: str, day: str) -> str:
        """Return an id that no episode of an agent ever had."""
        used = self._known(agent).used
        used |= self._files.numbers(agent)
        used[day] += 1
        return f"{day}_{used[day]:03d}"

    def begun(self, episode: Episode) -> None:
        """Take in an episode whose note was just written."""
        stat = self._files.stat(episode.name)
        self._known(episode.agent).running[episode.name] = Running(episode, stat, Keeping())

    def over(self, name: str) -> None:
        """Let go of an episode that does not run any more."""
        known = self._agents.get(name.partition("/")[0])
        if known is not None:
            known.running.pop(name, None)
        self._tears.over(name)

    def fresh(self, one: Running) -> Running:
        """Return a running episode as its note stands: a person may have edited it.

        Raises NotFound where it does not run any more, or its note is gone.
        """
        name = one.episode.name
        stat = self._files.stat(name)
        if stat is not None and one.stat == stat:
            return one
        new = self._taken_up(name) if stat is not None else None
        if new is None:
            self.over(name)
            raise NotFound(f"{name} does not run any more.", hint="Start one for the task first.")
        new.next = max(new.next, one.next)  # no id is used again, not one whose line was erased
        self._known(one.episode.agent).running[name] = new
        return new

    def of_others(
        self, agent: str, is_meant: Callable[[Episode], bool], *, looks: bool = False
    ) -> tuple[Episode, ...]:
        """Return what runs of an agent on other devices, the newest first.

        Known are the notes that were there at the start, unless it `looks` at all of them anew.
        """
        known = self._known(agent)
        if looks:
            known.others = tuple(
                one.name
                for one in self._files.listed(agent)
                if one.name not in known.running and self._files.seems_running(one)
            )
        found = []
        for name in reversed(known.others):
            try:
                episode = self._files.read(name)
            except (VaultMindError, OSError) as error:
                log.debug("%s was not looked at: %s", name, error)
                continue
            is_others = episode.state == "running" and episode.device != self._device
            if is_others and is_meant(episode):
                found.append(episode)
        return tuple(found)

    def taken_over(self, name: str) -> Running | None:
        """Take up an episode whose note says since a moment ago that it runs on this device."""
        one, known = self._taken_up(name), self._known(name.partition("/")[0])
        if one is not None:
            known.running[name] = one
            known.others = tuple(other for other in known.others if other != name)
        return one

    def changed(self, name: str) -> None:
        """Have a note read again before it is gone on with: others changed it."""
        known = self._agents.get(name.partition("/")[0])
        if known is not None and name in known.running:
            known.running[name].stat = None

    def _known(self, agent: str) -> _Known:
        known = self._agents.get(agent)
        if known is None:
            left = [one.name for one in self._files.listed(agent) if self._files.seems_running(one)]
            taken = {name: one for name in left if (one := self._taken_up(name))}
            others = tuple(name for name in left if name not in taken)
            known = _Known(taken, self._files.numbers_used(agent), others)
            self._agents[agent] = known
        return known

    def _taken_up(self, name: str) -> Running | None:
        """Return an episode as its note tells it; None where it does not run on this device."""
        try:
            episode, file = self._files.opened(name)
            if episode.state != "running" or episode.device != self._device:
                return None
            if self._tears.mended(name, file.text) != file.text:
                self._mend(name)
                self._tears.over(name)
                episode, file = self._files.opened(name)
        except (VaultMindError, OSError) as error:
            log.warning("%s was not taken up: %s", name, error)
            return None
        offers = len(self._files.offers(name))
        kept, number = Keeping(episode.events), next_number(file.text)
        return Running(episode, file.stat, kept, number, offers, newline_of(file.text))
