"""The session file: front matter, then a callout per message (DESIGN.md, section 3).

Reading is lenient, since a person may edit the file in Obsidian: a message is its callout, a
lost block id, prose in between or CRLF line ends take nothing away.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
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

__all__ = ["PlacedMessage", "SessionMeta", "Transcript", "count_messages",
           "next_block", "parse_meta", "parse_session", "render_header", "render_message",
           "render_segment"]  # fmt: skip

_HOWS: tuple[str, ...] = get_args(How)
_ASKED: tuple[str, ...] = get_args(Asked)[1:]

_MARK = re.compile(
    r"(?m)^(?:(?P<level>#{1,6}) (?P<words>[^\r\n]*)"
    r"| {0,3}> ?(?:\[!(?P<role>[\w-]+)\][+-]?)?(?P<title>[^\r\n]*)"
    r"(?P<said>(?:\r?\n {0,3}>(?! ?\[!\w+\][^\n]*%%\{)[^\r\n]*)*))"
)
"""A heading, or a quotation: one with a role is a message. Where the next line begins a message,
which its comment tells, the quotation ends."""
_SAID = re.compile(r"\n {0,3}> ?([^\r\n]*)")
_BLOCK = re.compile(r"(?m)^\^([A-Za-z0-9-]+)[ \t]*(?=\r?$)")
_SEGMENT = re.compile(r"Segment +(\d+)")
_TITLE = re.compile(r"(?:(\d{1,2}:\d{2}(?::\d{2})?)(?: · |$))?(.*)")
"""A message's clock and who speaks."""
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
    extra |= {"asked": message.asked} if message.asked else {}
    extra |= {"speaker": safe(message.speaker)} if shown != message.speaker else {}
    clock = _TITLE.fullmatch(message.time[11:19])
    title = " · ".join(filter(None, (clock[1] if clock else "", shown)))
    head = " ".join(filter(None, (f"> [!{message.role}]", title, comment(extra))))
    said = [erased_line(message.time[:10])] if message.erased else quote(message.text)
    block = ["", f"^{message.block}"] if message.block else []
    return newline.join([head, *said, *block, "", ""])


def render_segment(number: int, time: str, newline: str = "\n") -> str:
    """Return the heading that starts a segment, and a blank line."""
    return f"## Segment {number} {comment({'segment': number, 'time': time})}{newline}{newline}"


def next_block(messages: Sequence[PlacedMessage]) -> str:
    """Return the block id of the next message; a number is never used again."""
    ours = (_OUR_BLOCK.fullmatch(placed.message.block) for placed in messages)
    return f"m{max([len(messages), *(int(match[1]) for match in ours if match)]) + 1}"


# --- reading ------------------------------------------------------------------------------


def parse_session(text: str, *, begin: int = 0, segment: int = 1) -> Transcript:
    """Return a session file's front matter and messages; never raises.

    Offsets are into `text` as given, with its own line ends. With `begin`, an offset between two
    messages in that segment, only what follows it is read.
    """
    faults: list[str] = []
    body, meta = read_meta(text, faults)
    messages: list[PlacedMessage] = []
    topics, blocks = [], set[str]()
    marks = [*_MARK.finditer(text, max(body, begin))]
    ends = [one.start() for one in marks if one["role"] or "egment" in (one["words"] or "")]
    for mark in marks:
        if mark["level"]:
            shown, extra, _ = _divided(mark["words"])
            number = _segment_of(shown, extra, segment)
            segment = number or segment
            topic = shown.partition("%%")[0].strip()
            topics += [topic] if mark["level"] == "##" and topic and not number else []
            continue
        at = bisect_right(ends, mark.start())
        ids = [*_BLOCK.finditer(text, mark.end(), ends[at] if at < len(ends) else len(text))]
        block = next((one for one in ids if one[1] not in blocks), None)
        twice = [f"the block id ^{one[1]} stands twice" for one in ids if one[1] in blocks]
        message, fault = _message(mark, block[1] if block else "", meta.started)
        if message:
            blocks.add(message.block)
            first = mark.end() - len(mark["said"].lstrip("\r\n"))
            end = block.end() if block else mark.end()
            messages.append(PlacedMessage(message, mark.start(), end, segment, first, mark.end()))
        for one in filter(None, (fault, *(twice if message else ()))):
            line = text.count("\n", 0, mark.start()) + 1  # dear: for faults alone
            faults.append(f"line {line}: {one}")
    return Transcript(meta, tuple(messages), tuple(faults), segment, tuple(topics))


def count_messages(text: str) -> int:
    """Return how many messages a session holds, without reading them: for counts of many.

    The words of requests are not counted: they are kept as evidence.
    """
    return len(_OUR_HEADER.findall(text))


def _message(mark: re.Match[str], block: str, started: str) -> tuple[Message | None, str]:
    """Return the message that a quotation holds, if it is one, and what is wrong with it."""
    title, extra, fault = _divided(mark["title"])
    role, said = (mark["role"] or "").lower(), _SAID.findall(mark["said"])
    if role not in ROLES:
        return None, f"a message of unknown kind {role!r}" if role and extra else ""
    if not extra and not "".join(said).strip():
        return None, fault or "a message that was cut off"
    parts = _TITLE.fullmatch(title)
    speaker, exact = parts[2].strip() if parts else title, str(extra.get("speaker", ""))
    erased, how, asked = is_erased(said), extra.get("how"), extra.get("asked")
    message = Message(
        role=cast("Role", role),
        text="" if erased else unquote(said),
        time=str(extra.get("time") or started),
        id=str(extra.get("id") or ""),
        speaker=exact if exact and shown_speaker(exact) == speaker else speaker,
        how=cast("How", how) if how in _HOWS else "captured",
        block=block,
        asked=cast("Asked", asked) if asked in _ASKED else "",
        erased=erased,
    )
    return message, fault


def _divided(rest: str) -> tuple[str, dict[str, Any], str]:
    """Return what a line shows, the JSON in the comment at its end, and what is wrong with it."""
    shown, opening, raw = rest.strip().partition("%%{")
    if not opening or not raw.endswith("}%%"):
        return rest.strip(), {}, ""
    try:
        extra = json.loads(f"{{{raw[:-2]}")
        return shown.strip(), extra, ""
    except (ValueError, RecursionError):
        return shown.strip(), {}, "the message's comment cannot be read"


def _segment_of(shown: str, extra: dict[str, Any], current: int) -> int:
    """Return the number of the segment that a heading begins; 0 for any other heading."""
    named = _SEGMENT.fullmatch(shown)
    number = str(extra.get("segment", named[1] if named else 0))
    return int(number) if number.isdecimal() else current + 1
