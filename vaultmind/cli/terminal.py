"""What a person sees on a terminal and a script in a pipe: words, JSON, bars, errors, exit codes.

Every command pays for what is imported here: the standard library and click.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from vaultmind.ports import Report, silent
from vaultmind.types import Progress

EXIT_OTHER, EXIT_USAGE, EXIT_SUGGESTED, EXIT_DENIED, EXIT_NOT_FOUND = 1, 2, 3, 4, 5
EXIT_INTERRUPTED = 130
OUTCOME_EXIT = {
    "suggested": EXIT_SUGGESTED,
    "denied": EXIT_DENIED,
    "not_found": EXIT_NOT_FOUND,
    "partial": EXIT_OTHER,
}
"""Exit code of an outcome; of any other it is 0."""
WORDS_AFTER_SECONDS, LINE_EVERY_SECONDS, WORDS_EVERY_SECONDS = 5.0, 0.2, 5.0
"""When it is first told how far a long work is, and how often on a terminal and elsewhere."""

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
    """Print words; headings are bold."""
    for line in words.splitlines():
        say(bold(line) if line.startswith("## ") else line.rstrip())


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
    """Give a function that tells reported steps on stderr, once the work has taken a while.

    On a terminal in one line that is written over, else seldom; not at all when quiet.
    """
    lively = sys.stderr.isatty()
    due, shown = time.monotonic() + (1.0 if lively else WORDS_AFTER_SECONDS), False

    def tell(step: Progress) -> None:
        nonlocal due, shown
        if time.monotonic() < due or (step.total and step.done >= step.total):
            return
        due = time.monotonic() + (LINE_EVERY_SECONDS if lively else WORDS_EVERY_SECONDS)
        of, shown = f" of {step.total:,}" if step.total else "", lively
        words = f"{step.what or 'working'}: {step.done:,}{of}"
        aside(f"\r\x1b[K{words}" if lively else words, nl=not lively)

    yield silent if quiet else tell
    if shown:
        aside("\r\x1b[K", nl=False)
