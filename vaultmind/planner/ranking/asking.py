"""Asking something slow on the side: whoever asks waits for so long and no longer."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

LATE_SECONDS = 20.0
"""An answer that comes too late may take so long in all: a model that is being loaded takes time,
and were it ended for that it would never be loaded."""
STUCK_SECONDS = 2 * LATE_SECONDS
"""After so long nothing is expected any more: another may be asked."""
KEPT = 64
"""Answers that are remembered."""

log = logging.getLogger(__name__)


class Late(Enum):
    """Why there is no answer."""

    TIMEOUT = auto()
    BUSY = auto()
    CLOSED = auto()


class _Job:
    def __init__(self, until: float) -> None:
        self.until = until
        self.done = threading.Event()
        self.answer: Any = None


class Aside:
    """Runs one piece of work at a time in a thread of its own and remembers the answers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._answers: OrderedDict[str, Any] = OrderedDict()
        self._closed = False

    def ask(self, question: str, work: Callable[[float], Any], seconds: float) -> Any:  # noqa: ANN401
        """Return what `work` answers to a question, or why there is no answer within the time.

        `work` is given the seconds that it may take: more than are waited for. An answer that is
        text says why there is none, and is not remembered. What was answered before is answered
        at once; while another question is at work, its end is waited for.
        """
        key = hashlib.sha256(question.encode("utf-8", "replace")).hexdigest()
        until = self._clock() + seconds
        while True:
            left = until - self._clock()
            with self._lock:
                if self._closed:
                    return Late.CLOSED
                if key in self._answers:
                    self._answers.move_to_end(key)
                    return self._answers[key]
                other = self._job
                if other is None or self._clock() >= other.until:
                    job = self._job = _Job(self._clock() + STUCK_SECONDS + left)
                    break
            if not other.done.wait(max(0.0, left)):
                return Late.BUSY
        longest = max(left, LATE_SECONDS)
        threading.Thread(
            target=self._run, args=(job, key, lambda: work(longest)), name="aside", daemon=True
        ).start()
        return job.answer if job.done.wait(max(0.0, left)) else Late.TIMEOUT

    def close(self) -> None:
        """Answer nobody any more."""
        with self._lock:
            self._closed = True

    def _run(self, job: _Job, key: str, work: Callable[[], Any]) -> None:
        answer: Any = "The model failed."
        try:
            answer = work()
        except Exception:  # a thread of its own: whoever waits is told, the log says what it was
            log.exception("a model could not be asked")
        finally:
            with self._lock:
                job.answer = answer
                if not isinstance(answer, str):
                    self._answers[key] = answer
                    while len(self._answers) > KEPT:
                        self._answers.popitem(last=False)
                if self._job is job:
                    self._job = None
            job.done.set()
