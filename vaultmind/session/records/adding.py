"""Adding messages to a session's file: a new one, at its end, or to one that is torn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vaultmind.errors import BadArgument, UnreadableNote, WriteConflict
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.records.keepable import keepable_id
from vaultmind.session.records.numbers import numbers_used
from vaultmind.session.records.opened import Mending, Opened, known_by
from vaultmind.session.records.store import Creation, Records, iso, next_id, parse_time, session_ids
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.nesting import SPEAKER_SHOWN
from vaultmind.vault.transcript import SessionMeta, render_header, render_message, render_segment

NEW_SESSION_TRIES = 20
DEFAULT_SESSION_BYTES = 8_000_000
RESERVED_SHARE = 0.02
"""Share of a session's size that is kept free for what is added later: headings, its end."""
MARK = " …"
SPARE_BYTES = 2000
"""Kept free for front matter and titles where a message is cut to fit."""


@dataclass(frozen=True, slots=True)
class Talk:
    """Whose words are written down, which talk they are of, and who asked for it."""

    agent: str
    conversation: str
    """The host's own name of it; empty where it has none."""
    caller: Caller


@dataclass(frozen=True, slots=True)
class Said:
    """A message as it may be stored, and the moment by which its session is found."""

    message: Message
    moment: datetime


@dataclass(frozen=True, slots=True)
class Written:
    """Where messages were written, and how many of them were new."""

    refs: tuple[MessageRef, ...] = ()
    segment: int = 0
    new: int = 0

    def __add__(self, later: Written) -> Written:
        """Return both, in order."""
        return Written(self.refs + later.refs, later.segment, self.new + later.new)


@dataclass(frozen=True, slots=True)
class Logged:
    """Where messages were written down."""

    agent: str
    session: str
    """The session that the last of them stands in; empty where there is none."""
    segment: int = 1
    """The segment that the session has come to."""
    refs: tuple[MessageRef, ...] = ()
    """Where each message stands, new or known."""
    new: int = 0
    """How many were not there before."""


def prepared(message: Message, now: datetime | None, clock: Clock) -> Said:
    """Return a message without secrets, with an id and a time that a file can hold.

    Its moment is `now`, else its own time, else the clock's. Raises BadArgument for a time that
    is none.
    """
    try:
        moment = now or (parse_time(message.time) if message.time else clock())
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument("time", message.time, allowed) from error
    return Said(
        replace(
            message,
            text=mask(message.text).text,
            time=message.time or iso(moment),
            id=keepable_id(message.id),
            speaker=mask(message.speaker).text,
        ),
        moment,
    )


