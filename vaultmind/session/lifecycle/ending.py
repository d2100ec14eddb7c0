"""The end of a session: what it leaves for the next one, then the mark that it has ended.

The active context is written first. A kill between the two leaves a session that is still open:
it is ended again by the same rule, and the same active context is written.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.ports import Clock, Embedder
from vaultmind.session.lifecycle.active import Telling
from vaultmind.session.lifecycle.lately import Recent, condensed, lead_of
from vaultmind.session.lifecycle.left import Leaving, Left
from vaultmind.session.lifecycle.recallable import session_of
from vaultmind.session.records.opened import is_open
from vaultmind.session.records.reading import Hides
from vaultmind.session.records.stamps import stamp_of
from vaultmind.session.records.store import Records, iso
from vaultmind.types import Caller, Message
from vaultmind.vault.edits import set_property
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.session_meta import EXTRACTION, parse_meta, runs
from vaultmind.vault.transcript import parse_session

TRIES = 3
"""How often a session that grows while it is read is read anew; then the agent's lock is held."""
log = logging.getLogger(__name__)

Ended = Callable[[str, str], None]
"""Told the agent and the session when one has ended."""


def nothing_hidden(agent: str, record: str, part: str) -> bool:
    """Hide nothing."""
    return False


def nobody(agent: str, session: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Ends:
    """What the end of a session needs to know of others."""

    hides: Hides = nothing_hidden
    """What was forgotten: no active context repeats it."""
    device: str = ""
    """Which device writes: the sessions are its own."""
    told: Ended = nobody
    """Hears of each session that has ended."""
    embedder: Callable[[], Embedder | None] = lambda: None
    """Returns what embeds, once it is loaded."""
    logged: Callable[[str, str, Sequence[Message]], None] = lambda agent, session, messages: None
    """Hears of what was logged: the agent, the session, the messages."""


class Endings:
    """Ends sessions. What takes long is done without the agent's lock. Any thread."""

    def __init__(
        self,
        gate: Records,
        reader: VaultReader,
        clock: Clock,
        lock: Callable[[str], threading.RLock],
        ends: Ends,
    ) -> None:
        """`lock` returns an agent's lock, under which nothing else is written to a session."""
        self._gate = gate
        self._reader = reader
        self._paths = reader.paths
        self._leaving = Leaving(reader, ends.hides, ends.embedder)
        self._telling = Telling(reader, ends.hides)
        self._clock = clock
        self._lock = lock
        self._ends = ends

    def end(self, agent: str, path: str, when: datetime, caller: Caller) -> bool:
        """Write an agent's active context and mark a session as ended; tell whether it is.

        Called without the agent's lock. Raises NotFound, UnreadableNote, WriteConflict,
        WriteFailed.
        """
        done = self._ended(agent, path, when, caller)
        if done:
            self._ends.told(agent, session_of(path))
        return done

    def running(self, agent: str, paths: Sequence[str]) -> tuple[Recent, ...]:
        """Return in a line or two what open sessions are about, but for those that say nothing."""
        found: list[Recent] = []
        for path in paths:
            try:
                left = self._leaving.read(agent, path, self._clock(), brief=True)
            except (NotFound, UnreadableNote):
                continue
            leaves = left.leaves
            lead = lead_of(leaves.session, leaves.said, leaves.where)
            one = condensed(left.body, leaves.session, leaves.said, lead)
            found += [one] if one and not leaves.slight else []
        return tuple(sorted(found, key=lambda each: each.said, reverse=True))

    def _ended(self, agent: str, path: str, when: datetime, caller: Caller) -> bool:
        for _ in range(TRIES):
            left = self._leaving.read(agent, path, self._clock())
            with self._lock(agent):
                if stamp_of(self._reader, path) == left.stat:
                    return self._close(agent, left, when, caller)
        with self._lock(agent):
            left = self._leaving.read(agent, path, self._clock())
            return self._close(agent, left, when, caller)

    def _close(self, agent: str, left: Left, when: datetime, caller: Caller) -> bool:
        """Write what was read, within the agent's lock."""
        self._tell(agent, left, caller)
        change = _ending(when, _Label(left.every, left.told), self._ends.device)
        path = left.leaves.path
        self._gate.save(path, change, caller, "a session ends")
        return not runs(parse_meta(self._reader.read(path).text))

    def _tell(self, agent: str, left: Left, caller: Caller) -> None:
        """Write what a session leaves, unless nothing was said.

        One that says nothing worth keeping leaves what the one before it left.
        """
        if not left.body:
            return
        change = self._telling.change(left.leaves, self._clock())
        active = self._paths.active_context(agent)
        try:
            self._gate.save(active, change, caller, "what a session leaves for the next")
        except (PathRefused, UnreadableNote) as error:  # it will not be otherwise next time
            log.warning("the active context was not written: %s", error)


class _Label:
    """Takes from a topic's label the words that only messages say which may not be recalled."""

    def __init__(self, every: str, told: str) -> None:
        self._every, self._told = every.casefold(), told.casefold()

    def shown(self, topic: str) -> str:
        """Return the label as it may stand in the front matter; empty where nothing is left."""
        return ", ".join(word for word in topic.split(", ") if not self._is_gone(word.casefold()))

    def _is_gone(self, word: str) -> bool:
        return word in self._every and word not in self._told


def _ending(when: datetime, label: _Label, device: str) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        transcript = parse_session(file.text)
        if not is_open(transcript):
            return None
        meta, text = transcript.meta, file.text
        shown = filter(None, map(label.shown, transcript.topics))
        topics = tuple(dict.fromkeys((*meta.topics, *shown)))
        try:
            text = set_property(text, "ended", iso(when))
            text = set_property(text, "state", "ended")
            text = set_property(text, "pending", EXTRACTION)
            if device and not meta.device:
                text = set_property(text, "device", device)
            if transcript.segment > meta.segments:
                text = set_property(text, "segments", transcript.segment)
            return text if topics == meta.topics else set_property(text, "topics", topics)
        except BadArgument as error:
            log.warning("%s was left open: %s", file.path, error)
            return None

    return change
