"""Claude Code's transcripts: read as they grow, each line as messages.

The format is not documented by its maker; this follows what is written to
`~/.claude/projects/<project>/<session>.jsonl`. A line is an object with `type`, `uuid`,
`timestamp` and `message`; `content` is a text or a list of blocks. What nobody said is left out:
sub-agents' lines, summaries of a compaction, reminders and the output of local commands. A line
of an unknown kind says nothing.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from vaultmind.errors import BadArgument, NotFound
from vaultmind.session.files import TOOL_CHARS, beginning, hashed_id, iso, parse_time
from vaultmind.types import Message
from vaultmind.vault.files import OPEN_FLAGS

END_BYTES = 1_000_000
"""Of a transcript's end that are looked through for the last prompt."""
TELLING = (b'"user"', b'"assistant"', b'"compact_boundary"', b'"queued_command"')
"""A line without any of these says nothing to us, and is not parsed."""
SYNTHETIC = "<synthetic>"
OWN_FILE = "the absolute path of a regular .jsonl file of your own"
CALL_CHARS = 300
"""Characters that are kept of what a tool was called with."""
NOT_SAID = ("isSidechain", "isMeta", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""A line with one of these was said by nobody, or not in this conversation."""
_ASIDES = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|local-command-caveat"
    r"|user-prompt-submit-hook)>.*?</\1>",
    re.DOTALL,
)
_LOCAL = re.compile(
    r"\s*<(local-command-std(out|err)|bash-(input|std(out|err))|task-notification|tick)\b"
)
_COMMAND = re.compile(
    r"<command-name>\s*(/?[^<]*?)\s*</command-name>(?:.*?<command-args>(.*?)</command-args>)?", re.S
)
_EMPTY = frozenset({"", "(no content)", "No response requested."})


class Line(NamedTuple):
    """What a line says."""

    messages: tuple[Message, ...] = ()
    compacted: bool = False
    """Whether the host let go of what stands above the line, but for a summary."""
    folder: str = ""
    """The path of the folder that it was said in; empty where the line does not say."""


def read_on(path: Path, offset: int, max_bytes: int) -> tuple[list[bytes], int, bool]:
    """Return the whole lines that follow an offset, as many as fit, but one at least; the offset
    after them; and whether there is more.

    A file that has shrunk is read from its start. Raises NotFound where there is no file yet,
    BadArgument for anything but a regular file of this user.
    """
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = end = offset if offset <= size else 0
        file.seek(start)
        lines: list[bytes] = []
        for line in file:
            if not line.endswith(b"\n") or (lines and end - start >= max_bytes):
                break
            lines.append(line)
            end += len(line)
        return lines, end, end - start >= max_bytes and end < size


def last_prompt(path: str) -> Message | None:
    """Return what the person said last, by the end of a transcript; nothing is written down.

    A message without a time counts as said in 1970.
    """
    try:
        with _opened(Path(path)) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - END_BYTES))
            lines = [parse_line(raw, {}, datetime.fromtimestamp(0, UTC)) for raw in file]
    except (BadArgument, NotFound, OSError):
        return None
    said = [one for line in lines for one in line.messages if one.role == "user"]
    return said[-1] if said else None


def _opened(path: Path) -> BinaryIO:
    """Return a transcript opened for reading; no link is followed, no pipe waited for."""
    try:
        if not path.is_absolute() or path.suffix != ".jsonl":
            raise ValueError(f"{path} is no transcript")
        file = os.fdopen(os.open(path, OPEN_FLAGS), "rb")
    except FileNotFoundError:
        raise NotFound(f"There is no transcript {str(path)!r} yet.") from None
    except (OSError, ValueError) as error:
        raise BadArgument("transcript_path", str(path), OWN_FILE) from error
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        file.close()
        raise BadArgument("transcript_path", str(path), OWN_FILE)
    return file


def parse_line(raw: bytes, tools: MutableMapping[str, str], now: datetime) -> Line:
    """Return what a line says; nothing for one that is broken or of an unknown kind.

    `tools` holds the names of the tools that were called, by call: a result does not repeat
    its tool's name. `now` is the time of a line without one.
    """
    try:
        record = json.loads(raw) if any(word in raw for word in TELLING) else None
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        return Line()
    if record.get("isCompactSummary") or record.get("subtype") == "compact_boundary":
        return Line(compacted=not record.get("isSidechain"))
    if any(record.get(name) for name in NOT_SAID) or not _is_human(record):
        return Line()
    time = local_time(record.get("timestamp")) or iso(now)
    origin = record.get("forkedFrom")  # a forked conversation begins with another's lines
    copied = origin.get("messageUuid") if isinstance(origin, dict) else None
    own = str(copied or record.get("uuid") or hashed_id(raw.decode("utf-8", "replace")))
    messages = tuple(
        replace(message, time=time, id=own if number == 1 else f"{own}/{number}")
        for number, message in enumerate(_messages(record, tools), 1)
    )
    folder = record.get("cwd")
    return Line(messages, folder=folder if isinstance(folder, str) else "")


def local_time(value: object) -> str:
    """Return a time (ISO 8601 or seconds since 1970) as local time; empty if it is none."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return iso(datetime.fromtimestamp(value, UTC).astimezone())
        return iso(parse_time(value).astimezone()) if isinstance(value, str) else ""
    except (ValueError, OverflowError, OSError):
        return ""


def texts(content: object) -> list[str]:
    """Return the texts of a content: itself, or those of its blocks."""
    if isinstance(content, str):
        return [content]
    found = (block.get("text") for block in _blocks(content, "text"))
    return [text for text in found if isinstance(text, str)]


def _messages(record: dict[str, Any], tools: MutableMapping[str, str]) -> Iterator[Message]:
    """Yield what a record says, without time and id."""
    kind, message, queued = record.get("type"), record.get("message"), record.get("attachment")
    content = message.get("content") if isinstance(message, dict) else None
    if kind == "attachment" and isinstance(queued, dict) and queued.get("type") == "queued_command":
        # what the person typed while the assistant was at work
        if queued.get("commandMode", "prompt") == "prompt" and _is_human(queued):
            yield from _typed(queued.get("prompt"))
    elif kind == "user":
        yield from _typed(content)
        for block in _blocks(content, "tool_result"):
            words = beginning("\n".join(texts(block.get("content"))), TOOL_CHARS)
            name = tools.get(str(block.get("tool_use_id")), "tool")
            yield Message("tool", words or "(no text)", "", speaker=name)
    elif kind == "assistant":
        words = "\n\n".join(text.strip("\n") for text in texts(content)).strip()
        if words not in _EMPTY and isinstance(message, dict) and message.get("model") != SYNTHETIC:
            yield Message("assistant", words, "")
        for block in _blocks(content, "tool_use"):
            name = str(block.get("name") or "tool")
            tools[str(block.get("id"))] = name
            yield Message("tool", _call(block.get("input")), "", speaker=name)


def _call(given: object) -> str:
    """Return what a tool was called with, in a line."""
    named = given.items() if isinstance(given, dict) else ()
    return beginning(" · ".join(f"{one}: {it}" for one, it in named), CALL_CHARS) or "(called)"


def _typed(content: object) -> Iterator[Message]:
    """Yield what a person typed, without what the host put beside it."""
    kept = [text for text in map(_own_words, texts(content)) if text]
    for kind in ("image", "document"):
        kept += [f"[attached: {kind}]" for _ in _blocks(content, kind)]
    if kept:
        yield Message("user", "\n\n".join(kept), "")


def _own_words(text: str) -> str:
    if _LOCAL.match(text) or text.startswith("[Request interrupted by user"):
        return ""
    if command := _COMMAND.search(text):
        words = (command[2] or "").strip()
        return f"{command[1]} {words}" if words else ""
    words = _ASIDES.sub("", text).strip()
    return "" if words in _EMPTY else words


def _is_human(record: dict[str, Any]) -> bool:
    """Tell whether no machine is named as the one who speaks in the person's place."""
    origin = record.get("origin")
    return not isinstance(origin, dict) or origin.get("kind") in (None, "human")


def _blocks(content: object, kind: str) -> list[dict[str, Any]]:
    blocks = content if isinstance(content, list) else []
    return [one for one in blocks if isinstance(one, dict) and one.get("type") == kind]
