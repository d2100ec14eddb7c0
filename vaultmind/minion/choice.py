"""Which model does what, and what happens when it cannot: the next in line is asked."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import distributions
from itertools import takewhile
from pathlib import Path
from typing import Any, Generic, TypeVar

from vaultmind.address import Server, parse_address
from vaultmind.config import MinionConfig
from vaultmind.errors import BadArgument, MinionFailed, install_hint
from vaultmind.minion.models import CommandGenerator, LocalGenerator, RemoteGenerator
from vaultmind.minion.state import learned, spend, spent
from vaultmind.ports import Clock, Generator
from vaultmind.types import PURPOSES, Purpose

EXTRACTIVE = "extractive"
"""No model: the built-in engine, which is always there and ends every line."""
COMMAND = "command"
"""The person's own: `minion.command`."""
SPENT = "spent"
"""Why a job was not begun: the models have worked for as long as they may today."""

_BOUND = ContextVar("bound", default=True)
"""Whether the day's seconds bind whoever asks."""

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What a job came to, and who did it."""

    value: T | None
    """None: no model did it; the extractive engine is to."""
    by: str
    """Id of the model; `extractive`."""
    failures: tuple[str, ...] = ()
    """Why those before it did not, in words."""
    unasked: bool = False
    """Whether a model was not asked: the day's seconds are used up, or it crashed a while ago."""


class Minion:
    """The models of a configuration. Each is opened when it is first needed, and once."""

    def __init__(
        self,
        config: MinionConfig,
        folder: Path,
        *,
        open_generator: Callable[[str], Generator] | None = None,
        clock: Clock = lambda: datetime.now().astimezone(),
    ) -> None:
        self._config = config
        self._open = open_generator or (lambda name: opened(name, config, folder))
        self._generators: dict[str, Generator] = {}
        self._lock = threading.Lock()
        self._folder = folder
        self._clock = clock
        self._closed = False

    def chain(self, purpose: Purpose) -> tuple[str, ...]:
        """Return the names of the models to ask, in order: the purpose's own, then the general.

        Empty where no model is set, or where the purpose is to do without one.
        """
        own, general = getattr(self._config, purpose), self._config.model
        if self._config.command:  # a plan cannot wait for it, and other summaries are not its
            general = {"extraction": COMMAND, "summary": EXTRACTIVE}.get(purpose, general)
        line = dict.fromkeys(filter(None, (own, general)))
        return tuple(takewhile(lambda name: name != EXTRACTIVE, line))

    def run(self, purpose: Purpose, job: Callable[[Generator], T]) -> Done[T]:
        """Have a job done by the first model of a purpose that can; never raises MinionFailed.

        It is paid for out of the day's seconds; where they are used up, nobody is asked.
        """
        failures: list[str] = []
        whys: set[str] = set()
        for name in self.chain(purpose):
            began = time.monotonic()
            try:
                generator = self.generator(name)
                self._pay(name)
                value = job(generator)
                return Done(value, generator.id, tuple(failures))
            except (MinionFailed, BadArgument) as failure:
                log.warning("%s by %s: %s", purpose, name, failure)
                failures.append(failure.message)
                whys.add(getattr(failure, "why", ""))
            finally:
                spend(self._folder, self._today(), time.monotonic() - began)
        return Done(None, EXTRACTIVE, tuple(failures), bool(whys & {SPENT, "resting"}))

    def _pay(self, name: str) -> None:
        """Raise MinionFailed where a model may not work any more today; count a command's call."""
        most, worked = self._config.daily_seconds, spent(self._folder, self._today())
        if _BOUND.get() and 0 < most <= worked:
            told = f"Models have used up their {worked:.0f} s for today"
            raise MinionFailed(SPENT, f"{told} (minion.daily_seconds).")
        if name == COMMAND:
            if spent(self._folder, self._today(), "calls") >= self._config.calls_per_day:
                told = "The command has used up its calls for today (minion.calls_per_day)."
                raise MinionFailed(SPENT, told)
            spend(self._folder, self._today(), 1, "calls")

    def _today(self) -> str:
        return self._clock().date().isoformat()

    @contextmanager
    def unbound(self) -> Iterator[None]:
        """Let this thread's jobs go beyond the day's seconds: a person asked, and waits.

        They are counted all the same.
        """
        before = _BOUND.set(False)
        try:
            yield
        finally:
            _BOUND.reset(before)

    def generator(self, name: str) -> Generator:
        """Return the generator of a configured name; raises MinionFailed, BadArgument."""
        with self._lock:
            if self._closed:
                raise MinionFailed("closed", "The models have been closed.")
            if name not in self._generators:
                self._generators[name] = self._open(name)
            return self._generators[name]

    def close(self) -> None:
        """End every process; jobs that run end too, and none begins any more."""
        with self._lock:
            self._closed = True
        for one in self._generators.values():
            one.close()


def opened(name: str, config: MinionConfig, folder: Path, *, background: bool = True) -> Generator:
    """Return the generator of a configured name; its process or connection comes when needed.

    Raises MinionFailed for a file that is missing or no model, BadArgument for any other name.
    """
    if name == COMMAND and config.command:
        return CommandGenerator(config)
    if name.startswith(("http://", "https://")):
        at, key = parse_address(name), os.environ.get(config.key_env, "")
        name = f"{at.model}@{at.host}"
        return RemoteGenerator(Server(at, key), name, config, config.context_tokens)
    if name.lower().endswith(".gguf"):
        return LocalGenerator(Path(name), config, folder, background=background)
    allowed = f"`{EXTRACTIVE}`, the path of a .gguf file, or a server's URL#NAME"
    raise BadArgument("minion.model", name, allowed)


def standing(config: MinionConfig, folder: Path) -> dict[str, Any]:
    """Return who does what: the models of each purpose in order, and how each model is.

    Nothing is loaded and nobody is asked for it.
    """
    minion = Minion(config, folder)
    chains = {purpose: [*minion.chain(purpose), EXTRACTIVE] for purpose in PURPOSES}
    names = dict.fromkeys(name for chain in chains.values() for name in chain[:-1])
    package = next((one.version for one in distributions(name="llama-cpp-python")), "")
    models = [_model(minion, name, package) for name in names]
    return {"purposes": chains, "models": models, "llama_cpp": package}


def _model(minion: Minion, name: str, package: str) -> dict[str, Any]:
    """Return a model's name, kind, `problem` and `hint` where it cannot be used, and its size.

    `safe`: it crashed with the usual settings. `failure`: why its last job failed.
    `tokens_per_second`: of its last answer, reading the question included.
    """
    row: dict[str, Any] = {"name": name, "kind": "server", "problem": "", "hint": "",
           "size_mb": 0.0, "context_tokens": 0, "trained_tokens": 0, "safe": False,
           "tokens_per_second": 0.0, "failure": ""}  # fmt: skip
    try:
        found = minion.generator(name)
    except (MinionFailed, BadArgument) as failure:
        kind = "gguf" if name.endswith(".gguf") else "unknown"
        return row | {"kind": kind, "problem": failure.message, "hint": failure.hint}
    row["context_tokens"] = found.context_tokens
    if not isinstance(found, LocalGenerator):
        return row | {"name": found.id, "kind": COMMAND} if name == COMMAND else row
    head = found.head
    row |= {"kind": "gguf", "size_mb": head.size_mb, "trained_tokens": head.context_tokens}
    if not package:
        row |= {"problem": "llama-cpp-python is not installed.", "hint": install_hint("minion")}
    return row | learned(found.folder, head.key)
