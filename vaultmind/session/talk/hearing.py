"""Hearing what a conversation is about, and giving each new topic its heading in the file."""

from __future__ import annotations

import logging
from functools import partial

from vaultmind.errors import VaultMindError
from vaultmind.session.talk.listening import LOOKED_BACK, Heard, Start, with_headings
from vaultmind.session.talk.talk import Talk
from vaultmind.types import Caller, Message

log = logging.getLogger(__name__)


def unheard(talk: Talk) -> tuple[Message, ...]:
    """Return the messages of a conversation's running segment that are still to be heard."""
    with talk.lock:
        if talk.view() is None:
            return ()
        at = talk.listening.heard if talk.listening.segment == talk.reading.segment else 0
        return tuple(talk.messages[max(at, len(talk.messages) - LOOKED_BACK) :])


def hear_to(talk: Talk, last: Message | None = None) -> None:
    """Hear what was not heard yet, up to a message or all of it."""
    with talk.work:
        with talk.lock:
            if talk.view() is None:
                return
            messages, listening = talk.messages, talk.listening
            if listening.segment != talk.reading.segment:
                listening.start(talk.reading.segment, _start(talk))
            listening.heard = min(listening.heard, len(messages))
            coming = _upto(messages[listening.heard :], last)
            heard = [Heard(one, talk.vector_of(one)) for one in coming]
            language = talk.language
        if heard:
            listening.hear(heard, language)
            talk.heard()


def write_headings(talk: Talk) -> None:
    """Give each topic that began a heading; in a running conversation of our own alone.

    One that could not be written waits for the next time.
    """
    meta, gate = talk.reading.meta, talk.means.gate
    is_ours = not meta.source and meta.state == "open" and gate.keeps_records(talk.agent)
    caller = Caller("agent", talk.agent)
    with talk.work:
        begun = talk.listening.begun
        if not is_ours:
            begun.clear()
        if not begun:
            return
        marks = tuple(begun)
        try:
            gate.save(talk.path, partial(with_headings, marks=marks), caller, "a topic begins")
        except VaultMindError as error:
            log.warning("topics of %s have no heading yet: %s", talk.path, error)
            return
        del begun[: len(marks)]


def _start(talk: Talk) -> Start:
    """Return where to begin with a segment that was not followed. Under the lock."""
    visible, headed = len(talk.messages), talk.reading.headed()
    if headed >= 0:
        first = talk.reading.first_of_segment()
        before = talk.reading.messages[first:headed]
        headed = sum(talk.recallable(one) for one in before)
    known = visible - len(talk.unfolded())
    return Start(max(0, visible - LOOKED_BACK), headed, known)


def _upto(messages: list[Message], last: Message | None) -> list[Message]:
    """Return messages up to a last one; none where it is not among them, all for None."""
    if last is None:
        return messages
    for number, message in enumerate(messages, 1):
        if (message.block, message.id) == (last.block, last.id):
            return messages[:number]
    return []
