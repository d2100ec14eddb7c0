"""What a person or a script sees: JSON, tables, progress, errors and exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from vaultmind.errors import BadArgument, ConfigError, NotFound, VaultMindError, VaultNotFound
from vaultmind.ports import Report
from vaultmind.types import Progress

EXIT_OTHER, EXIT_USAGE, EXIT_SUGGESTED, EXIT_DENIED, EXIT_NOT_FOUND = 1, 2, 3, 4, 5
OUTCOME_EXIT = {
    "written": 0,
    "unchanged": 0,
    "suggested": EXIT_SUGGESTED,
    "denied": EXIT_DENIED,
    "not_found": EXIT_NOT_FOUND,
}

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Any) -> None:  # noqa: ANN401
    """Write one JSON document to stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_json_line(value: Any) -> None:  # noqa: ANN401
    """Write one JSON document as one line to stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def exit_code(error: VaultMindError) -> int:
    """Return the exit code of an error."""
    if isinstance(error, (BadArgument, ConfigError, VaultNotFound)):
        return EXIT_USAGE
    return EXIT_NOT_FOUND if isinstance(error, NotFound) else EXIT_OTHER


def show_error(error: VaultMindError, *, as_json: bool) -> None:
    """Say what went wrong and what to do next, on stderr (or as JSON on stdout)."""
    if as_json:
        body = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
        print_json({"error": body})
        return
    err.print(f"[bold red]{type(error).__name__}[/]: {escaped(error.message)}")
    if error.hint:
        err.print(f"[dim]→[/] {escaped(error.hint)}")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """Show a bar on stderr for work that reports its steps; nothing when quiet."""
    if quiet or not sys.stderr.isatty():
        yield lambda step: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=err, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(step: Progress) -> None:
            if step.what not in tasks:
                tasks[step.what] = bars.add_task(step.what or "working", total=step.total)
            bars.update(tasks[step.what], completed=step.done, total=step.total)

        yield report


def escaped(text: str) -> str:
    """Return text that rich shows as it is."""
    from rich.markup import escape

    return escape(text)
