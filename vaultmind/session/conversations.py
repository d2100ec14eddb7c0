"""The conversations in memory, and the thread that follows what grows.

Topics get their headings, what has left the window is folded into the summary, and a model, where
there is one, says it better. Who asks waits for no model.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from vaultmind.ports import Clock, MessageVectors, Report, silent
from vaultmind.session.conversation import (
    Conversation,
    ConversationSettings,
    Hidden,
    RecordGate,
    SummaryModel,
    Surroundings,
    View,
)
from vaultmind.session.files import Records, Shelf
from vaultmind.session.summary import Window
from vaultmind.types import Caller
from vaultmind.vault.files import Change, VaultReader
from vaultmind.vault.paths import SESSION_ID, VaultPaths, agent_name

HELD, HELD_MESSAGES = 8, 20_000
"""Conversations that are kept in memory, and their messages together: a long one takes 8 kB for
each."""
SMALL_BYTES = 1000
"""A smaller file holds too few messages for a topic or a summary: it is not even read."""
PATIENCE_SECONDS, STEP_SECONDS = 3.0, 0.1
"""How long a topic waits for the vectors of its messages; then their words must do."""
FOLDED_BY_ASKER = 360
"""Messages for whose folding who asks waits: the rest is folded in the background."""

log = logging.getLogger(__name__)


class Conversations:
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(
        self,
        reader: VaultReader,
        gate: RecordGate,
        hidden: Hidden,
        vectors: MessageVectors,
        settings: ConversationSettings | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        settings = settings or ConversationSettings()
        self._place = Surroundings(reader, gate, hidden, vectors, settings)
        self.model: SummaryModel | None = None
        """Writes the summaries better; None without one. Set before anything is asked or said."""
        self._stopping = self._place.stopping
        self._shelf = Shelf(reader)
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._wake = threading.Condition()
        self._grown: dict[tuple[str, str], Window] = {}
        self._asking: dict[tuple[str, str], None] = {}
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
        if behind or self.model:
            self.heard(view.agent, view.session, window if behind else None)
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
        """Wait until all that grew was followed, folded and told; return whether it is."""

        def idle() -> bool:
            return not (self._grown or self._asking or self._is_busy)

        with self._wake:
            self._wake.wait_for(lambda: idle() or self._stopping.is_set(), timeout_seconds)
            return idle()

    def close(self) -> None:
        """Finish what is being written and stop. What a model still says is not written."""
        with self._place.writing, self._wake:
            self._stopping.set()
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(STEP_SECONDS if self.model else None)

    def _conversation(self, agent: str, session: str) -> Conversation:
        with self._lock:
            found = self._held.get((agent, session)) or Conversation(agent, session, self._place)
            self._held[agent, session] = found
            self._held.move_to_end((agent, session))
            while len(self._held) > 1 and self._is_too_much():
                self._held.popitem(last=False)
            return found

    def _is_too_much(self) -> bool:
        messages = sum(len(one.messages) for one in self._held.values())
        return len(self._held) > HELD or messages > HELD_MESSAGES

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._grown or self._asking or self._stopping.is_set())
                if self._stopping.is_set():
                    return
                agent, session = next(iter(self._grown or self._asking))
                window = self._grown.pop((agent, session), None)
                if window is None:
                    del self._asking[agent, session]
                self._is_busy = True
            more = False
            try:
                conversation = self._conversation(agent, session)
                if window is not None:
                    more = self._follow(conversation, window) and self.model is not None
                elif self.model is not None:
                    more = conversation.ask(self.model)
            except Exception:  # one odd session must not stop the others
                log.exception("the session %s of %s could not be followed", session, agent)
            with self._wake:
                self._asking.update({(agent, session): None} if more else {})
                self._is_busy = False
                self._wake.notify_all()

    def _follow(self, conversation: Conversation, window: Window) -> bool:
        """Hear what is new of a conversation, head its topics, fold what left the window."""
        agent, session = conversation.agent, conversation.session
        stamp = self._place.reader.stat(conversation.path)
        summary = self._place.reader.stat(self._place.reader.paths.rolling(agent, session, 1))
        if stamp is None or (stamp.size < SMALL_BYTES and summary is None):
            return False
        if conversation.view() is None:
            return False
        conversation.tidy()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._place.vectors.embedder_id and conversation.lacks_vectors():
            if time.monotonic() > deadline or self._stopping.is_set():
                break
            if self._place.vectors.wait_for_vectors(STEP_SECONDS):
                break
        conversation.hear()
        conversation.write_headings()
        before = 0
        while (left := conversation.fold(window)) != before and not self._stopping.is_set():
            before = left
        return True


@dataclass(frozen=True, slots=True)
class FollowedRecords:
    """Implements `store.Records` over the gate; each session that is written to is `heard`."""

    gate: Records
    paths: VaultPaths
    heard: Callable[[str, str], None]
    """ModelLines the agent and the session."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap."""
        written = self.gate.save(relative, change, caller, reason)
        if written is not None:
            self._tell(relative)
        return written

    def append(self, relative: str, text: str) -> object:
        """Append to a file and flush."""
        done = self.gate.append(relative, text)
        self._tell(relative)
        return done

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down."""
        return self.gate.keeps_records(agent)

    def _tell(self, relative: str) -> None:
        agent = self.paths.agent_of(relative)
        session = relative.rpartition("/")[2].removesuffix(".md")
        is_session = bool(agent) and SESSION_ID.fullmatch(session) is not None
        if is_session and relative == self.paths.session(agent, session):
            self.heard(agent, session)
