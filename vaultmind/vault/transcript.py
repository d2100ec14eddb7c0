"""The session file: front matter, then a callout per message (DESIGN.md, section 3).

Reading is lenient, since a person may edit the file in Obsidian: a message is its callout, a
lost block id, prose in between or CRLF line ends take nothing away.

A message's words nest whatever they hold, and come out the same. Each line is quoted. What could
open an Obsidian comment (`%%`) or steal a message's block id (`^m3` at the end of a line) gets one
backslash, which reading takes off again; control characters are shown, not kept.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from vaultmind.types import ROLES, Asked, How, Message, Role
from vaultmind.vault.oneline import one_line, safe, yaml_string
from vaultmind.vault.properties import front_matter

# --- words in a callout ---------------------------------------------------------------------

SPEAKER_SHOWN = 80
"""Characters of a speaker's name in a callout's title; the whole name is in its comment."""

_NOT_IN_TITLE = re.compile(r"[%\[\]<>#^|`]")
_COMMENT_MARK = re.compile(r"%(\\*)(?=%)")
_ESCAPED_MARK = re.compile(r"%\\(\\*)(?=%)")
_BLOCK_AT_END = re.compile(r"(?<![^ \t\n])(\\*)(?=\^m\d+[ \t]*$)", re.MULTILINE)
_ESCAPED_BLOCK = re.compile(r"(?<![^ \t\n])\\(\\*)(?=\^m\d+[ \t]*$)", re.MULTILINE)
ERASED_SOURCE = "(erased)"
"""Stands for the erased name of the conversation that a session was imported from."""
_ERASED, CALLED = "%%erased%%", "(called)"
"""Stand for the words of an erased message, and of a tool that was called with none."""
OWN_TOOL = "mcp__vaultmind"
"""How Claude Code's names of our tools begin. Their answers are in the vault already."""


def quote(text: str) -> list[str]:
    """Return the quoted lines of a message's words; none for an empty one."""
    if not text:
        return []
    text = safe(text)
    if "%" in text:
        text = _COMMENT_MARK.sub(r"%\1\\", text)
    if "^m" in text:
        text = _BLOCK_AT_END.sub(r"\1\\", text)
    return [f"> {line}" if line else ">" for line in text.split("\n")]


def unquote(lines: list[str]) -> str:
    """Return the words of quoted lines, their `> ` already taken off."""
    text = "\n".join(lines)
    if "^m" in text:
        text = _ESCAPED_BLOCK.sub(r"\1", text)
    return _ESCAPED_MARK.sub(r"%\1", text) if "%" in text else text


def erased_line(date: str) -> str:
    """Return the quoted line that stands for a message whose words were erased.

    No message can forge it: a comment's mark in what somebody says is escaped.
    """
    return f"> *Erased on {date}.* {_ERASED}"


def is_erased(lines: list[str]) -> bool:
    """Tell whether quoted lines, their `> ` taken off, are the mark of an erased message."""
    return len(lines) == 1 and lines[0].rstrip().endswith(_ERASED)


def shown_speaker(speaker: str) -> str:
    """Return a name as a title can show it: one line, no markup, nothing invisible."""
    return one_line(_NOT_IN_TITLE.sub("", safe(speaker)))[:SPEAKER_SHOWN].strip()


def comment(values: dict[str, Any]) -> str:
    """Return values as JSON in an Obsidian comment that no value can close."""
    raw = json.dumps(values, separators=(",", ":")).replace("%", "\\u0025")
    return f"%%{raw}%%"


# --- front matter -----------------------------------------------------------------------

BOM = "\ufeff"
EXTRACTION = "extraction"
"""What is pending where a session has ended and its facts were not taken from it yet."""

PIPE = "pipe:"
"""Begins the name of a conversation that no host names: it is that of a client's connection."""

