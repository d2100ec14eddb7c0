"""A running conversation: its open session, and the messages that stand in all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from vaultmind.errors import NotFound
from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.files import Change, FileStat, FileText
from vaultmind.vault.nesting import SPEAKER_SHOWN, quote
from vaultmind.vault.session_meta import is_hosts
from vaultmind.vault.transcript import completion, parse_session, render_message

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

    ref: MessageRef
    text: str = ""


@dataclass(slots=True)
class OpenSession:
    """An open session as far as it was read; valid while the file's stamp is `stat`."""

    id: str
    path: str
    next: int
    """Number of the next block id."""
    segment: int
    fresh: bool
    """Whether nothing was said in the segment yet."""
    last: datetime
    stat: FileStat | None
    newline: Literal["\n", "\r\n"]
    whole: bool
    """Whether the file ends as we end it, so that appending is enough."""


@dataclass(slots=True)
class RunningConversation:
    """An agent's conversation: its open session, and the messages that stand in all of them.

    A host may hand over its transcript once more, from the start; its ids are its own and known
    whatever the words. Where a pipe names the conversation an id is only as good as its words: the
    next chat may count from 1 again.
    """

    agent: str
    name: str
    caller: Caller
    session: OpenSession | None = None
    known: dict[str, Known] = field(default_factory=dict)

    def learn(self, session: str, message: Message) -> MessageRef:
        """Keep where a message stands."""
        ref = MessageRef(self.agent, session, message.block, message.id)
        if message.id:
            by_id = message.erased or (is_hosts(self.name) and not message.asked)
            known = self.known[message.id] = Known(ref, "" if by_id else message.text)
            given, _, number = message.id.rpartition(":")
            if known.text and given and number.isdigit():  # it was given as that
                self.known.setdefault(given, known)
        return ref

    def place(self, message: Message, others: dict[str, Message]) -> Message | MessageRef:
        """Return where a message stands already, else the message to write.

        One that has the id of another is given one of its own: `1:2`. `others` are written with
        it.
        """
        number, given = 1, message.id
        while message.id:
            there = self.known.get(message.id)
            if there and message.asked and there.ref.session != (self.session and self.session.id):
                there = None
            beside = others.get(message.id)
            if there is None and beside is None:
                return message
            words = there.text if there else beside.text if beside else ""
            if not words or words.split() == message.text.split():
                return there.ref if there else message
            number += 1
            message = replace(message, id=f"{given}:{number}")
        return message


def mending(messages: Sequence[Message]) -> Change:
    """Return the change that completes the end of a session's file.

    A crash tore it, or a person left it otherwise. A message that is there only in part, and is
    logged now, goes.
    """
    whole = {message.id: message.text for message in messages if message.id}

    def change(file: FileText | None) -> str:
        if file is None:
            raise NotFound("The open session was deleted a moment ago.", hint="Log it again.")
        text = _TORN_LINE.sub("", file.text)
        transcript = parse_session(text)
        last = transcript.messages[-1] if transcript.messages else None
        if last and not last.message.block and last.message.id in whole:
            there = text[last.text_start : last.text_end].replace("\r\n", "\n")
            quoted = "\n".join(quote(whole[last.message.id]))
            if quoted != there and quoted.startswith(there):
                return text[: last.start]
        return text + completion(text, transcript, file.newline)

    return change


def cut(message: Message, room: int) -> Message:
    """Return a message that takes at most `room` bytes in a file, with a mark where it was cut."""
    text = message.text
    while (size := len(render_message(message).encode("utf-8", "replace"))) > room and text:
        text = text[: int(len(text) * room / size * 0.99)]
        message = replace(message, text=f"{text} …", speaker=message.speaker[:SPEAKER_SHOWN])
    return message
