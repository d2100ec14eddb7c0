"""Import files: JSON Lines, and the export files of Claude and ChatGPT, plain or zipped.

Every reader yields conversations as they come; one record of an export is in memory as objects
at a time. What a line cannot be taken for is a fault that names the line, never a silent gap.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import IO

from vaultmind.errors import BadArgument, UnreadableNote
from vaultmind.session.imports import chatgpt, claude
from vaultmind.session.imports.record import Conversation, flat_message

_BETWEEN = re.compile(r"[\s,]*")
MAX_UNZIPPED_BYTES = 4_000_000_000
FORMATS = (
    "JSON Lines of {session, time, role, speaker?, content, id?}, Claude's or ChatGPT's "
    "conversations.json, or the .zip it came in"
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that could not be taken, and why."""

    reason: str


def read_conversations(
    path: Path, zone: tzinfo | None = None, session: str = ""
) -> Iterator[Conversation | Skipped]:
    """Yield the conversations of an import file, and what was left out.

    A line of JSON that names no session is of `session`, where that is not empty.
    Messages of one session may come in several pieces. Times without an offset are of `zone`
    (None: the system's). Raises UnreadableNote for a file that cannot be opened or is none of
    FORMATS.
    """
    try:
        if zipfile.is_zipfile(path):
            yield from _zipped(path, zone, session)
        else:
            with path.open("rb") as file:
                yield from _stream(file, path.name, zone, session)
    except (OSError, zipfile.BadZipFile, RecursionError) as error:
        raise UnreadableNote(path.name, str(error) or type(error).__name__) from error


def _zipped(path: Path, zone: tzinfo | None, session: str) -> Iterator[Conversation | Skipped]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if _is_export(name)]
        if not names:
            held = ", ".join(archive.namelist()[:5])
            raise UnreadableNote(path.name, f"no conversations.json in the archive ({held})")
        if sum(archive.getinfo(name).file_size for name in names) > MAX_UNZIPPED_BYTES:
            raise UnreadableNote(path.name, "it unpacks to more than 4 GB")
        for name in sorted(names):
            with archive.open(name) as file:
                yield from _stream(file, name, zone, session)


def _is_export(name: str) -> bool:
    """Tell whether a zipped file holds conversations: ChatGPT numbers them when there are many."""
    base = name.rpartition("/")[2]
    return base.startswith("conversations") and base.endswith((".json", ".jsonl"))


def _stream(
    file: IO[bytes], name: str, zone: tzinfo | None, session: str
) -> Iterator[Conversation | Skipped]:
    """Yield what a plain file holds: a JSON array, a JSON object, or JSON Lines."""
    number, first = _first_line(file)
    if not first:
        raise UnreadableNote(name, "it is empty; there is nothing to import")
    if first.startswith(b"["):
        records = _array(_decoded(first + file.read(), name))
    else:
        records = _lines(number, first, file)
    for where, record in records:
        yield record if isinstance(record, Skipped) else _taken(where, record, zone, session)


def _first_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Return the first line that is not empty, and its number; no byte order mark."""
    for number, raw in enumerate(file, 1):
        line = raw.removeprefix(codecs.BOM_UTF8).lstrip()
        if line:
            return number, line
    return 1, b""


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableNote(name, f"not UTF-8 (byte {error.start})") from error


def _array(text: str) -> Iterator[tuple[str, object]]:
    """Yield the items of a JSON array, one in memory at a time."""
    decoder = json.JSONDecoder()
    position = _after(text, text.index("[") + 1)
    number = 0
    while position < len(text) and text[position] != "]":
        number += 1
        try:
            record, position = decoder.raw_decode(text, position)
        except ValueError as error:
            reason = f"item {number}: broken JSON ({error}); what follows was not read"
            yield "", Skipped(reason)
            return
        yield f"item {number}", record
        position = _after(text, position)
    if position >= len(text):
        yield "", Skipped(f"the list breaks off after item {number}; the file is not whole")


def _after(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _lines(number: int, first: bytes, file: IO[bytes]) -> Iterator[tuple[str, object]]:
    """Yield the records of JSON Lines; a file that is one object over many lines is one."""
    record = _line(number, first) if first else None
    rest: Iterable[bytes] = file
    if isinstance(record, Skipped):
        raw = file.read()
        with contextlib.suppress(ValueError, RecursionError):
            yield f"line {number}", json.loads(first + raw)
            return
        rest = raw.splitlines()
    if first:
        yield f"line {number}", record
    for following, raw_line in enumerate(rest, number + 1):
        if raw_line.strip():
            yield f"line {following}", _line(following, raw_line)


def _line(number: int, raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Skipped(f"line {number}: not UTF-8 (byte {error.start})")
    except (ValueError, RecursionError) as error:
        return Skipped(f"line {number}: broken JSON ({error})")


def _taken(where: str, record: object, zone: tzinfo | None, session: str) -> Conversation | Skipped:
    """Return a record as a conversation, by the shape it has."""
    if not isinstance(record, dict):
        return Skipped(f"{where}: not an object but {type(record).__name__}")
    if isinstance(record.get("chat_messages"), list):
        return claude.conversation(record, zone)
    if "mapping" in record:
        return chatgpt.conversation(record, zone)
    try:
        return flat_message(record, zone, session)
    except BadArgument as error:
        return Skipped(f"{where}: {error.message}")