class Adding:
    """Writes messages into sessions' files. Used under an agent's lock."""

    def __init__(self, gate: Records, reader: VaultReader, device: str = "") -> None:
        """Files that are made say which `device` made them."""
        self._device = device
        self._gate = gate
        self._reader = reader
        self._paths = reader.paths
        limit = reader.max_bytes or DEFAULT_SESSION_BYTES
        self._limit = int(limit * (1 - RESERVED_SHARE))

    def add(
        self, talk: Talk, current: Opened | None, said: Sequence[Said], *, begins: bool
    ) -> Written:
        """Write as many of the messages, from the first, as their session has room for.

        With `begins` a segment begins before them. None is written where there is no room.
        """
        if current is None:
            return self._begin(talk, said)
        if not current.whole:
            return self._mend(talk, current, said, said[0].moment if begins else None)
        return self._append(talk, current, said, begins=begins)

    def segment(self, talk: Talk, current: Opened, moment: datetime) -> int:
        """Begin a segment in an open session; return its number."""
        if not current.whole:
            return self._mend(talk, current, (), moment).segment
        heading = render_segment(current.segment + 1, iso(moment), current.newline)
        self._gate.append(current.path, heading)
        current.segment, current.fresh = current.segment + 1, True
        self._follow(current, heading)
        return current.segment

    def _begin(self, talk: Talk, said: Sequence[Said]) -> Written:
        """Write a new session with the messages; the first is cut where it alone is too large."""
        room = self._limit - SPARE_BYTES
        first = cut(said[0].message, room)
        messages = [first, *(one.message for one in said[1:])]
        rendered = [
            render_message(replace(message, block=f"m{number}"))
            for number, message in enumerate(messages, 1)
        ]
        taken = max(1, _fitting(rendered, room))
        started, day = iso(said[0].moment), said[0].moment.date()
        known = set(session_ids(self._paths, talk.agent))
        used = numbers_used(self._paths, talk.agent)[day.isoformat()]
        for _ in range(NEW_SESSION_TRIES):
            session = next_id(known, day, used)
            known.add(session)
            meta = SessionMeta(
                session,
                talk.agent,
                started,
                conversation=talk.conversation,
                device=self._device,
                client=mask(talk.caller.client).text if talk.caller.kind == "agent" else "",
                project=mask(talk.caller.project).text,
            )
            creation = Creation(render_header(meta) + "".join(rendered[:taken]))
            path = self._paths.session(talk.agent, session)
            self._gate.save(path, creation.change, talk.caller, "a session begins")
            if creation.done:
                ids = [message.id for message in messages[:taken]]
                refs = [
                    MessageRef(talk.agent, session, f"m{number}", own)
                    for number, own in enumerate(ids, 1)
                ]
                return Written(tuple(refs), 1, taken)
        raise WriteConflict(f"No free session id for {talk.agent!r} on {day}.")

    def _mend(
        self, talk: Talk, current: Opened, said: Sequence[Said], begins: datetime | None
    ) -> Written:
        """Add messages by compare-and-swap, since the file's end has to be mended."""
        messages = [one.message for one in said]
        if said and current.stat is not None:
            rendered = [render_message(message, current.newline) for message in messages]
            taken = _fitting(rendered, self._limit - current.stat.size)
            if not taken:
                return Written()
            messages = messages[:taken]
        mending = Mending(messages, begins)
        self._gate.save(current.path, mending.change, talk.caller, "a torn session is mended")
        current.stat = None
        refs = [
            MessageRef(talk.agent, current.id, block, message.id)
            for block, message in zip(mending.blocks, messages, strict=True)
        ]
        return Written(tuple(refs), mending.segment, mending.new)

    def _append(
        self, talk: Talk, current: Opened, said: Sequence[Said], *, begins: bool
    ) -> Written:
        messages = [
            replace(one.message, block=f"m{number}")
            for number, one in enumerate(said, current.next)
        ]
        rendered = [render_message(message, current.newline) for message in messages]
        size = current.stat.size if current.stat else 0
        taken = _fitting(rendered, self._limit - size)
        if not taken:
            return Written()
        segment = current.segment + begins
        text = "".join(rendered[:taken])
        if begins:
            text = render_segment(segment, iso(said[0].moment), current.newline) + text
        self._gate.append(current.path, text)
        for message in messages[:taken]:
            if message.id:
                current.known[message.id] = known_by(message, talk.conversation)
        current.next += taken
        current.segment, current.fresh = segment, False
        current.last = max(one.moment for one in said[:taken])
        self._follow(current, text)
        refs = [MessageRef(talk.agent, current.id, m.block, m.id) for m in messages[:taken]]
        return Written(tuple(refs), segment, taken)

    def _follow(self, current: Opened, text: str) -> None:
        """Trust what is known of a file only if it grew by just what was appended."""
        before = current.stat
        try:
            current.stat = self._reader.stat(current.path)
        except UnreadableNote:
            current.stat = None
        grown = len(text.encode())
        if not before or not current.stat or current.stat.size != before.size + grown:
            current.stat = None


def _fitting(rendered: Sequence[str], room: int) -> int:
    """Return how many of the texts, from the first, fit."""
    for number, text in enumerate(rendered):
        room -= len(text.encode("utf-8", "replace"))
        if room < 0:
            return number
    return len(rendered)


def cut(message: Message, room: int) -> Message:
    """Return a message that takes at most `room` bytes in a file, with a mark where it was cut."""
    text = message.text
    while (size := len(render_message(message).encode("utf-8", "replace"))) > room and text:
        text = text[: int(len(text) * room / size * 0.99)]
        message = replace(message, text=f"{text}{MARK}", speaker=message.speaker[:SPEAKER_SHOWN])
    return message


def fresh(said: Sequence[Said], refs: Sequence[MessageRef | None]) -> tuple[list[Said], list[int]]:
    """Return the messages that are new, each id once, and for every message its number there."""
    fresh: list[Said] = []
    numbers: list[int] = []
    first: dict[str, int] = {}
    for one, ref in zip(said, refs, strict=True):
        number = first.get(one.message.id, len(fresh)) if one.message.id else len(fresh)
        numbers.append(number)
        if ref is None and number == len(fresh):
            first[one.message.id] = number
            fresh.append(one)
    return fresh, numbers


def until_silence(said: Sequence[Said], idle: timedelta) -> int:
    """Return how many messages there are before the first silence."""
    for number in range(1, len(said)):
        if said[number].moment - said[number - 1].moment >= idle:
            return number
    return len(said)
