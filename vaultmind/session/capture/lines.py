"""A line of Claude Code's transcript as messages: what the two said, and the tools' names.

The format is not documented by its maker; this follows what is written to
`~/.claude/projects/<project>/<session>.jsonl`. A line is an object with `type`, `uuid`,
`timestamp` and `message`; `content` is a text or a list of blocks. What nobody said is left out:
sub-agents' lines, summaries of a compaction, reminders and the output of local commands. A line
of an unknown kind says nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from vaultmind.session.imports.record import TOOL_CHARS, local_time
from vaultmind.session.records.keepable import beginning
from vaultmind.session.records.store import iso
from vaultmind.types import Message

MAX_CHARS = 100_000
"""Of one message; the rest of a longer paste is left out, and it is said how much."""
TELLING = (b'"user"', b'"assistant"', b'"compact_boundary"', b'"queued_command"')
"""A line without any of these says nothing to us, and is not parsed."""
CALLED = "(called)"
"""The text of a tool's call; its name stands where a speaker's does."""
NOT_SAID = ("isSidechain", "isMeta", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""A line with one of these was said by nobody, or not in this conversation."""

_ASIDE = (
    "system-reminder|ide_opened_file|ide_selection|local-command-caveat|user-prompt-submit-hook"
)
_ASIDES = re.compile(rf"<({_ASIDE})>.*?</\1>", re.DOTALL)
_LOCAL = re.compile(
    r"\s*<(local-command-std(out|err)|bash-(input|std(out|err))|task-notification|tick)\b"
)
_COMMAND = re.compile(r"<command-name>\s*(/?[^<]*?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_EMPTY = frozenset({"", "(no content)", "No response requested."})


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says."""

    messages: tuple[Message, ...] = ()
    compacted: bool = False
    """Whether the host let go of what stands above the line, but for a summary."""
    folder: str = ""
    """The path of the folder that it was said in; empty where the line does not say."""


def parse_line(
    raw: bytes, tools: MutableMapping[str, str], now: datetime, zone: tzinfo | None = None
) -> Line:
    """Return what a line says; nothing for one that is broken or of an unknown kind.

    `tools` holds the names of the tools that were called, by call: a result does not repeat
    its tool's name. `now` is the time of a line without one.
    """
    if not any(word in raw for word in TELLING):
        return Line()
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return Line()
    if not isinstance(record, dict):
        return Line()
    if record.get("isCompactSummary") or record.get("subtype") == "compact_boundary":
        return Line(compacted=not record.get("isSidechain"))
    if any(record.get(name) for name in NOT_SAID) or not _is_human(record):
        return Line()
    time = local_time(record.get("timestamp"), zone) or iso(now)
    said = [replace(message, time=time) for message in _messages(record, tools)]
    folder = record.get("cwd")
    numbered = tuple(_numbered(said, _id(record, raw)))
    return Line(numbered, folder=folder if isinstance(folder, str) else "")


def _messages(record: dict[str, Any], tools: MutableMapping[str, str]) -> Iterator[Message]:
    """Yield what a record says, without time and id."""
    kind, message = record.get("type"), record.get("message")
    if kind == "attachment":
        yield from _queued(record.get("attachment"))
    elif kind == "user" and isinstance(message, dict):
        content = message.get("content")
        if text := _typed(content):
            yield Message("user", text, "")
        yield from (_result(block, tools) for block in _blocks(content, "tool_result"))
    elif kind == "assistant" and isinstance(message, dict):
        content = message.get("content")
        if message.get("model") != "<synthetic>" and (text := _spoken(content)):
            yield Message("assistant", text, "")
        for block in _blocks(content, "tool_use"):
            name = str(block.get("name") or "tool")
            tools[str(block.get("id"))] = name
            yield Message("tool", CALLED, "", speaker=name)


def _queued(attachment: object) -> Iterator[Message]:
    """Yield what the person typed while the assistant was at work."""
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return
    by_person = attachment.get("commandMode", "prompt") == "prompt" and _is_human(attachment)
    if by_person and (text := _typed(attachment.get("prompt"))):
        yield Message("user", text, "")


def _typed(content: object) -> str:
    """Return what a person typed, without what the host put beside it."""
    texts = [content] if isinstance(content, str) else _texts(content)
    kept = [text for text in map(_own_words, texts) if text]
    kept += ["[attached: image]" for _ in _blocks(content, "image")]
    kept += ["[attached: document]" for _ in _blocks(content, "document")]
    return _capped("\n\n".join(kept))


def _own_words(text: str) -> str:
    if _LOCAL.match(text) or text.startswith("[Request interrupted by user"):
        return ""
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        words = arguments[1].strip() if arguments else ""
        return f"{command[1]} {words}" if words else ""
    words = _ASIDES.sub("", text).strip()
    return "" if words in _EMPTY else words


def _spoken(content: object) -> str:
    texts = [content] if isinstance(content, str) else _texts(content)
    words = "\n\n".join(text.strip("\n") for text in texts).strip()
    return "" if words in _EMPTY else _capped(words)


def _result(block: dict[str, Any], tools: MutableMapping[str, str]) -> Message:
    """Return a tool's result: its name and the beginning of what it said."""
    content = block.get("content")
    texts = [content] if isinstance(content, str) else _texts(content)
    words = beginning("\n".join(texts), TOOL_CHARS)
    name = tools.get(str(block.get("tool_use_id")), "tool")
    return Message("tool", words or "(no text)", "", speaker=name)


def _numbered(messages: list[Message], id_: str) -> Iterator[Message]:
    """Yield messages with their line's id; of several all but the first get a number."""
    for number, message in enumerate(messages, 1):
        own = id_ if number == 1 else f"{id_}/{number}"
        yield replace(message, id=own)


def _id(record: dict[str, Any], raw: bytes) -> str:
    """Return a line's id: of a copied one, as a forked conversation begins with, the original's."""
    origin = record.get("forkedFrom")
    copied = origin.get("messageUuid") if isinstance(origin, dict) else None
    return str(copied or record.get("uuid") or f"h{hashlib.sha256(raw).hexdigest()[:12]}")


def _is_human(record: dict[str, Any]) -> bool:
    """Tell whether no machine is named as the one who speaks in the person's place."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind in (None, "human")


def _texts(content: object) -> list[str]:
    texts = (block.get("text") for block in _blocks(content, "text"))
    return [text for text in texts if isinstance(text, str)]


def _blocks(content: object, kind: str) -> Iterator[dict[str, Any]]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def _capped(text: str) -> str:
    left_out = len(text) - MAX_CHARS
    if left_out <= 0:
        return text
    return f"{beginning(text, MAX_CHARS)} […{left_out:,} characters left out]"
