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
EVERY_SECONDS = 1.0
"""How often it is told how far a long work is."""

bold = partial(click.style, bold=True)
dim = partial(click.style, dim=True)
good = partial(click.style, fg="green")
odd = partial(click.style, fg="yellow")
bad = partial(click.style, fg="red")
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


def print_json(value: Any, indent: int | None = 2) -> None:  # noqa: ANN401
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
    """Give a function that tells reported steps once a second, in a line that is written over.

    Not at all when quiet, or where stderr is no terminal.
    """
    due, clear = time.monotonic() + EVERY_SECONDS, "\r\x1b[K"

    def tell(step: Progress) -> None:
        nonlocal due
        if time.monotonic() >= due and step.done != step.total:
            due = time.monotonic() + EVERY_SECONDS
            of = f" of {step.total:,}" if step.total else ""
            aside(f"{clear}{step.what or 'working'}: {step.done:,}{of}", nl=False)

    begun = due
    yield silent if quiet or not sys.stderr.isatty() else tell
    if due > begun:
        aside(clear, nl=False)
