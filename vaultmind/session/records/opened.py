"""An open session as far as it is known, and how messages are added to one that is torn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from vaultmind.errors import NotFound
from vaultmind.session.records.store import iso, parse_time, time_or_none
from vaultmind.types import Message
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.nesting import quote
from vaultmind.vault.session_meta import is_hosts, runs
from vaultmind.vault.transcript import (
    PlacedMessage,
    Transcript,
    completion,
    next_block,
    parse_session,
    render_message,
    render_segment,
)

LOOKED_AT = 50
"""The newest messages among which the last time is looked for: some are told late."""
CLOCKS_DIFFER = timedelta(minutes=1)

_TORN_LINE = re.compile(
    r"^(?:## Segment \d+ %%\{(?:(?!\}%%)[^\n])*"
    r"|> \[!(?:\w*|(?:user|assistant|tool|system)\]"
    r"(?:[^\n]*%%\{(?:(?!\}%%)[^\n])*|(?: [\d:]{0,8}(?: (?:·[^\n%]*)?)?%{0,2})?)))\Z",
    re.MULTILINE,
)
"""The beginning of a line of ours at the end of a file: its comment was never closed, or begun."""


@dataclass(frozen=True, slots=True)
class Known:
    """Where a message stands, and its words where only they tell whether another is the same."""

    block: str
    text: str = ""

    def is_of(self, message: Message) -> bool:
        """Tell whether a message of the same id is the one that stands here."""
        return not self.text or self.text.split() == message.text.split()


def known_by(message: Message, conversation: str) -> Known:
    """Return how a message that stands in a session is known again.

    A host's ids are its own; where an agent gives them, the next message may have the same.
    """
    by_id = message.erased or (is_hosts(conversation) and not message.asked)
    return Known(message.block, "" if by_id else message.text)


@dataclass(slots=True)
class Opened:
    """An open session, as far as it was read; valid while the file's stamp is `stat`."""

    id: str
    path: str
    conversation: str
    known: dict[str, Known]
    """Its messages by their ids."""
    next: int
    """Number of the next block id."""
    segment: int
    fresh: bool
    """Whether nothing was said in the segment yet."""
    last: datetime
    stat: FileStat | None
    newline: str
    whole: bool
    """Whether the file ends as we end it, so that appending is enough."""


def opened(session: str, file: FileText, transcript: Transcript, now: datetime) -> Opened:
    """Return what is to be known of a session that is read."""
    messages = transcript.messages
    whole = not completion(file.text, transcript, file.newline)
    sure = messages if whole else messages[:-1]
    return Opened(
        id=session,
        path=file.path,
        conversation=transcript.meta.conversation,
        known={
            m.message.id: known_by(m.message, transcript.meta.conversation)
            for m in sure
            if m.message.id
        },
        next=int(next_block(messages)[1:]),
        segment=transcript.segment,
        fresh=not messages or messages[-1].segment != transcript.segment,
        last=last_time(transcript, now),
        stat=file.stat,
        newline=file.newline,
        whole=whole,
    )


def last_time(transcript: Transcript, now: datetime) -> datetime:
    """Return when something was said last: the latest of the newest messages' times.

    Times after `now`, from a clock that was wrong, count only where there are no others. For
    times that a person made unreadable the session counts as over.
    """
    texts = [placed.message.time for placed in transcript.messages[-LOOKED_AT:]]
    times = [time for text in texts or [transcript.meta.started] if (time := time_or_none(text))]
    past = [time for time in times if time <= now + CLOCKS_DIFFER]
    return max(past or times[-1:], default=parse_time("1970-01-02T00:00:00+00:00"))


def is_open(transcript: Transcript) -> bool:
    """Tell whether a session of our own has not ended."""
    return runs(transcript.meta)


class Mending:
    """Adds messages to a session whose end a crash tore or a person left otherwise.

    A message that is there only in part is completed, one that is there whole is left.
    """

    def __init__(self, messages: Sequence[Message], begins: datetime | None) -> None:
        """`begins`: the time of a segment that begins before the messages."""
        self._messages = messages
        self._begins = begins
        self.blocks: list[str] = []
        """The messages' block ids."""
        self.new = 0
        self.segment = 1
        """The segment that the file has come to."""

    def change(self, file: FileText | None) -> str | None:
        """Return the file's text, its last callout completed, with the messages."""
        if file is None:
            raise NotFound("The open session was deleted a moment ago.", hint="Log it again.")
        text = _TORN_LINE.sub("", file.text)
        before = parse_session(text)
        torn = self._torn(text, before)
        head = text[: torn.start] if torn else text + completion(text, before, file.newline)
        transcript = parse_session(head)
        added: list[str] = []
        self.blocks, self.new = [], 0
        known = {placed.message.id: placed.message.block for placed in transcript.messages}
        self.segment = transcript.segment
        last = transcript.messages[-1].segment if transcript.messages else self.segment + 1
        repeated = any(message.id in known for message in self._messages if message.id)
        if self._begins and last == self.segment and not repeated:
            self.segment += 1
            added.append(render_segment(self.segment, iso(self._begins), file.newline))
        free = int(next_block(transcript.messages)[1:])
        for message in self._messages:
            block = known.get(message.id, "") if message.id else ""
            if not block:
                block = f"m{free + self.new}"
                self.new += 1
                added.append(render_message(replace(message, block=block), file.newline))
            self.blocks.append(block)
        return head + "".join(added)

    def _torn(self, text: str, transcript: Transcript) -> PlacedMessage | None:
        """Return the last message where it is only the beginning of one that is logged now."""
        last = transcript.messages[-1] if transcript.messages else None
        if last is None or last.message.block or not last.message.id:
            return None
        there = text[last.text_start : last.text_end].replace("\r\n", "\n")
        whole = next((m.text for m in self._messages if m.id == last.message.id), "")
        quoted = "\n".join(quote(whole))
        return last if quoted != there and quoted.startswith(there) else None
