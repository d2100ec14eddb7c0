"""`vaultmind session`: conversations written down by hand or by a script, and what there is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.made import Told, tell
from vaultmind.cli.options import Settings, VaultCommand, given, pass_settings
from vaultmind.errors import BadArgument
from vaultmind.types import ROLES

STDIN = "-"
MESSAGE_FIELD = re.compile(r"messages\[(?P<n>\d+)\](?:\.(?P<field>\w+))?")
AT_ONCE = 500
"""Messages that one call takes."""


@click.command("log", cls=VaultCommand)
@click.argument("text", nargs=-1)
@click.option("--role", type=click.Choice(ROLES), help="Who speaks. [default: user]")
@click.option("--id", metavar="ID", help="The message's id: the same again is not written twice.")
@click.option("--speaker", metavar="NAME", help="The speaker's name.")
@click.option("--file", metavar="FILE", type=click.Path(dir_okay=False, allow_dash=True),
              help="Messages as JSON Lines ({role, content, id?, …}); - is stdin.")  # fmt: skip
@pass_settings
def log(settings: Settings, text: tuple[str, ...], file: str | None, **options: object) -> int:
    """Append TEXT, or the messages of FILE, to the running session; a new one begins if need be.

    Example: vaultmind session log --role assistant "We decided to bake on Fridays."
    """
    said = given(options)
    if bool(text) == bool(file) or (file and said):
        raise click.UsageError("Give TEXT with its options, or --file FILE.")
    lines, messages = _read(file) if file else ([], [said | {"text": " ".join(text)}])
    result: dict[str, Any] = {}
    new = known = 0
    for start in range(0, len(messages), AT_ONCE):
        args = {"messages": messages[start : start + AT_ONCE]} | settings.target
        try:
            result = settings.backend().call("session_log", args)
        except BadArgument as error:
            _name_line(error, file or "", lines[start:])
            raise
        new, known = new + result["new"], known + result["known"]
    result |= {"new": new, "known": known}
    tell(settings, Told(result, result["message"]))
    return 0


def _read(file: str) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the lines' numbers and messages of a file of JSON Lines, by either name of the words.

    Raises BadArgument naming a bad line.
    """
    raw = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
    messages, numbers = [], []
    try:
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadArgument("FILE", file, f"UTF-8 (byte {error.start} is not)") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            raise BadArgument(f"line {number}", line, f"JSON ({error})") from error
        if not isinstance(message, dict):
            raise BadArgument(f"line {number}", line, "an object {role, content, ...}")
        content = message.pop("content", None)
        messages.append(message if content is None else {"text": content} | message)
        numbers.append(number)
    if not messages:
        raise BadArgument("FILE", file, "a file with a message a line; it is empty")
    return numbers, messages


def _name_line(error: BadArgument, file: str, lines: Sequence[int]) -> None:
    """Let an error about one message speak of the line of the file it stands on."""
    match = MESSAGE_FIELD.fullmatch(error.field)
    if match is None:
        return
    field = match["field"] or "message"
    if lines:
        field = "content" if field == "text" else field
        field = f"{field} in line {lines[int(match['n'])]} of {file}"
    error.message = error.message.replace(error.field, field)
    error.field = field