_TEXTS = (
    *("id", "agent", "started", "ended", "summarised_in", "conversation", "device", "pending"),
    *("consolidated", "client", "project"),
)


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """The front matter of a session. Times are ISO 8601 with an offset."""

    id: str
    agent: str
    started: str = ""
    ended: str = ""
    state: Literal["open", "ended"] = "open"
    segments: int = 1
    topics: tuple[str, ...] = ()
    summarised_in: str = ""
    source: str = ""
    """The session's name in the file it was imported from; empty for one of our own."""
    conversation: str = ""
    """The host's own name of the talk, e.g. `claude-code:<uuid>`, or that of the client's pipe,
    `pipe:<name>`; empty where it has none."""
    device: str = ""
    """The device that made the file, and alone consolidates it by itself."""
    pending: str = ""
    """`extraction`: it has ended, and what it leaves in memory is still to be taken from it."""
    consolidated: str = ""
    """When that was done; empty before."""
    client: str = ""
    """What the client calls itself with which it was held, e.g. `claude-code`; empty if unknown."""
    project: str = ""
    """The name of the folder that it was held in; empty where nobody said."""
    title: str = ""
    """What it was about, in a few words: its first alias, as Obsidian shows it."""


def is_hosts(conversation: str) -> bool:
    """Tell whether a host names a conversation: then it tells when that ends, and gives ids."""
    return bool(conversation) and not conversation.startswith(PIPE)


def runs(meta: SessionMeta) -> bool:
    """Tell whether it is a session of our own that has not ended.

    One that does not say which it is, and whose, may be of any conversation: nothing is added.
    """
    named = bool(meta.id and meta.agent)
    return named and meta.state == "open" and not meta.ended and not meta.source


def render_header(meta: SessionMeta, newline: str = "\n") -> str:
    """Return the front matter of a session and the blank line after it."""
    names = ("conversation", "client", "project", "source", "device")
    extra = {name: getattr(meta, name) for name in names}
    rows = {
        **{name: getattr(meta, name) for name in ("id", "agent", "started", "ended", "state")},
        "segments": meta.segments,
        "topics": f"[{', '.join(map(yaml_string, meta.topics))}]",
        "summarised_in": yaml_string(meta.summarised_in) if meta.summarised_in else "",
        **{name: yaml_string(value) for name, value in extra.items() if value},
    }
    lines = (f"{name}: {value}".rstrip() for name, value in rows.items())
    return newline.join(["---", *lines, "---", "", ""])


def parse_meta(text: str) -> SessionMeta:
    """Return a session file's front matter alone; never raises."""
    return read_meta(text)[1]


def read_meta(text: str) -> tuple[int, SessionMeta, str]:
    """Return where the body starts, the front matter as far as it can be read, and its fault."""
    skipped = len(BOM) if text.startswith(BOM) else 0
    found = front_matter(text[skipped:])
    if found is None:
        return skipped, SessionMeta("", ""), "line 1: no front matter"
    return skipped + found.body_start, _meta(found.properties), found.fault


def _meta(values: dict[str, object]) -> SessionMeta:
    def text(value: object) -> str:
        return str(value).strip() if isinstance(value, (str, int, float)) else ""

    topics, aliases, source = (values.get(name) for name in ("topics", "aliases", "source"))
    segments = text(values.get("segments"))
    return SessionMeta(
        **{name: text(values.get(name)) for name in _TEXTS},
        state="ended" if values.get("state") == "ended" else "open",
        segments=int(segments) if segments.isdecimal() else 1,
        topics=tuple(map(str, topics)) if isinstance(topics, list) else (),
        source=source if isinstance(source, str) else text(source),
        title=str(aliases[0]) if isinstance(aliases, list) and aliases else text(aliases),
    )


# --- messages ---------------------------------------------------------------------------

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
    r"^> ?\[!(?:user|assistant|tool|system)\](?![^%\n]*%%\{.*\"asked\":).*%%\{.*\}%%",
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


def parse_session(text: str, before: Transcript | None = None, begin: int = 0) -> Transcript:
    """Return a session file's front matter and messages; never raises.

    Offsets are into `text` as given, with its own line ends. What stands `before` an offset between
    two messages, from which reading begins, was read before.
    """
    body, meta, broken = read_meta(text)
    known = before or Transcript(meta, (), (broken,) if broken else ())
    faults, segment = list(known.faults), known.segment
    messages, topics, blocks = list(known.messages), list(known.topics), set[str]()
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
