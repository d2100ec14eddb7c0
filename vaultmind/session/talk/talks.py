"""Conversations in memory, the last few asked for; their files are the truth.

One thread follows what grows: topics get their headings, and what has left the window is folded
into the summary. Who asks need not wait for it. With a model another has it say what was folded.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import replace

from vaultmind.errors import NotFound
from vaultmind.ports import Clock, MessageVectors, Report, silent
from vaultmind.session.files import Shelf
from vaultmind.session.summary import Window
from vaultmind.session.talk.folding import fold_due
from vaultmind.session.talk.hearing import hear_to, unheard, write_headings
from vaultmind.session.talk.means import Hidden, Means, TalkGate, TalkSettings, Teller
from vaultmind.session.talk.standing import take_out
from vaultmind.session.talk.talk import Talk
from vaultmind.session.talk.told import Telling
from vaultmind.session.talk.view import View
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import agent_name

HELD, HELD_MESSAGES = 8, 20_000
"""Conversations that are kept in memory, and their messages together: a long one takes 8 kB for
each."""
SMALL_BYTES = 1000
"""A smaller file holds too few messages for a topic or a summary: it is not even read."""
PATIENCE_SECONDS = 3.0
"""How long a topic waits for the vectors of its messages; then their words must do."""
LONG_BACKLOG = 600
"""More messages than these are folded in the background, ..."""
ASKER_SECONDS = 2.0
"""... and who asks meanwhile waits so long for them; then the summary is shown as far as it is."""
_STEP_SECONDS = 0.1

log = logging.getLogger(__name__)


class Talks:
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(
        self,
        reader: VaultReader,
        gate: TalkGate,
        hidden: Hidden,
        vectors: MessageVectors,
        settings: TalkSettings | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        stopping = threading.Event()
        settings = settings or TalkSettings()
        self._means = Means(reader, gate, hidden, vectors, settings, stopping.is_set)
        self._stopping = stopping
        self._shelf = Shelf(reader)
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Talk] = OrderedDict()
        self._wake = threading.Condition()
        self._grown: dict[tuple[str, str], None] = {}
        self._asked: dict[tuple[str, str], Window] = {}
        """By which windows conversations with a long backlog are to be folded."""
        self._is_following = False
        self._thread: threading.Thread | None = None
        self.telling: Telling | None = None
        """What has a model say what was folded; None without one."""

    def tell_with(self, teller: Teller) -> None:
        """Have a model write the summaries: before anything is asked or said."""
        self.telling = Telling(teller)

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        session = session or self._shelf.latest(agent)
        return self._seen(self._talk(agent, session)) if session else None

    def fold(self, view: View, window: Window, report: Report = silent) -> View:
        """Return the view with what is due folded into its summary, which is saved.

        The same view where nothing is due. Where it cannot be saved it is kept in memory. What is
        too much to wait for is folded on in the background: the view says how much is `behind`.
        """
        talk = self._talk(view.agent, view.session)
        behind = fold_due(talk, window, report, LONG_BACKLOG)
        if behind:
            behind = self._await_fold(talk, window, report)
        if self.telling:
            self.telling.grown(talk)
        seen = self._seen(talk) or view
        return replace(seen, behind=behind) if behind else seen

    def heard(self, agent: str, session: str) -> None:
        """Say that a session has grown: its topics and summary follow in the background."""
        with self._wake:
            if self._stopping.is_set():
                return
            self._grown[agent_name(agent), session] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="talks", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until all that grew was followed and folded; return whether it is."""

        def idle() -> bool:
            return not self._grown and not self._is_following

        with self._wake:
            self._wake.wait_for(lambda: idle() or self._stopping.is_set(), timeout_seconds)
            return idle()

    def close(self) -> None:
        """Finish what is being written and stop."""
        with self._wake:
            self._stopping.set()
            self._wake.notify_all()
        if self.telling:
            self.telling.close()
        if self._thread is not None:
            self._thread.join()

    def _seen(self, talk: Talk) -> View | None:
        try:
            return talk.view()
        except NotFound:  # it went between the look at its stamp and the reading
            return None

    def _talk(self, agent: str, session: str) -> Talk:
        with self._lock:
            talk = self._held.get((agent, session))
            if talk is None:
                talk = self._held[agent, session] = Talk(agent, session, self._means)
            self._held.move_to_end((agent, session))
            while len(self._held) > 1 and self._is_too_much():
                self._held.popitem(last=False)
            return talk

    def _is_too_much(self) -> bool:
        messages = sum(len(talk.reading.messages) for talk in self._held.values())
        return len(self._held) > HELD or messages > HELD_MESSAGES

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._grown and not self._stopping.is_set():
                    self._wake.wait()
                if self._stopping.is_set():
                    return
                agent, session = next(iter(self._grown))
                del self._grown[agent, session]
                window = self._asked.pop((agent, session), None)
                self._is_following = True
            try:
                self._follow(self._talk(agent, session), window)
            except Exception:  # one odd session must not stop the others
                log.exception("the session %s of %s could not be followed", session, agent)
            with self._wake:
                self._is_following = False
                self._wake.notify_all()

    def _await_fold(self, talk: Talk, window: Window, report: Report) -> int:
        """Have a long backlog folded and wait a while; return how many messages are left then."""
        with self._wake:
            self._asked[talk.agent, talk.session] = window
        self.heard(talk.agent, talk.session)
        deadline = time.monotonic() + ASKER_SECONDS
        while True:
            with self._wake:
                self._wake.wait(_STEP_SECONDS)
            behind = fold_due(talk, window, report, LONG_BACKLOG)
            if not behind or self._stopping.is_set() or time.monotonic() > deadline:
                return behind
            if talk.folded.total:
                report(talk.folded)

    def _follow(self, talk: Talk, asked: Window | None = None) -> None:
        """Hear what is new of a conversation, head its topics, fold what left the window.

        What somebody asked to be folded goes first.
        """
        stamp = self._means.reader.stat(talk.path)
        if stamp is None or (stamp.size < SMALL_BYTES and not self._is_summarised(talk)):
            return
        if self._seen(talk) is None:
            return
        if talk.is_astray:
            with talk.work:
                take_out(talk)
        if asked is not None:
            fold_due(talk, asked)
        self._await_vectors(talk)
        hear_to(talk)
        write_headings(talk)
        fold_due(talk, self._means.settings.window)
        if self.telling:
            self.telling.grown(talk)

    def _is_summarised(self, talk: Talk) -> bool:
        """Tell whether a conversation has a summary: what is taken out of it leaves that too."""
        paths = self._means.reader.paths
        return self._means.reader.stat(paths.rolling(talk.agent, talk.session, 1)) is not None

    def _await_vectors(self, talk: Talk) -> None:
        """Wait a while for the vectors of what is to be heard: by words topics are told worse."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        vectors = self._means.vectors
        while vectors.embedder_id and talk.waits_for_vectors(unheard(talk)):
            if time.monotonic() > deadline or self._stopping.is_set():
                return
            if (talk.agent, talk.session) in self._asked:
                return
            if vectors.wait_for_vectors(_STEP_SECONDS) and talk.waits_for_vectors(unheard(talk)):
                return
