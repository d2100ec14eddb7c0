"""What a person or a script sees: JSON, words on a terminal, errors and exit codes.

Only the standard library and click are imported here: every command pays for this module.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

import click

if TYPE_CHECKING:
    from vaultmind.errors import VaultMindError

EXIT_OTHER, EXIT_USAGE, EXIT_SUGGESTED, EXIT_DENIED, EXIT_NOT_FOUND = 1, 2, 3, 4, 5
EXIT_INTERRUPTED = 130
OUTCOME_EXIT = {
    "written": 0,
    "unchanged": 0,
    "suggested": EXIT_SUGGESTED,
    "denied": EXIT_DENIED,
    "not_found": EXIT_NOT_FOUND,
}
USAGE_ERRORS = ("BadArgument", "ConfigError", "VaultNotFound")
WIDEST = 100
"""Columns beyond which a line of prose is hard to read."""


def print_json(value: Any, *, indent: int | None = 2) -> None:  # noqa: ANN401
    """Write one JSON document to stdout; on one line when `indent` is None."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=indent))


def say(text: str = "") -> None:
    """Write words to stdout; colours are left out where nobody sees them."""
    click.echo(text)


def aside(text: str) -> None:
    """Write words about the answer to stderr, out of the way of a pipe."""
    click.echo(text, err=True)


def bold(text: str) -> str:
    """Return bold text."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    """Return text that stands back."""
    return click.style(text, dim=True)


def good(text: str) -> str:
    """Return green text."""
    return click.style(text, fg="green")


def odd(text: str) -> str:
    """Return yellow text."""
    return click.style(text, fg="yellow")


def bad(text: str) -> str:
    """Return red text."""
    return click.style(text, fg="red")


OUTCOME_MARKS = {
    "written": good("✓"),
    "erased": good("✓"),
    "unchanged": good("="),
    "suggested": odd("?"),
    "denied": bad("✗"),
    "not_found": odd("∅"),
}
"""What stands before the words of an answer that has an outcome."""


def place(text: str) -> str:
    """Return a path as places are shown."""
    return click.style(text, fg="cyan")


def paragraph(text: str, indent: str = "") -> str:
    """Return text indented, wrapped at words on a terminal and left whole in a pipe."""
    width = columns() - len(indent)
    lines = (piece for line in text.splitlines() for piece in wrapped(line, width))
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def columns() -> int:
    """Return how wide a line may be; 0 for any width, when stdout is not a terminal."""
    return min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else 0


def wrapped(line: str, width: int) -> Iterator[str]:
    """Yield a line in pieces of at most `width` columns, broken at spaces; all when no width."""
    if width <= 0 or cells(line) <= width:
        yield line
        return
    margin = line[: len(line) - len(line.lstrip())][: width // 2]
    piece = margin
    for word in line.split():
        longer = piece + (" " if piece.strip() else "") + word
        if cells(longer) > width and piece.strip():
            yield piece
            piece = margin + word
        else:
            piece = longer
    yield piece


def cells(text: str) -> int:
    """Return the columns that text takes on a terminal: two for wide letters and emoji."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def exit_code(error: VaultMindError) -> int:
    """Return the exit code of an error."""
    names = [kind.__name__ for kind in type(error).__mro__]
    if any(name in USAGE_ERRORS for name in names):
        return EXIT_USAGE
    if "NotAllowed" in names:
        return EXIT_DENIED
    return EXIT_NOT_FOUND if "NotFound" in names else EXIT_OTHER


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
