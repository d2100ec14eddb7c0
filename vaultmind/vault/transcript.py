"""The session file: front matter, then a callout per message (DESIGN.md, section 3).

Reading is lenient, since a person may edit the file in Obsidian: a message is its callout, a
lost block id, prose in between or CRLF line ends take nothing away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from vaultmind.types import ROLES, Asked, How, Message, Role
from vaultmind.vault.nesting import (
    comment,
    erased_line,
    is_erased,
    quote,
    safe,
    shown_speaker,
    unquote,
)
from vaultmind.vault.session_meta import SessionMeta, parse_meta, read_meta, render_header

__all__ = [
    "PlacedMessage",
    "SessionMeta",
    "Transcript",
    "completion",
    "count_messages",
    "next_block",
    "parse_meta",
    "parse_session",
    "render_header",
    "render_message",
    "render_segment",
]

_HOWS: tuple[str, ...] = get_args(How)
_ASKED: tuple[str, ...] = get_args(Asked)[1:]

_HEADER = re.compile(
    r" {0,3}> ?\[!(?P<role>[\w-]+)\][+-]?[ \t]*(?P<title>.*?)[ \t]*(?:%%(?P<meta>\{.*\})%%[ \t]*)?"
)
_QUOTE = re.compile(r" {0,3}> ?")
_BLOCK = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*")
_SEGMENT = re.compile(r"#{1,6} +(?:Segment +(?P<n>\d+)|.*?)[ \t]*(?:%%(?P<meta>\{.*\})%%[ \t]*)?")
_TOPIC = re.compile(r"## +(?P<title>.*?)[ \t]*(?:%%.*)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")
_OUR_HEADER = re.compile(
    r"^> ?\[!(?:user|assistant|tool|system)\]"
    rf"(?![^%\n]*%%\{{.*\"asked\":\"(?:{'|'.join(_ASKED)})\").*%%\{{.*\}}%%",
    re.MULTILINE,
)
_OUR_BLOCK = re.compile(r"m(\d+)")


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    """A message and where it stands in the file's text.

    `start` to `end` is the callout with its block id, `text_start` to `text_end` the quoted
    lines of its content (with their `> `).
    """

    message: Message
    start: int
    end: int
    segment: int
    text_start: int
    text_end: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session file as read."""

    meta: SessionMeta
    messages: tuple[PlacedMessage, ...]
    faults: tuple[str, ...] = ()
    """What could not be taken, with line numbers, in words."""
    segment: int = 1
    """The segment that the end of the file is in: the next message's."""
    topics: tuple[str, ...] = ()
    """The headings between the messages that begin no segment, in order."""


# --- writing ------------------------------------------------------------------------------


def render_message(message: Message, newline: str = "\n") -> str:
    """Return the callout of a message, its block id on a line of its own, and a blank line."""
    shown = shown_speaker(message.speaker)
    extra = {"id": safe(message.id), "time": message.time, "how": message.how}
    if message.asked:
        extra["asked"] = message.asked
    if shown != message.speaker:
        extra["speaker"] = safe(message.speaker)
    clock = message.time[11:19]
    title = " · ".join(part for part in (clock if _CLOCK.fullmatch(clock) else "", shown) if part)
    head = " ".join(part for part in (f"> [!{message.role}]", title, comment(extra)) if part)
    said = [erased_line(message.time[:10])] if message.erased else quote(message.text)
    lines = [head, *said]
    if message.block:
        lines += ["", f"^{message.block}"]
    return newline.join([*lines, "", ""])


def render_segment(number: int, time: str, newline: str = "\n") -> str:
    """Return the heading that starts a segment, and a blank line."""
    return f"## Segment {number} {comment({'segment': number, 'time': time})}{newline}{newline}"


def next_block(messages: Sequence[PlacedMessage]) -> str:
    """Return the block id of the next message; a number is never used again."""
    highest = len(messages)
    for placed in messages:
        if match := _OUR_BLOCK.fullmatch(placed.message.block):
            highest = max(highest, int(match[1]))
    return f"m{highest + 1}"


