"""A message that was told to us twice: by a transcript and by an agent's call, or by two calls.

What was acted on stands in the vault alone, so that a restart forgets nothing: a request's words
are in the session, marked as asked; a captured message that was acted on is some change's
evidence in the audit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.memory.audit import parse_line
from vaultmind.memory.words import fold
from vaultmind.redact import mask
from vaultmind.session.files import parse_time, session_ids
from vaultmind.types import Message, MessageRef
from vaultmind.vault.files import VaultReader
from vaultmind.vault.nesting import comment, safe
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.session_meta import PIPE
from vaultmind.vault.transcript import Transcript, parse_session

NEWEST = 12
"""Sessions, the newest first, in which a message is looked for."""
REPEATED_WITHIN = timedelta(minutes=2)
"""The same words again within this time are a call that was repeated, not a second wish."""
SAME_SHARE = 0.5
"""Part of their words that two tellings of one message share at least."""
_WORD = re.compile(r"\w+")
_AUDIT = re.compile(r"audit-[A-Za-z0-9-]+\.jsonl")
_ACTS = frozenset({"remember", "replace", "forget"})


@dataclass(frozen=True, slots=True)
class Said:
    """A message that is written down already."""

    ref: MessageRef
    message: Message


@dataclass(frozen=True, slots=True)
class Exchange:
    """The user's last message with the answers to it, or the request made last."""

    messages: tuple[MessageRef, ...] = ()
    request: MessageRef | None = None
    """Where a request was made of the memory after the user's last message."""


def find_said(
    reader: VaultReader, agent: str, message_id: str, words: str, own: str = ""
) -> Said | None:
    """Return an agent's message of an id that says some words, from its newest sessions.

    Ids are unique within a session. In the speaker's `own`, else the newest one, nearly the same
    words will do, since an agent may tell them a little otherwise; elsewhere all of them must be
    there.
    """
    own = own or _newest(reader.paths, agent)
    for session, message in _of_id(reader, agent, message_id):
        share = SAME_SHARE if session == own else 1.0
        if message.role == "user" and _shared(words, message.text) >= share:
            return Said(MessageRef(agent, session, message.block, message.id), message)
    return None


def free_id(reader: VaultReader, agent: str, message_id: str) -> str:
    """Return an id for words that no message of this id says: the id itself, where it is free."""
    message_id = safe(message_id)
    taken = {message.id for _, message in _of_id(reader, agent, message_id)}
    number, free = 1, message_id
    while free in taken:
        number += 1
        free = f"{message_id}:{number}"
    return free


def acted_on(paths: VaultPaths, agents: Iterable[str], said: Said) -> bool:
    """Tell whether a message led to a change of one of the agents' memories."""
    if said.message.asked:
        return True
    return any(_is_evidence(paths, agent, said.ref) for agent in dict.fromkeys(agents))


def repeated(
    reader: VaultReader, agent: str, words: str, now: datetime, own: str = ""
) -> Said | None:
    """Return the request made of an agent last, if it was made of these words a moment ago.

    It is looked for in the speaker's `own` session, else in the newest.
    """
    newest = own or _newest(reader.paths, agent)
    for message in reversed(_messages(reader, agent, newest) if newest else []):
        if not message.asked:
            continue
        same = _plain(message.text) == _plain(mask(words).text)
        fresh = same and _age(message, now) <= REPEATED_WITHIN
        return (
            Said(MessageRef(agent, newest, message.block, message.id), message) if fresh else None
        )
    return None


