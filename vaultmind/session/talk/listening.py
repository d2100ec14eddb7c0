"""Which topics a conversation came to, and which of them have no heading in its file yet.

A heading that stands in the file is where a topic begins, whatever the words say: so a process
that starts anew writes none twice, nor one a few messages beside the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.session.summary import TopicMark
from vaultmind.session.talk.topics import Running, Step, heading, hear, mark_of, turn
from vaultmind.types import Message
from vaultmind.vault.files import FileText
from vaultmind.vault.transcript import parse_session

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

LOOKED_BACK = 1000
"""The last messages that are heard of a conversation that was not followed: those before tell
little of what it is about now, and its summary knows no older topics."""
NEW = 3
"""A conversation, or a topic in it, of fewer messages that say something has just begun."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A message to be heard, with its vector if it has one."""

    message: Message
    vector: Matrix | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Where hearing begins in a conversation that was not followed, by numbers of messages."""

    first: int = 0
    headed: int = -1
    """The message that the last topic heading of the file stands before; -1: none."""
    known: int = 0
    """So many first messages were heard by an earlier process, which wrote their headings."""


class Listening:
    """Where one conversation stands in its topics. The caller sees to it that one hears at once."""

    def __init__(self) -> None:
        self.segment = 0
        """Of the session, which is heard by itself; 0: none was heard yet."""
        self.heard = 0
        """Messages of the segment that were heard."""
        self.ended: list[TopicMark] = []
        """Topics that are over, oldest first, for the summary's history."""
        self.begun: list[TopicMark] = []
        """Topics that need a heading."""
        self._running = Running()
        self._start = Start()

    def start(self, segment: int, start: Start) -> None:
        """Begin with a segment."""
        self.segment, self.heard = segment, start.first
        self.ended, self.begun, self._start = [], [], start
        self._running = Running(messages=start.first)

    def hear(self, messages: Sequence[Heard], language: str) -> None:
        """Hear the messages that come next."""
        start = self._start
        for heard in messages:
            number = self.heard
            if number == start.headed:
                self._running = turn(self._running, heard.message.block)
            step = hear(self._running, heard.message, language, heard.vector)
            self._running = step.running
            self.heard = number + 1
            self._note(step, wants_heading=number >= start.known and number > start.headed)

    def is_new(self, segment: int) -> bool:
        """Tell whether the newest messages may be about something else than those before."""
        running = self._running
        if segment != self.segment or not running.heard:
            return False
        return running.topic.said < NEW or running.doubt is not None

    def _note(self, step: Step, *, wants_heading: bool) -> None:
        if step.ended is not None and step.ended.label:
            self.ended.append(step.ended)
        if step.began is not None and wants_heading and step.began.source:
            self.begun.append(mark_of(step.began, step.running.before))


def with_headings(file: FileText | None, marks: Sequence[TopicMark]) -> str | None:
    """Return a session's text with the heading of each topic before the message it began with.

    None where nothing is to be written: headings stand there, the messages are gone.
    """
    if file is None:
        return None
    starts = {one.message.block: one.start for one in parse_session(file.text).messages}
    there = {mark.source: mark for mark in reversed(marks) if mark.source in starts}
    text = file.text
    for mark in sorted(there.values(), key=lambda one: -starts[one.source]):
        text = _headed(text, starts[mark.source], heading(mark, file.newline), file.newline)
    return text if text != file.text else None


def _headed(text: str, start: int, title: str, newline: str) -> str:
    """Return a text with a heading at a place, unless one stands there."""
    before = text[:start]
    if not title or before.rstrip().rpartition("\n")[2].startswith("#"):
        return text
    gap = "" if before.endswith(newline * 2) else newline
    return f"{before}{gap}{title}{text[start:]}"
