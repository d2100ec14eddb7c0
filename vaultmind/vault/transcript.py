"""The session file: front matter, then a callout per message (DESIGN.md, section 3).

Reading is lenient, since a person may edit the file in Obsidian: a message is its callout, a
lost block id, prose in between or CRLF line ends take nothing away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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

_MARK = re.compile(
    r"(?m)^(?: {0,3}> ?\[!(?P<role>[\w-]+)\][+-]?|(?P<level>#{1,6}) )(?P<rest>[^\r\n]*)"
)
"""What begins a callout, or a heading."""
_QUOTE = re.compile(r" {0,3}> ?")
_QUOTED = re.compile(r"(?:\n {0,3}>[^\n]*)*")
_BLOCK = re.compile(r"(?m)^\^([A-Za-z0-9-]+)[ \t]*(?=\r?$)")
_SEGMENT = re.compile(r"Segment +(\d+)")
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
    reader = _Reader(text, meta, faults)
    begin, opened, topics = max(body, begin), None, []
    for mark in _MARK.finditer(text, begin):
        shown, raw = _divided(mark["rest"])
        number = _segment_of(shown, raw, segment) if mark["level"] else 0
        if number or (mark["role"] and (raw or not _is_quoted(text, begin, mark.start()))):
            reader.take(opened, mark.start(), segment)
            opened = mark if mark["role"] else None
            segment = number or segment
        elif mark["level"] == "##" and shown:
            topics.append(shown.partition("%%")[0].strip())
    reader.take(opened, len(text), segment)
    return Transcript(meta, tuple(reader.messages), tuple(faults), segment, tuple(topics))


def count_messages(text: str) -> int:
    """Return how many messages a session holds, without reading them: for counts of many.

    The words of requests are not counted: they are kept as evidence.
    """
    return len(_OUR_HEADER.findall(text))


class _Reader:
    """Reads one callout after the other and notes what is wrong with them."""

    def __init__(self, text: str, meta: SessionMeta, faults: list[str]) -> None:
        self._text = text
        self._meta = meta
        self._faults = faults
        self._blocks: set[str] = set()
        self.messages: list[PlacedMessage] = []

    def take(self, mark: re.Match[str] | None, stop: int, segment: int) -> None:
        """Take the message that a callout's first line begins and that ends before `stop`."""
        if mark is None:
            return
        role, (title, raw) = mark["role"].lower(), _divided(mark["rest"])
        if role not in ROLES:
            if raw:
                self._fault(mark, f"a message of unknown kind {role!r}")
            return
        extra = self._extra(mark, raw)
        first = mark.end() + self._text.startswith("\r", mark.end())
        quoted = _QUOTED.match(self._text, first, stop)
        last = quoted.end() if quoted else first
        end = last - self._text.endswith("\r", mark.end(), last)
        quoted_lines = self._text[first:end].split("\n")[1:]
        lines = [_QUOTE.sub("", line.rstrip("\r"), count=1) for line in quoted_lines]
        if not extra and not "".join(lines).strip():
            self._fault(mark, "a message that was cut off")
            return
        block, block_end = self._block(last, stop)
        self.messages.append(
            PlacedMessage(
                self._message(cast("Role", role), title, lines, extra, block),
                mark.start(),
                max(end, block_end),
                segment,
                min(first + 1, end),
                end,
            )
        )

    def _message(
        self, role: Role, title: str, lines: list[str], extra: dict[str, Any], block: str
    ) -> Message:
        clock, speaker = _title_parts(title)
        erased = is_erased(lines)
        exact = str(extra.get("speaker", ""))
        how, asked = extra.get("how"), extra.get("asked")
        return Message(
            role=role,
            text="" if erased else unquote(lines),
            time=str(extra.get("time") or _time_of(self._meta.started, clock)),
            id=str(extra.get("id") or ""),
            speaker=exact if exact and shown_speaker(exact) == speaker else speaker,
            how=cast("How", how) if how in _HOWS else "captured",
            block=block,
            asked=cast("Asked", asked) if asked in _ASKED else "",
            erased=erased,
        )

    def _extra(self, mark: re.Match[str], raw: str) -> dict[str, Any]:
        try:
            extra = json.loads(raw or "{}")
        except (ValueError, RecursionError):
            self._fault(mark, "the message's comment cannot be read")
            return {}
        return extra if isinstance(extra, dict) else {}

    def _block(self, start: int, stop: int) -> tuple[str, int]:
        """Return the block id that follows a message, the first that no other has, and its end."""
        for found in _BLOCK.finditer(self._text, start, stop):
            if found[1] not in self._blocks:
                self._blocks.add(found[1])
                return found[1], found.end()
            self._fault(found, f"the block id ^{found[1]} stands twice")
        return "", 0

    def _fault(self, where: re.Match[str], what: str) -> None:
        line = self._text.count("\n", 0, where.start()) + 1
        self._faults.append(f"line {line}: {what}")


def _divided(rest: str) -> tuple[str, str]:
    """Return what a line shows, and the JSON in the comment at its end."""
    shown, opening, raw = rest.strip().partition("%%{")
    is_comment = opening and raw.endswith("}%%")
    return (shown.strip(), f"{{{raw[:-2]}") if is_comment else (rest.strip(), "")


def _segment_of(shown: str, raw: str, current: int) -> int:
    """Return the number of the segment that a heading begins; 0 for any other heading."""
    named = _SEGMENT.fullmatch(shown)
    number = int(named[1]) if named else 0
    if raw:
        try:
            return int(json.loads(raw)["segment"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return number or current + 1
    return number


def _is_quoted(text: str, begin: int, start: int) -> bool:
    """Tell whether the line above one is quoted."""
    above = text.rfind("\n", begin, max(start - 1, begin)) + 1
    return start > begin and _QUOTE.match(text, above or begin) is not None


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
