"""Episodes that run by what their notes say, and that nobody goes on with: another device's.

A device is known by a file of the state folder. Where that was deleted, what ran is another
device's from then on, and is taken over by its conversation or its task.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from vaultmind.episodes.notes.ending import Verdict
from vaultmind.episodes.notes.files import EpisodeFiles
from vaultmind.episodes.notes.note import parsed
from vaultmind.episodes.notes.running import Running, RunningEpisodes
from vaultmind.episodes.types import Episode
from vaultmind.errors import VaultMindError
from vaultmind.types import Caller
from vaultmind.vault.edits import set_property
from vaultmind.vault.files import Change, FileText

OTHERS_DAYS = 7
"""So much later what another device left running is ended, which may do so itself."""
CLIENT, WHY = "episodes", "an episode goes on on another device"

log = logging.getLogger(__name__)


class Saving(Protocol):
    """What this needs of the gate."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> FileText | None:
        """Store a record by compare-and-swap."""
        ...


class LeftElsewhere:
    """What other devices left running. Not for several threads at once: its owner has a lock."""

    def __init__(
        self,
        gate: Saving,
        files: EpisodeFiles,
        running: RunningEpisodes,
        device: str,
        idle: timedelta,
    ) -> None:
        self._gate = gate
        self._files = files
        self._running = running
        self._device = device
        self._idle = idle

    def taken_over(
        self, agent: str, is_meant: Callable[[Episode], bool], now: datetime
    ) -> Running | None:
        """Go on here with the newest that is meant and was silent for long enough, if any is."""
        for left in self._running.of_others(agent, is_meant):
            if not is_silent(left, now, self._idle):
                continue
            path, who = self._files.path(left.name), Caller("agent", agent, CLIENT)
            try:
                self._gate.save(path, _moved(left, self._device), who, WHY)
            except (VaultMindError, OSError) as error:
                log.warning("%s was not gone on with: %s", left.name, error)
                continue
            if one := self._running.taken_over(left.name):
                return one
        return None

    def for_days(self, agent: str, now: datetime) -> tuple[Episode, ...]:
        """Return those that were silent for so long that their device will not end them itself."""
        silent = self._idle + timedelta(days=OTHERS_DAYS)
        return self._running.of_others(agent, lambda one: is_silent(one, now, silent), looks=True)


def last_time(episode: Episode) -> str:
    """Return when something was done last."""
    return episode.events[-1].time if episode.events else episode.started


def is_silent(episode: Episode, now: datetime, idle: timedelta) -> bool:
    """Tell whether nothing was done in an episode for so long.

    Nor was it where that lies so far ahead: a clock was wrong, and would be waited for in vain.
    """
    return abs(now - moment(last_time(episode), now)) >= idle


def abandoned(episode: Episode, now: datetime) -> Verdict:
    """Return that nobody says what came of an episode, which ended when it was gone on with last.

    No later than now.
    """
    last = last_time(episode)
    ahead = moment(last, now) > now
    return Verdict("unknown", "", "agent", now.isoformat(timespec="seconds") if ahead else last)


def moment(time: str, now: datetime) -> datetime:
    """Return a time; one that a person's edit took away was long ago."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return now - timedelta(days=3650)
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)


def _moved(left: Episode, device: str) -> Change:
    """Return what makes an episode one of a device, if it stands as it was seen."""

    def change(file: FileText | None) -> str | None:
        if file is None or parsed(file.text, left.agent, left.id) != left:
            return None
        return set_property(file.text, "device", device)

    return change
