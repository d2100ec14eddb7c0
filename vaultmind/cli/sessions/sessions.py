"""`vaultmind session`: conversations written down by hand or by a script, and what there is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from vaultmind.cli.options import Settings, VaultCommand, VaultGroup, given, pass_settings
from vaultmind.cli.output.output import bold, cells, columns, dim, good, odd, print_json, say
from vaultmind.errors import BadArgument
from vaultmind.types import ROLES

STDIN = "-"
MESSAGE_FIELD = re.compile(r"messages\[(?P<n>\d+)\](?:\.(?P<field>\w+))?")
AT_ONCE = 500
"""Messages that one call takes."""


@click.group(cls=VaultGroup)
def session() -> None:
    """Write a conversation down, begin a new segment, end it, or list what there is."""


@session.command(cls=VaultCommand)
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
    return _told(settings, result | {"new": new, "known": known})


@session.command(cls=VaultCommand)
@pass_settings
def new(settings: Settings) -> int:
    """Begin a new segment in the running session, as `/new` does: what was said before it is
    summarised, searched, and no longer in the window.
    """
    args = {"new_segment": True} | settings.target
    return _told(settings, settings.backend().call("session_log", args))


@session.command(cls=VaultCommand)
@click.argument("session_id", metavar="[ID]", required=False)
@pass_settings
def end(settings: Settings, session_id: str | None) -> int:
    """End the running session, or the one with ID; the next conversation knows what it left."""
    args = {"end": True} | ({"session": session_id} if session_id else {})
    return _told(settings, settings.backend().call("session_log", args | settings.target))


@session.command("list", cls=VaultCommand)
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="How many at most, the newest. [default: 20]")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="All of them.")
@pass_settings
def list_(settings: Settings, *, everything: bool, **options: object) -> int:
    """List the agent's sessions, newest last: when, how long, about what."""
    args = given(options) | ({"limit": 0} if everything else {})
    found = settings.backend().call("sessions", args | settings.target)
    if settings.json:
        print_json(found)
    else:
        _show(found)
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


def _told(settings: Settings, result: dict[str, Any]) -> int:
    if settings.json:
        print_json(result)
    else:
        done = result["new"] or result["known"] or result["ended"] or result["session"]
        say(f"{good('✓') if done else odd('=')} {result['message']}")
    return 0


def _show(found: dict[str, Any]) -> None:
    """Show sessions, a line each; what they are about as far as there is room."""
    rows = found["sessions"]
    if not rows:
        say(f"{found['agent']} has no sessions yet.")
        return
    if found["more"]:
        say(dim(f"{found['more']:,} older ones: vaultmind session list --all\n"))
    counts = [f"{one['messages']:,}" for one in rows]
    widest = max(map(len, counts))
    spans = [_span(one) for one in rows]
    longest = max(map(len, spans))
    for one, count, span in zip(rows, counts, spans, strict=True):
        state = good("open ") if one["state"] == "open" else dim("ended")
        lead = f"  {span:{longest}}  {count:>{widest}} messages  "
        room = columns() - cells(one["id"] + lead) - len("ended  ")
        about = one["fault"] or " · ".join(one["topics"]) or one["source"]
        if columns() and cells(about) > room:
            about = f"{about[: max(0, room - 1)]}…"
        shown = odd(about) if one["fault"] else about
        say(f"{bold(one['id'])}{lead}{state}  {shown}".rstrip())


def _span(one: dict[str, Any]) -> str:
    """Return when a session began and ended, where the reader is; with dates if on several days."""
    began, ended = _local(one["started"]), _local(one["ended"])
    if not ended:
        return began[11:]
    if began[:10] == ended[:10]:
        return f"{began[11:]:5}–{ended[11:]:5}"
    return f"{began} – {ended}"


def _local(time: str) -> str:
    """Return a time as `2026-02-20 10:00`; what is none as it is written."""
    try:
        return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return time[:16].replace("T", " ")
