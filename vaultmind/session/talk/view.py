"""A conversation as it stands at one moment: what may be recalled of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.session.summary.rolling import Rolling
from vaultmind.types import Message

if TYPE_CHECKING:
    from vaultmind.session.recall.segment import SegmentIndex


@dataclass(frozen=True, slots=True)
class View:
    """One conversation at one moment. Forgotten, erased and asked messages are not in it."""

    agent: str
    session: str
    segment: int
    """The number of the running segment, which the next message will be of."""
    path: str
    """The session's file, vault-relative."""
    started: str
    """ISO time of its beginning."""
    messages: tuple[Message, ...]
    """Of the running segment, oldest first, all roles."""
    rolling: Rolling
    """The summary of the running segment, as it may be shown: each segment has its own."""
    index: SegmentIndex
    """The whole session, all segments. It grows with the conversation."""
    language: str
    """Of the conversation: `en` where it cannot be told."""
    topic_is_new: bool
    """Whether the conversation has just begun or turned to something else."""
    refused: str = ""
    """Why the summary's file cannot be read; empty where it can, or there is none."""
    ended: bool = False
    """Whether it is one of our own that is over. An imported one was never other, and is not."""
    imported: bool = False
    """Whether it took place elsewhere: an agent may go on with it, a person is told that it is
    over."""
    behind: int = 0
    """Messages that are still being folded into the summary."""


def key_of(message: Message) -> str:
    """Return what names a message in a context: its own id, else its block id."""
    return message.id or message.block