def completion(text: str, transcript: Transcript, newline: str = "\n") -> str:
    """Return what to append before the next message, so that it stands on its own.

    After a crash the last callout may lack its block id, or a part of it; a person may have
    left no blank line. Empty for a file that ends as we end it.
    """
    messages = transcript.messages
    if messages:
        last = messages[-1]
        expected = f"{newline}{newline}^{next_block(messages[:-1])}{newline}{newline}"
        tail = text[last.text_end :]
        if tail != expected and expected.startswith(tail):
            return expected[len(tail) :]
    if not text or text.endswith(("\n\n", "\n\r\n")):
        return ""
    return newline if text.endswith("\n") else newline * 2


# --- reading ------------------------------------------------------------------------------


def parse_session(text: str, *, begin: int = 0, segment: int = 1) -> Transcript:
    """Return a session file's front matter and messages; never raises.

    Offsets are into `text` as given, with its own line ends. With `begin`, an offset between two
    messages in that segment, only what follows it is read.
    """
    faults: list[str] = []
    body, meta = read_meta(text, faults)
    reader = _Reader(text, meta, faults, segment)
    for number, start, line in _lines(text, max(body, begin)):
        reader.take(number, start, line)
    messages = tuple(reader.finish())
    return Transcript(meta, messages, tuple(faults), reader.segment, tuple(reader.topics))


def count_messages(text: str) -> int:
    """Return how many messages a session holds, without reading them: for counts of many.

    The words of requests are not counted: they are kept as evidence.
    """
    return len(_OUR_HEADER.findall(text))


@dataclass(slots=True)
class _Open:
    """A callout that is being read."""

    role: Role
    title: str
    extra: dict[str, Any]
    line: int
    start: int
    end: int
    text_start: int
    lines: list[str]
    segment: int
    block: str = ""
    quoting: bool = True
    block_end: int = 0


