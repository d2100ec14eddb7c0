"""The conversations in memory, and the thread that follows what grows.

Topics get their headings, and what has left the window is folded into the summary.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import replace

from vaultmind.ports import MessageVectors, Report, silent
from vaultmind.session.conversation import (
    Conversation,
    ConversationSettings,
    Hidden,
    Surroundings,
    View,
)
from vaultmind.session.files import Records, Shelf
from vaultmind.session.summary import Window
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name

HELD, HELD_MESSAGES = 8, 20_000
"""Conversations that are kept in memory, and their messages together, of 8 kB each."""
SMALL_BYTES = 1000
"""A smaller file holds too few messages for a topic or a summary: it is not even read."""
FOLDED_BY_ASKER = 360
"""Messages for whose folding who asks waits: the rest is folded in the background."""

log = logging.getLogger(__name__)


class Conversations:
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(
        self,
        reader: VaultReader,
        gate: Records,
        hidden: Hidden,
        vectors: MessageVectors,
        settings: ConversationSettings | None = None,
    ) -> None:
        settings = settings or ConversationSettings()
        self._place = Surroundings(reader, gate, hidden, vectors, settings)
        self._stopping = self._place.stopping
        self._shelf = Shelf(reader)
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._wake = threading.Condition()
        self._grown: dict[tuple[str, str], Window] = {}
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        session = session or self._shelf.latest(agent)
        return self._conversation(agent, session).view() if session else None

    def fold(self, view: View, window: Window, report: Report = silent) -> View:
        """Return the view with what is due folded into its summary, which is saved.

        What is too much to wait for is folded on in the background: the view says how much is
        `behind`.
        """
        conversation = self._conversation(view.agent, view.session)
        behind = conversation.fold(window, FOLDED_BY_ASKER, report)
        if behind:
            self.heard(view.agent, view.session, window)
        seen = conversation.view() or view
        return replace(seen, behind=behind) if behind else seen

    def heard(self, agent: str, session: str, window: Window | None = None) -> None:
        """Say that a session has grown: its topics and summary follow in the background."""
        with self._wake:
            if self._stopping.is_set():
                return
            self._grown[agent_name(agent), session] = window or self._place.settings.window
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="follow", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until all that grew was followed and folded; return whether it is."""
        with self._wake:
            return self._wake.wait_for(lambda: not (self._grown or self._is_busy), timeout_seconds)

    def close(self) -> None:
        """Finish what is being written and stop."""
        with self._wake:
            self._stopping.set()
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _conversation(self, agent: str, session: str) -> Conversation:
        with self._lock:
            found = self._held.get((agent, session)) or Conversation(agent, session, self._place)
            self._held[agent, session] = found
            self._held.move_to_end((agent, session))
            while len(self._held) > 1 and (
                len(self._held) > HELD
                or sum(len(one.messages) for one in self._held.values()) > HELD_MESSAGES
            ):
                self._held.popitem(last=False)
            return found

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._grown or self._stopping.is_set())
                if self._stopping.is_set():
                    return
                agent, session = next(iter(self._grown))
                window = self._grown.pop((agent, session))
                self._is_busy = True
            try:
                self._follow(self._conversation(agent, session), window)
            except Exception:  # one odd session must not stop the others
                log.exception("the session %s of %s could not be followed", session, agent)
            with self._wake:
                self._is_busy = False
                self._wake.notify_all()

    def _follow(self, conversation: Conversation, window: Window) -> None:
        """Hear what is new of a conversation, head its topics, fold what left the window."""
        reader = self._place.reader
        rolling = reader.paths.rolling(conversation.agent, conversation.session, 1)
        stamp = reader.stat(conversation.path)
        is_small = stamp is None or (stamp.size < SMALL_BYTES and reader.stat(rolling) is None)
        if is_small or conversation.view() is None:
            return
        conversation.tidy()
        conversation.hear()
        conversation.write_headings()
        before = 0
        while (left := conversation.fold(window)) != before and not self._stopping.is_set():
            before = left
