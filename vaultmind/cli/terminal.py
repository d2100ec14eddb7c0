"""What a person sees on a terminal and a script in a pipe: words, JSON, bars, errors, exit codes.

Every command pays for what is imported here: the standard library and click.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from vaultmind.ports import Report, silent
from vaultmind.types import Progress

if TYPE_CHECKING:
    from vaultmind.errors import VaultMindError

EXIT_OTHER, EXIT_USAGE, EXIT_SUGGESTED, EXIT_DENIED, EXIT_NOT_FOUND = 1, 2, 3, 4, 5
EXIT_INTERRUPTED = 130
OUTCOME_EXIT = {
    "suggested": EXIT_SUGGESTED,
    "denied": EXIT_DENIED,
    "not_found": EXIT_NOT_FOUND,
    "partial": EXIT_OTHER,
}
"""Exit code of an outcome; of any other it is 0."""
ERROR_EXIT = {
    "BadArgument": EXIT_USAGE,
    "ConfigError": EXIT_USAGE,
    "VaultNotFound": EXIT_USAGE,
    "NotAllowed": EXIT_DENIED,
    "NotFound": EXIT_NOT_FOUND,
}
WIDEST = 100
"""Columns beyond which a line of prose is hard to read."""
BAR_AFTER_SECONDS, WORDS_AFTER_SECONDS, WORDS_EVERY_SECONDS = 0.5, 2.0, 5.0
"""When a bar appears; and where there is no terminal, when the first words and the next ones do."""

bold = partial(click.style, bold=True)
dim = partial(click.style, dim=True)
good = partial(click.style, fg="green")
odd = partial(click.style, fg="yellow")
bad = partial(click.style, fg="red")
place = partial(click.style, fg="cyan")
say = click.echo
aside = partial(click.echo, err=True)
OUTCOME_MARKS = {
    "written": good("✓"),
    "erased": good("✓"),
    "unchanged": "=",
    "suggested": odd("?"),
    "denied": bad("✗"),
    "not_found": odd("∅"),
}
"""What stands before the words of an answer that has an outcome."""


def print_json(value: Any, *, indent: int | None = 2) -> None:  # noqa: ANN401
    """Write one JSON document to stdout; on one line when `indent` is None."""
    say(json.dumps(value, ensure_ascii=False, indent=indent))


def show(words: str) -> None:
    """Print words, wrapped on a terminal; headings are bold."""
    for line in words.splitlines():
        say(bold(line) if line.startswith("## ") else paragraph(line))


def paragraph(text: str, indent: str = "") -> str:
    """Return text indented, wrapped at words on a terminal and left whole in a pipe."""
    width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else sys.maxsize
    return "\n".join(_wrapped(f"{indent}{line}".rstrip(), width) for line in text.splitlines())


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    margin = line[: len(line) - len(line.lstrip())][: width // 2]
    return textwrap.fill(
        line.lstrip(),
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def exit_code(error: VaultMindError) -> int:
    """Return the exit code of an error."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((ERROR_EXIT[name] for name in names if name in ERROR_EXIT), EXIT_OTHER)


def show_error(kind: str, message: str, hint: str, *, as_json: bool) -> None:
    """Say what went wrong and what to do next: on stderr, or as JSON on stdout."""
    if as_json:
        print_json({"error": {"type": kind, "message": message, "hint": hint}})
        return
    aside(f"{bad('✗')} {message}")
    if hint:
        aside(f"{dim('→')} {hint}")


def use_unicode() -> None:
    """Let stdout and stderr take any text: a path may hold bytes that are no text at all.

    Written into a pipe it is UTF-8 everywhere; what cannot be written becomes an escape, which
    JSON reads back.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Give a function that shows reported steps on stderr, once the work has taken a while.

    On a terminal as bars, else seldom and in words; not at all when quiet.
    """
    on_terminal = sys.stderr.isatty()
    due = time.monotonic() + (BAR_AFTER_SECONDS if on_terminal else WORDS_AFTER_SECONDS)
    with ExitStack() as stack:

        def tell(step: Progress) -> None:
            nonlocal due
            if time.monotonic() < due or (step.total and step.done >= step.total):
                return
            due = time.monotonic() + WORDS_EVERY_SECONDS
            of = f" of {step.total:,}" if step.total else ""
            aside(f"{step.what or 'working'}: {step.done:,}{of}")

        bars: list[Report] = []

        def draw(step: Progress) -> None:
            if not bars and time.monotonic() >= due:
                bars.append(_bars(stack))
            for bar in bars:
                bar(step)

        yield silent if quiet else draw if on_terminal else tell


def _bars(stack: ExitStack) -> Report:
    """Return a function that draws a bar for each kind of step, until the stack is left."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Screen

    screen = stack.enter_context(Screen(console=Console(stderr=True), transient=True))
    tasks = {}

    def draw(step: Progress) -> None:
        if step.what not in tasks:
            tasks[step.what] = screen.add_task(escape(step.what or "working"), total=None)
        screen.update(tasks[step.what], completed=step.done, total=step.total or None)

    return draw