class _Reader:
    """Takes a file's lines one by one and gathers its messages."""

    def __init__(self, text: str, meta: SessionMeta, faults: list[str], segment: int) -> None:
        self._text = text
        self._meta = meta
        self._faults = faults
        self.segment = segment
        self.topics: list[str] = []
        self._open: _Open | None = None
        self._in_quote = False
        self._messages: list[PlacedMessage] = []
        self._blocks: set[str] = set()

    def take(self, number: int, start: int, line: str) -> None:
        """Read one line that starts at an offset."""
        quote = _QUOTE.match(line)
        if quote is None:
            self._in_quote = False
            if self._open is not None:
                self._open.quoting = False
            self._outside(number, start, line)
            return
        header = _HEADER.fullmatch(line)
        if header is not None and (header["meta"] or not self._in_quote):
            self._begin(number, start, line, header)
        elif self._open is not None and self._open.quoting:
            self._open.lines.append(line[quote.end() :])
            self._open.end = start + len(line)
        self._in_quote = True

    def finish(self) -> list[PlacedMessage]:
        """Close the last callout and return all messages."""
        self._close()
        return self._messages

    def _begin(self, number: int, start: int, line: str, header: re.Match[str]) -> None:
        self._close()
        role = header["role"].lower()
        if role not in ROLES:
            if header["meta"]:
                self._faults.append(f"line {number}: a message of unknown kind {role!r}")
            return
        after = min(start + len(line) + len(_newline_at(self._text, start)), len(self._text))
        self._open = _Open(
            role=cast("Role", role),
            title=header["title"],
            extra=self._extra(number, header["meta"]),
            line=number,
            start=start,
            end=start + len(line),
            text_start=after,
            lines=[],
            segment=self.segment,
        )

    def _extra(self, number: int, raw: str | None) -> dict[str, Any]:
        if not raw:
            return {}
        try:
            extra = json.loads(raw)
        except (ValueError, RecursionError):
            self._faults.append(f"line {number}: the message's comment cannot be read")
            return {}
        return extra if isinstance(extra, dict) else {}

    def _outside(self, number: int, start: int, line: str) -> None:
        """Take a line that is no part of a callout: a block id, a segment, or a person's."""
        opened = self._open
        if opened is not None and not opened.block and (match := _BLOCK.fullmatch(line)):
            if match[1] in self._blocks:
                self._faults.append(f"line {number}: the block id ^{match[1]} stands twice")
                return
            self._blocks.add(match[1])
            opened.block, opened.block_end = match[1], start + len(line)
        elif line.startswith("#") and (match := _SEGMENT.fullmatch(line)):
            self._heading(line, match)

    def _heading(self, line: str, match: re.Match[str]) -> None:
        number = int(match["n"]) if match["n"] else 0
        if match["meta"]:
            try:
                number = int(json.loads(match["meta"])["segment"])
            except (ValueError, TypeError, KeyError, RecursionError):
                number = number or self.segment + 1
        if number:
            self._close()
            self.segment = number
        elif (topic := _TOPIC.fullmatch(line)) and topic["title"]:
            self.topics.append(topic["title"])

    def _close(self) -> None:
        opened, self._open = self._open, None
        if opened is None:
            return
        if not opened.extra and not "".join(opened.lines).strip():
            self._faults.append(f"line {opened.line}: a message that was cut off")
            return
        self._messages.append(
            PlacedMessage(
                message=self._message(opened),
                start=opened.start,
                end=max(opened.end, opened.block_end),
                segment=opened.segment,
                text_start=min(opened.text_start, opened.end),
                text_end=opened.end,
            )
        )

    def _message(self, opened: _Open) -> Message:
        clock, speaker = _title_parts(opened.title)
        erased = is_erased(opened.lines)
        exact = str(opened.extra.get("speaker", ""))
        if exact and shown_speaker(exact) == speaker:
            speaker = exact
        how, asked = opened.extra.get("how"), opened.extra.get("asked")
        return Message(
            role=opened.role,
            text="" if erased else unquote(opened.lines),
            time=str(opened.extra.get("time") or _time_of(self._meta.started, clock)),
            id=str(opened.extra.get("id") or ""),
            speaker=speaker,
            how=cast("How", how) if how in _HOWS else "captured",
            block=opened.block,
            asked=cast("Asked", asked) if asked in _ASKED else "",
            erased=erased,
        )


def _lines(text: str, position: int) -> Iterator[tuple[int, int, str]]:
    """Yield (line number, offset, line without its end) from an offset on."""
    number = text.count("\n", 0, position) + 1
    while position < len(text):
        end = text.find("\n", position)
        stop = len(text) if end < 0 else end
        line = text[position:stop]
        yield number, position, line[:-1] if line.endswith("\r") else line
        position = stop + 1
        number += 1


def _newline_at(text: str, start: int) -> str:
    """Return the line end of the line that starts at an offset."""
    end = text.find("\n", start)
    if end < 0:
        return ""
    return "\r\n" if text[end - 1 : end] == "\r" else "\n"


def _title_parts(title: str) -> tuple[str, str]:
    """Return (clock, speaker) of a callout's title."""
    first, dot, rest = title.partition(" · ")
    if dot and _CLOCK.fullmatch(first.strip()):
        return first.strip(), rest.strip()
    whole = title.strip()
    return (whole, "") if _CLOCK.fullmatch(whole) else ("", whole)


def _time_of(started: str, clock: str) -> str:
    """Return a time for a message that lost its own: the session's day, the title's clock."""
    if not clock or len(started) < len("2026-02-20T10:00:00"):
        return started
    hours, _, rest = clock.partition(":")
    return f"{started[:11]}{hours:0>2}:{rest if ':' in rest else rest + ':00'}{started[19:]}"
