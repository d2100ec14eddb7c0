"""Which model does what, and what happens when it cannot: the next in line is asked."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from vaultmind.config import MinionConfig
from vaultmind.errors import BadArgument, MinionFailed
from vaultmind.minion.process import RESTING
from vaultmind.minion.spending import Spending
from vaultmind.ports import Clock, Generator
from vaultmind.types import Generated, Prompt, Purpose

if TYPE_CHECKING:
    from vaultmind.minion.local import LocalGenerator
    from vaultmind.minion.remote import RemoteGenerator

EXTRACTIVE = "extractive"
"""No model: the built-in engine, which is always there and ends every line."""
SPENT = "spent"
"""Why a job was not begun: the models have worked for as long as they may today."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class ClosableGenerator(Generator, Protocol):
    """A generator that holds something open."""

    def close(self) -> None:
        """Let go."""
        ...


Open = Callable[[str], ClosableGenerator]
"""Returns the generator of a configured name; raises MinionFailed, BadArgument."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What a job came to, and who did it."""

    value: T | None
    """None: no model did it; the extractive engine is to."""
    by: str
    """Id of the model; `extractive`."""
    failures: tuple[str, ...] = ()
    """Why those before it did not, in words."""
    capped: bool = False
    """Whether a model would have been asked, had the day's seconds not been used up."""
    resting: bool = False
    """Whether a model was not asked because it crashed a while ago, and no other did it."""

    @property
    def again(self) -> bool:
        """Tell whether a model should have done it and may another time."""
        return self.value is None and bool(self.failures)


class Minion:
    """The models of a configuration. Each is opened when it is first needed, and once."""

    def __init__(
        self,
        config: MinionConfig,
        folder: Path,
        *,
        env: Mapping[str, str] | None = None,
        open_generator: Open | None = None,
        clock: Clock = lambda: datetime.now().astimezone(),
        spending: Spending | None = None,
    ) -> None:
        """Count into `spending` where it is given: that of other models of the same person."""
        self._config = config
        self._folder = folder
        self._env = os.environ if env is None else env
        self._open = open_generator or self._opened
        self._generators: dict[str, ClosableGenerator] = {}
        self._lock = threading.Lock()
        self._spending = spending or Spending(folder, config.daily_seconds, clock)
        self._unbound = threading.local()
        self._closed = False

    def chain(self, purpose: Purpose) -> tuple[str, ...]:
        """Return the names of the models to ask, in order: the purpose's own, then the general.

        Empty where no model is set, or where the purpose is to do without one.
        """
        own = getattr(self._config, purpose)
        names = (own, self._config.model) if own else (self._config.model,)
        line: list[str] = []
        for name in names:
            if name == EXTRACTIVE:
                break
            if name not in line:
                line.append(name)
        return tuple(line)

    def run(self, purpose: Purpose, job: Callable[[Generator], T]) -> Done[T]:
        """Have a job done by the first model of a purpose that can; never raises MinionFailed.

        Each answer is paid for out of the day's seconds; where they are used up, nobody is asked.
        """
        failures: list[str] = []
        resting = False
        for name in self.chain(purpose):
            try:
                generator = self.generator(name)
                value = job(_Metered(generator, self._spending, self._pays))
                return Done(value, generator.id, tuple(failures))
            except (MinionFailed, BadArgument) as failure:
                log.warning("%s by %s: %s", purpose, name, failure)
                failures.append(failure.message)
                why = failure.why if isinstance(failure, MinionFailed) else ""
                resting = resting or why == RESTING
                if why == SPENT:
                    return Done(None, EXTRACTIVE, tuple(failures), capped=True, resting=resting)
        return Done(None, EXTRACTIVE, tuple(failures), resting=resting)

    def spent_today(self) -> float:
        """Return the seconds that models have worked since midnight."""
        return self._spending.today()

    @contextmanager
    def unbound(self) -> Iterator[None]:
        """Let this thread's jobs go beyond the day's seconds: a person asked, and waits.

        They are counted all the same.
        """
        before = getattr(self._unbound, "depth", 0)
        self._unbound.depth = before + 1
        try:
            yield
        finally:
            self._unbound.depth = before

    def _pays(self) -> bool:
        return not getattr(self._unbound, "depth", 0)

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
            generators = list(self._generators.values())
            self._generators.clear()
        for one in generators:
            one.close()

    def _opened(self, name: str) -> ClosableGenerator:
        return open_generator(name, self._config, self._folder, self._env)


class _Metered:
    """A generator whose time is counted, and which is not asked once the day's share is gone."""

    def __init__(self, generator: Generator, spending: Spending, pays: Callable[[], bool]) -> None:
        self._generator = generator
        self._spending = spending
        self._pays = pays

    @property
    def id(self) -> str:
        return self._generator.id

    @property
    def context_tokens(self) -> int:
        return self._generator.context_tokens

    def count(self, text: str) -> int:
        return self._generator.count(text)

    def generate(self, prompt: Prompt) -> Generated:
        if self._pays() and self._spending.left() <= 0:
            raise MinionFailed(
                SPENT,
                f"Models have worked {self._spending.today():.0f} s today, as long as they may "
                "(minion.daily_seconds).",
            )
        began = time.monotonic()
        try:
            return self._generator.generate(prompt)
        finally:
            self._spending.add(time.monotonic() - began)


def open_generator(
    name: str,
    config: MinionConfig,
    folder: Path,
    env: Mapping[str, str],
    *,
    background: bool = True,
) -> LocalGenerator | RemoteGenerator:
    """Return the generator of a configured name; its process or connection comes when needed.

    Raises MinionFailed for a file that is missing or no model, BadArgument for any other name.
    """
    from vaultmind.address import parse_address
    from vaultmind.minion.local import LocalGenerator
    from vaultmind.minion.remote import RemoteGenerator

    if name.startswith(("http://", "https://")):
        return RemoteGenerator(
            parse_address(name),
            key=env.get(config.key_env, ""),
            context_tokens=config.context_tokens,
            job_seconds=config.job_seconds,
        )
    if name.lower().endswith(".gguf"):
        return LocalGenerator(Path(name), config, folder, background=background)
    raise BadArgument(
        "minion.model", name, f"`{EXTRACTIVE}`, the path of a .gguf file, or a server's URL#NAME"
    )
