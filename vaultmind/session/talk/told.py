"""The thread that has a model say what was said, conversation by conversation.

It is apart from the one that follows what grows: nobody's topics or summary wait for a model.
"""

from __future__ import annotations

import logging
import threading

from vaultmind.session.talk.means import Teller
from vaultmind.session.talk.talk import Talk
from vaultmind.session.talk.telling import Saving, tell_due

CLOSE_SECONDS = 0.2
"""How long an end waits for an answer under way: what comes later is not written."""

log = logging.getLogger(__name__)


class Telling:
    """Conversations that wait for a model. Safe to use from threads."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._wake = threading.Condition()
        self._waiting: dict[tuple[str, str], Talk] = {}
        self._seen: dict[tuple[str, str], str] = {}
        """Up to which message a conversation was folded when its turn came."""
        self._is_telling = False
        self._stopping = threading.Event()
        self._saving = Saving(self._stopping.is_set, threading.Lock())
        self._thread: threading.Thread | None = None

    def grown(self, talk: Talk) -> None:
        """Say that a conversation may have been folded on. Returns at once.

        Its turn comes again once more has been folded, also where the model failed.
        """
        key = (talk.agent, talk.session)
        with self._wake:
            if self._stopping.is_set() or self._seen.get(key, "") == talk.rolling.upto:
                return
            self._seen[key] = talk.rolling.upto
            self._waiting[key] = talk
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="telling", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until nothing waits; return whether that is so."""

        def idle() -> bool:
            return not self._waiting and not self._is_telling

        with self._wake:
            self._wake.wait_for(lambda: idle() or self._stopping.is_set(), timeout_seconds)
            return idle()

    def close(self) -> None:
        """Stop. Nothing is written after this returns, whatever a model still says."""
        with self._saving.lock, self._wake:
            self._stopping.set()
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._stopping.is_set():
                    self._wake.wait()
                if self._stopping.is_set():
                    return
                talk = self._waiting.pop(next(iter(self._waiting)))
                self._is_telling = True
            try:
                tell_due(talk, self._teller, self._saving)
            except Exception:  # one odd session must not stop the others
                log.exception("the session %s of %s could not be told", talk.session, talk.agent)
            with self._wake:
                self._is_telling = False
                self._wake.notify_all()
