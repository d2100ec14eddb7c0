"""The parent's side of a worker process: starts it, asks it, ends it, and survives its end.

One job at a time. A job that takes too long ends with the process; one that a crash ended is
tried once more with careful settings, and what worked is remembered. The process ends by itself
when it has nothing to do, and when this process is gone.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vaultmind.errors import MinionFailed
from vaultmind.minion.notes import Notes

WORKER = Path(__file__).with_name("worker.py")
LOG = "minion.log"
"""What llama.cpp says, of the last start alone; lies in the state folder."""
GRACE_SECONDS = 2.0
"""A job that ends itself in time may take so much longer to say so."""
RESTING = "resting"
"""Why a job was not begun: the model crashed before."""
REST_SECONDS = 600.0
"""After a crash in spite of careful settings, a model is left alone for so long."""
_TAIL_BYTES = 2000
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
"""Threads that wait for each other sleep: where others want the cores, spinning costs tenfold."""
_KILLED = -9
"""By the system, for want of memory, or by a person: not by its own fault."""
_SAID = {
    "not_a_model": "llama.cpp cannot use it",
    "memory": "it needs more memory than it may have (minion.memory_mb)",
    "missing": "llama-cpp-python is not installed",
    "too_long": "the text is too long for its window",
    "nonsense": "llama.cpp failed",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opening:
    """How a model is opened. The names are those the worker reads."""

    path: str
    context_tokens: int
    trained: int
    rope: str = "none"
    threads: int = 1
    gpu_layers: int = 0
    embedding: bool = False
    pools: bool = False
    memory_mb: int = 0
    """0: no limit."""
    background: bool = True
    """Whether everybody else goes first."""
    idle_seconds: float = 120.0
    """0: it stays until it is closed."""


class Worker:
    """A worker process with one model, started when it is first asked."""

    def __init__(
        self,
        opening: Opening,
        key: str,
        folder: Path,
        *,
        command: tuple[str, ...] = (sys.executable, "-P", str(WORKER)),
    ) -> None:
        self._opening = opening
        self._key = key
        self._folder = folder
        self._notes = Notes(folder)
        self._command = command
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._closed = False
        self._rests_until = 0.0
        self.about: dict[str, Any] = {}
        """What the model turned out to be, once it was opened."""

    @property
    def name(self) -> str:
        """Return the model's file name."""
        return Path(self._opening.path).name

    @property
    def pid(self) -> int:
        """Return the pid of the running process; 0 when there is none."""
        child = self._child
        return child.pid if child and child.alive else 0

    @property
    def busy(self) -> bool:
        """Tell whether a job is being done."""
        return self._lock.locked()

    def ask(self, op: str, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Have a job done within so many seconds, whatever stands in its way.

        Raises MinionFailed: timeout, crash, resting, busy, closed, or why the worker could not
        do it.
        """
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(0.0, seconds)):
            raise self._failed("busy", f"another job took all of the {seconds:.0f} seconds.")
        try:
            if time.monotonic() < self._rests_until:
                raise self._failed(RESTING, "it crashed before and rests for some minutes.")
            answer = self._tried({**job, "op": op}, until)
        except MinionFailed as failure:
            self._notes.learn(self._key, failure=failure.message, pid=self.pid)
            raise
        finally:
            self._lock.release()
        return answer

    def close(self) -> None:
        """End the process, and with it any job; nothing can be asked any more."""
        self._closed = True
        if child := self._child:
            child.end()
        with self._lock:
            if self._child is not None:
                self._child.end()
                self._notes.learn(self._key, pid=0)
                self._child = None

    def _tried(self, job: dict[str, Any], until: float) -> dict[str, Any]:
        """Do a job, once more with careful settings after a crash."""
        safe = self._notes.of(self._key).safe
        try:
            return self._once(job, until, safe=safe)
        except _Ended as first:
            log.warning("%s ended (%s); once more, with careful settings", self.name, first.how)
            try:
                answer = self._once(job, until, safe=safe or first.crashed)
            except _Ended as again:
                self._rests_until = time.monotonic() + REST_SECONDS
                what = f"it crashed twice ({again.how})."
                raise self._failed("crash", what, again.said) from None
            if first.own_fault and not safe:
                self._notes.learn(self._key, safe=True)
            return answer

    def _once(self, job: dict[str, Any], until: float, *, safe: bool) -> dict[str, Any]:
        child = self._running(until, safe=safe)
        left = until - time.monotonic()
        if left <= 0:
            raise self._failed("timeout", "the time was over when it had been loaded.")
        with self._alarm(child, left + GRACE_SECONDS):
            answer = child.ask({**job, "seconds": left})
        return self._sound(answer)

    def _running(self, until: float, *, safe: bool) -> _Child:
        """Return the process with its model open, started now if need be."""
        if self._child is not None and self._child.alive and self._child.safe == safe:
            return self._child
        if self._child is not None:
            self._child.end()
        if self._closed:
            raise self._failed("closed", "it was closed.")
        try:
            child = self._child = _Child(self._command, self._folder / LOG, safe=safe)
        except OSError as error:
            what = f"its process could not be started: {error.strerror}."
            raise self._failed("missing", what) from error
        if self._closed:  # meanwhile: whoever closed it did not see this process
            child.end()
            raise self._failed("closed", "it was closed.")
        with self._alarm(child, until - time.monotonic()):
            answer = child.ask({**asdict(self._opening), "safe": safe})
        self.about = self._sound(answer)
        sizes = {name: self.about.get(name, 0.0) for name in ("load_ms", "memory_mb")}
        self._notes.learn(self._key, pid=child.pid, **sizes)
        return child

    def _sound(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return what the worker answered; raise what it could not do."""
        if failed := answer.get("failed"):
            why = str(failed["why"])
            raise self._failed(why, f"{_SAID.get(why, why)}: {failed['message']}.")
        done: dict[str, Any] = answer["ok"]
        return done

    @contextmanager
    def _alarm(self, child: _Child, seconds: float) -> Iterator[None]:
        """Kill the process when the time is over, which ends whatever waits for it."""
        rung = threading.Event()

        def ring() -> None:
            rung.set()
            child.kill()

        alarm = threading.Timer(max(0.0, seconds), ring)
        alarm.daemon = True
        alarm.start()
        try:
            yield
        except _Ended:
            if self._closed:
                raise self._failed("closed", "it was closed.") from None
            if rung.is_set():
                child.end()
                raise self._failed("timeout", "it took too long and was ended.") from None
            raise
        finally:
            alarm.cancel()

    def _failed(self, why: str, what: str, said: str = "") -> MinionFailed:
        hint = f"llama.cpp said: {said}" if said else ""
        return MinionFailed(why, f"The model {self.name} gave no answer: {what}", hint=hint)


class _Ended(Exception):
    """The process ended before it answered."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(code)
        self.how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.crashed = code != 0
        """Not at rest: it may end by itself just as a job comes."""
        self.own_fault = code not in (0, _KILLED)
        self.said = said


class _Child:
    """One process, and the pipe to it."""

    def __init__(self, command: tuple[str, ...], log_file: Path, *, safe: bool) -> None:
        self.safe = safe
        self._log = log_file
        log_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=descriptor,
                env={**os.environ, **_ENVIRONMENT},
                cwd="/",
                start_new_session=True,
            )
        finally:
            os.close(descriptor)
        # The one that waits: so that a process which ended by itself does not stay a zombie.
        self._reaper = threading.Thread(target=self._process.wait, daemon=True)
        self._reaper.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._reaper.is_alive()

    def ask(self, value: dict[str, Any]) -> dict[str, Any]:
        """Send a line and return the line that answers it; raise _Ended when none comes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(value).encode() + b"\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):  # a broken pipe, a closed one, half a line
            self.kill()
            self._reaper.join()
            raise _Ended(self._process.returncode, self._tail()) from None
        return answer

    def kill(self) -> None:
        """End it now, in the middle of whatever it does."""
        if self.alive:
            with suppress(OSError):
                self._process.kill()

    def end(self) -> None:
        """End it and let go of its pipes; returns once it is gone."""
        self.kill()
        self._reaper.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _tail(self) -> str:
        """Return the last line it left in its log."""
        try:
            raw = self._log.read_bytes()[-_TAIL_BYTES:]
        except OSError:
            return ""
        lines = raw.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip() if lines else ""
