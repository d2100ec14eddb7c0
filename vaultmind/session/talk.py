"""A conversation during one call of the log: its open session, and which messages are known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from vaultmind.types import Caller, Message, MessageRef
from vaultmind.vault.nesting import safe
from vaultmind.vault.session_meta import is_hosts


@dataclass(slots=True)
class OpenSession:
    """A session that can grow."""

    id: str
    path: str
    last: datetime
    size: int
    """Bytes of the file."""
    newline: str = "\n"
    next: int = 1
    """Number of the next block id."""
    segment: int = 1
    fresh: bool = False
    """Whether nothing was said in the segment yet."""
    whole: bool = True
    """Whether the file ends as we end it, so that appending is enough."""


@dataclass(slots=True)
class Talk:
    """An agent's conversation during one call: its open session, and where its messages stand.

    A host may hand over its transcript once more, from the start; its ids are its own and known
    whatever the words, and so are those of one import. Where a pipe names the conversation an id is
    only as good as its words: the next chat may count from 1 again.
    """

    agent: str
    name: str
    caller: Caller
    source: str = ""
    """What it is called in the file that it is imported from."""
    topic: str = ""
    session: OpenSession | None = None
    known: dict[str, tuple[MessageRef, str]] = field(default_factory=dict)
    """Where the message of an id stands, with its words where only they tell it from another."""

    def learn(self, session: str, message: Message) -> MessageRef:
        """Keep where a message stands."""
        ref = MessageRef(self.agent, session, message.block, message.id)
        if message.id:
            by_id = message.erased or ((is_hosts(self.name) or self.source) and not message.asked)
            known = self.known[message.id] = (ref, "" if by_id else message.text)
            given, _, number = message.id.rpartition(":")
            if known[1] and given and number.isdigit():  # it was given as that
                self.known.setdefault(given, known)
        return ref

    def place(self, message: Message) -> tuple[Message, bool]:
        """Return a message, and whether it is known; another of the same id gets its own: `1:2`."""
        number, given = 1, message.id
        while message.id:
            ref, words = self.known.get(message.id, (None, ""))
            if ref and message.asked and ref.session != (self.session and self.session.id):
                ref = None
            if ref is None:
                return message, False
            if not words or words.split() == safe(message.text).split():
                return message, True
            number += 1
            message = replace(message, id=f"{given}:{number}")
        return message, False