def last_exchange(
    reader: VaultReader, agent: str, but: MessageRef | None, talk: str = ""
) -> Exchange:
    """Return what was said last in an agent's open session, one message left aside.

    Of several sessions it is that of the message left aside, else the one spoken in last: of the
    conversation `talk`, where it is known and has one, else of those that are no other client's.
    """
    named = [but.session] if but is not None else session_ids(reader.paths, agent)[-NEWEST:]
    found = [(session, _transcript(reader, agent, session)) for session in reversed(named)]
    own = [(session, one) for session, one in found if one is not None and not one.meta.source]
    if talk and but is None:
        here = [pair for pair in own if pair[1].meta.conversation == talk]
        own = here or [one for one in own if not one[1].meta.conversation.startswith(PIPE)]
    if not own:
        return Exchange()
    session, transcript = max(own, key=lambda pair: _spoken_at(pair[1]))
    messages = [placed.message for placed in transcript.messages]
    return _exchange(agent, session, messages, but) if not transcript.meta.ended else Exchange()


def _spoken_at(transcript: Transcript) -> float:
    """Return when something was said last, in seconds since 1970."""
    for time in (*(one.message.time for one in transcript.messages[-1:]), transcript.meta.started):
        try:
            return parse_time(time).timestamp()
        except ValueError:
            continue
    return 0.0


def _exchange(
    agent: str, session: str, messages: list[Message], but: MessageRef | None
) -> Exchange:
    refs: list[MessageRef] = []
    for message in reversed(messages):
        ref = MessageRef(agent, session, message.block, message.id)
        if message.erased or (but is not None and message.block == but.block):
            continue
        if message.asked:
            return Exchange(tuple(refs), ref)
        refs.append(ref)
        if message.role == "user":
            break
    return Exchange(tuple(refs))


def _of_id(reader: VaultReader, agent: str, message_id: str) -> Iterator[tuple[str, Message]]:
    """Yield the messages of an id, and those that were given its numbered ids."""
    message_id = safe(message_id)
    quoted = comment({"id": message_id}).partition("{")[2].rpartition('"}')[0]
    for session in reversed(session_ids(reader.paths, agent)[-NEWEST:]):
        for message in _messages(reader, agent, session, quoted):
            base, colon, number = message.id.rpartition(":")
            if message_id in (message.id, base if colon and number.isdecimal() else message.id):
                yield session, message


def _messages(reader: VaultReader, agent: str, session: str, holding: str = "") -> list[Message]:
    """Return a session's messages; none where its file does not hold some text at all."""
    transcript = _transcript(reader, agent, session, holding)
    return [placed.message for placed in transcript.messages] if transcript else []


def _transcript(
    reader: VaultReader, agent: str, session: str, holding: str = ""
) -> Transcript | None:
    try:
        text = reader.read(reader.paths.session(agent, session)).text
    except (NotFound, UnreadableNote):
        return None
    return parse_session(text) if not holding or holding in text else None


def _newest(paths: VaultPaths, agent: str) -> str:
    return next(iter(session_ids(paths, agent)[-1:]), "")


def _is_evidence(paths: VaultPaths, agent: str, ref: MessageRef) -> bool:
    folder = paths.absolute(paths.memory(agent))
    named = f"{paths.session(ref.agent, ref.session).removesuffix('.md')}#^{ref.block}"
    if not ref.block or not folder.is_dir():
        return False
    for path in sorted(folder.iterdir()):
        if not _AUDIT.fullmatch(path.name) or path.is_symlink():
            continue
        for raw in path.read_text("utf-8", errors="replace").split("\n"):
            line = parse_line(raw) if ref.block in raw and ref.session in raw else None
            if line and line.evidence == named and line.outcome == "written" and line.op in _ACTS:
                return True
    return False


def _age(message: Message, now: datetime) -> timedelta:
    try:
        return abs(now - parse_time(message.time))
    except ValueError:
        return timedelta.max


def _plain(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold(text)))


def _shared(words: str, text: str) -> float:
    """Return how much of some words a text holds, or of the text the words, from 0 to 1."""
    one, other = set(_plain(mask(words).text)), set(_plain(text))
    if not one or not other:
        return float(words.strip() == text.strip())
    return len(one & other) / min(len(one), len(other))
