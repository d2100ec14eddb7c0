"""How far work is that takes a while: a bar on a terminal, gone when it is done; else in words."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vaultmind.cli.output.output import aside
from vaultmind.ports import Report, silent
from vaultmind.types import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Screen
    from rich.progress import TaskID

PATIENCE_SECONDS = 0.5
"""Work that ends sooner shows nothing."""
WORDS_AFTER_SECONDS = 2.0
WORDS_EVERY_SECONDS = 5.0
"""Where there is no terminal, the first words come after so long, the next no sooner than so."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Give a function that shows reported steps on stderr; one that shows nothing when quiet."""
    if quiet:
        yield silent
        return
    if not sys.stderr.isatty():
        yield Words(time.monotonic).report
        return
    bars = Bars(time.monotonic() + PATIENCE_SECONDS)
    try:
        yield bars.report
    finally:
        bars.close()


class Words:
    """Lines on stderr, for whoever waits at a pipe: seldom, and none of work that ends soon."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._due = clock() + WORDS_AFTER_SECONDS

    def report(self, step: Progress) -> None:
        """Tell a step when a word is due; nothing once its work is done."""
        if self._clock() < self._due or (step.total and step.done >= step.total):
            return
        self._due = self._clock() + WORDS_EVERY_SECONDS
        of = f" of {step.total:,}" if step.total else ""
        aside(f"{step.what or 'working'}: {step.done:,}{of}")


class Bars:
    """One bar for each kind of step; the screen is set up when the first is due."""

    def __init__(self, due: float) -> None:
        self._due = due
        self._screen: Screen | None = None
        self._tasks: dict[str, TaskID] = {}

    def report(self, step: Progress) -> None:
        """Show a step, unless the work may still be short."""
        if self._screen is None:
            if time.monotonic() < self._due:
                return
            self._screen = _screen()
            self._screen.start()
        total = step.total or None
        if step.what not in self._tasks:
            self._finish()
            self._tasks[step.what] = self._screen.add_task(step.what or "working", total=total)
        self._screen.update(self._tasks[step.what], completed=step.done, total=total)

    def _finish(self) -> None:
        """Fill the bars there are: one kind of step begins when those before it are done."""
        if self._screen is not None:
            for task in self._screen.tasks:
                self._screen.update(task.id, completed=task.total)

    def close(self) -> None:
        """Take the bars off the screen."""
        if self._screen is not None:
            self._screen.stop()


def _screen() -> Screen:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Screen

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Screen(*columns, console=Console(stderr=True), transient=True)
