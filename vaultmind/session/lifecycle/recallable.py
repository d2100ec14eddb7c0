"""What of a session may be recalled: all that reads one to keep something of it reads this."""

from __future__ import annotations

from dataclasses import replace

from vaultmind.ports import Embedder
from vaultmind.redact import blank_private, mask
from vaultmind.session.records.reading import Hides
from vaultmind.session.summary.unkept import unkept
from vaultmind.types import Message
from vaultmind.vault.transcript import PlacedMessage, Transcript, parse_session


def recallable(
    agent: str, path: str, text: str, hides: Hides, embedder: Embedder | None = None
) -> list[tuple[Message, int]]:
    """Return the messages of a session's file that may be recalled, each with its segment.

    Left out are requests to the memory, what was erased and what was forgotten. Of a message
    that stands in a private passage only what is outside it is left, maybe nothing. What was
    asked not to be kept is among them as long as the one that asks is: it says so itself; with an
    embedder more ways to ask are heard.
    """
    return of_transcript(agent, path, text, parse_session(text), hides, embedder)


def of_transcript(
    agent: str,
    path: str,
    text: str,
    transcript: Transcript,
    hides: Hides,
    embedder: Embedder | None = None,
) -> list[tuple[Message, int]]:
    """Return what `recallable` does of a session that is parsed already."""
    session, blanked = session_of(path), blank_private(text)
    hidden = [_is_hidden(one, agent, session, hides) for one in transcript.messages]
    gone = unkept([one.message for one in transcript.messages])
    return [
        (_outside(one, text, blanked), one.segment)
        for at, one in enumerate(transcript.messages)
        if not hidden[at] and not hidden[gone.get(at, at)]
    ]


def session_of(path: str) -> str:
    """Return the id of the session that a path is the file of."""
    return path.rpartition("/")[2].removesuffix(".md")


def _is_hidden(placed: PlacedMessage, agent: str, session: str, hides: Hides) -> bool:
    message = placed.message
    if message.asked or message.erased:
        return True
    return any(hides(agent, session, name) for name in (message.id, message.block) if name)


def _outside(placed: PlacedMessage, text: str, blanked: str) -> Message:
    """Return a message without what stands in a private passage, one over several messages too."""
    message, there = placed.message, slice(placed.text_start, placed.text_end)
    if blanked[there] == text[there]:
        return message
    kept = mask(message.text).text
    return replace(message, text=kept if kept != message.text else "")
