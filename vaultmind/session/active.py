"""active_context.md: what the last conversation leaves for the next one.

What was said before it is told in a line each, by the titles of the sessions, when a context
begins: nothing of that is stored.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vaultmind.errors import BadArgument, NotFound, UnreadableNote
from vaultmind.index.words.language import detect
from vaultmind.ports import Embedder
from vaultmind.redact import mask
from vaultmind.session.closing import active_context, is_slight
from vaultmind.session.files import (
    Hides,
    iso,
    parse_time,
    plain_text,
    recallable,
    session_of,
    time_or_none,
)
from vaultmind.session.sentences import sentences
from vaultmind.session.summary import Rolling, fold
from vaultmind.session.unkept import keeping
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.edits import newline_of, set_property, with_newlines
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader
from vaultmind.vault.properties import front_matter
from vaultmind.vault.session_meta import EXTRACTION, SessionMeta, is_hosts, runs
from vaultmind.vault.transcript import Transcript, parse_session

BODY_TOKENS = 280
"""Size of an active context without its first line, which says when it was and where."""
TAIL, BATCH = 60, 24
"""Messages that are read whole when a session ends, and in a step of the summary before them."""
SAMPLE = 40
"""Messages by which the language is told."""
LAST_MESSAGES = 50
"""The newest messages among which the last time is looked for: some are told late."""
CLOCKS_DIFFER = timedelta(minutes=1)
TITLE_CHARS = 60
TITLE_WORDS = 3
"""A sentence of fewer words makes a title only where there is no longer one."""
CLIENTS = {"claude-code": "Claude Code", "claude-ai": "Claude Desktop"}
"""What people call the clients that call themselves otherwise."""
NAMELESS = frozenset({"mcp", "cli", "http"})
_BLOCK_AT_END = re.compile(r" \^([A-Za-z0-9-]+)$", re.MULTILINE)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a session leaves for the next one."""

    agent: str
    path: str
    said: datetime
    """When something was said in it last."""
    body: str
    """Markdown of at most BODY_TOKENS tokens; empty where nothing was said."""
    where: str = ""
    """With which client and in which project it was held, in words."""
    language: str = "en"
    slight: bool = False
    """Whether it says nothing for which what is there should make way."""
    stat: FileStat | None = None
    """The stamp of the session's file when it was read."""
    title: str = ""
    topics: tuple[str, ...] = ()


class ActiveContextFile:
    """Reads what sessions leave, and makes the changes that write it. Any thread."""

    def __init__(
        self,
        reader: VaultReader,
        hides: Hides,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """With an embedder more ways are heard to ask that something be not kept."""
        self._reader = reader
        self._hides = hides
        self._embedder = embedder

    def read(self, agent: str, path: str, now: datetime) -> Leaves:
        """Return what a session leaves. Takes its time. Raises NotFound, UnreadableNote."""
        file = self._reader.read(path)
        transcript = parse_session(file.text)
        embedder = self._embedder()
        shown = recallable(agent, path, file.text, self._hides, embedder, transcript=transcript)
        told = keeping([one for one, _ in shown])
        language = language_of(told)
        whole, rest = Rolling(session=session_of(path), agent=agent, language=language), told
        while len(rest) > TAIL + BATCH:
            whole, rest = fold(whole, rest[:BATCH], language=language), rest[BATCH:]
        body = active_context(rest, whole, BODY_TOKENS, language)
        prefix = session_of(path).replace("_", "-")
        return Leaves(
            agent=agent,
            path=path,
            said=last_time(transcript, now),
            body=mask(_BLOCK_AT_END.sub(rf" ^{prefix}-\1", body)).text,
            where=where_of(transcript.meta),
            language=language,
            slight=is_slight(rest, whole, language),
            stat=file.stat,
            title=title_of(told),
            topics=_topics(transcript, told),
        )

    def change(self, leaves: Leaves, now: datetime) -> Change:
        """Return the change that tells of a session, under a person's own properties.

        None is made where a later session has left something, unless that is of a clock that was
        wrong, nor for a slight one in the place of one that says something.
        """

        def change(file: FileText | None) -> str | None:
            before = file.text if file else ""
            found = front_matter(before)
            head = before[: found.body_start] if found else ""
            same = speaks_of(before) == link(leaves.path)
            said = time_or_none(str(found.properties.get("date") or "")) if found else None
            if not leaves.body or (leaves.slight and before[len(head) :].strip() and not same):
                return None
            if said and leaves.said < said <= now and not same:
                return None
            when = leaves.said.strftime("%Y-%m-%d %H:%M")
            first = ", ".join(filter(None, (when, leaves.where)))
            body = f"{first}\n\n{leaves.body}"
            values: dict[str, str | int] = {
                "session": link(leaves.path),
                "date": iso(leaves.said),
                "tokens": count(plain_text(body)),
            }
            try:
                for key, value in values.items():
                    head = set_property(head, key, value)
            except BadArgument:
                log.warning("the properties of the active context are broken, and were left alone")
            return with_newlines(f"{head}\n{body}\n", newline_of(before))

        return change


def ending(leaves: Leaves, when: datetime, device: str) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        transcript, text = parse_session(file.text), file.text
        meta = transcript.meta
        if not runs(meta):
            return None
        values = {"ended": iso(when), "state": "ended", "pending": EXTRACTION}
        values |= {"device": device} if device and not meta.device else {}
        try:
            for key, value in values.items():
                text = set_property(text, key, value)
            if transcript.segment > meta.segments:
                text = set_property(text, "segments", transcript.segment)
            if leaves.topics != meta.topics:
                text = set_property(text, "topics", leaves.topics)
            if leaves.title and not meta.title:
                text = set_property(text, "aliases", (leaves.title,))
        except BadArgument as error:
            log.warning("%s was left open: %s", file.path, error)
            return None
        return text

    return change


def link(path: str) -> str:
    """Return how an active context names the session that it speaks of."""
    return f"[[{path.removesuffix('.md')}]]"


def speaks_of(text: str) -> str:
    """Return the link to the session that an active context speaks of; empty where it says none."""
    found = front_matter(text)
    value = found.properties.get("session") if found else None
    return value if isinstance(value, str) else ""


def body_of(text: str) -> str:
    """Return what an active context says of its session, below the line that says when it was."""
    found = front_matter(text)
    body = text[found.body_start if found else 0 :].replace("\r\n", "\n").lstrip("\n")
    first, _, rest = body.partition("\n")
    return rest.lstrip("\n") if re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d", first) else body


def recap_block(session: str, number: int) -> str:
    """Return the block id of a sentence of an agent's own recap of a session."""
    return f"{session.replace('_', '-')}-r{number}"


def has_recap(text: str, session: str) -> bool:
    """Tell whether an active context holds an agent's own recap of a session."""
    ours = re.escape(recap_block(session, 0)[:-1])
    return re.search(rf"(?m) \^{ours}\d+\r?$", text) is not None


# --- what is to be known of a session -----------------------------------------------------


def title_of(messages: Sequence[Message]) -> str:
    """Return the first thing that the person asked, in at most TITLE_CHARS characters.

    `messages` are those that may be recalled. A greeting makes a title only where nothing else
    was said.
    """
    said = (one for message in messages if message.role == "user" for one in _lines(message.text))
    short = ""
    for line in said:
        if len(line.split()) >= TITLE_WORDS:
            return _cut(line)
        short = short or line
    return _cut(short)


def _lines(text: str) -> list[str]:
    head = mask(text[: 20 * TITLE_CHARS]).text
    plain = (re.sub(r"[#>*`_\[\]|]+", " ", one) for one in sentences(head))
    return [" ".join(one.split()) for one in plain if re.search(r"\w", one)]


def _cut(line: str) -> str:
    if len(line) <= TITLE_CHARS:
        return line.rstrip(" .,:;")
    return line[: TITLE_CHARS - 1].rpartition(" ")[0].rstrip(" .,:;") + "…"


def where_of(meta: SessionMeta) -> str:
    """Return with which client and in which project a session was held; empty if nobody said."""
    named = is_hosts(meta.conversation) and ":" in meta.conversation
    client = meta.client or (meta.conversation.partition(":")[0] if named else "")
    client = "" if client.casefold() in NAMELESS else CLIENTS.get(client.casefold(), client)
    names = (mask(one).text.replace("%", "") for one in (client, meta.project))
    return ", ".join(filter(None, (" ".join(one.split())[:40].strip(" ,") for one in names)))


def language_of(messages: Sequence[Message]) -> str:
    """Return the language in which the user speaks, told by the first messages."""
    return detect(" \n".join(one.text for one in messages[:SAMPLE] if one.role == "user")) or "en"


def last_time(transcript: Transcript, now: datetime) -> datetime:
    """Return when something was said last: the latest of the newest messages' times.

    Times after `now`, from a clock that was wrong, count only where there are no others. For
    times that a person made unreadable the session counts as over.
    """
    texts = [placed.message.time for placed in transcript.messages[-LAST_MESSAGES:]]
    times = [time for text in texts or [transcript.meta.started] if (time := time_or_none(text))]
    past = [time for time in times if time <= now + CLOCKS_DIFFER]
    return max(past or times[-1:], default=parse_time("1970-01-02T00:00:00+00:00"))


def _topics(transcript: Transcript, told: Sequence[Message]) -> tuple[str, ...]:
    """Return a session's topics without words that only messages say which may not be recalled."""
    every = "\n".join(placed.message.text for placed in transcript.messages).casefold()
    kept = "\n".join(one.text for one in told).casefold()
    topics = [
        ", ".join(
            word
            for word in topic.split(", ")
            if word.casefold() in kept or word.casefold() not in every
        )
        for topic in transcript.topics
    ]
    return tuple(dict.fromkeys(filter(None, (*transcript.meta.topics, *topics))))


@dataclass(frozen=True, slots=True)
class Recent:
    """Another conversation, as the start of one tells of it."""

    session: str
    line: str
    """When it was, with which client, in which project, and its title."""
    title: str
    running: bool


def recent_of(reader: VaultReader, agent: str, session: str, hides: Hides) -> Recent | None:
    """Return what is told of a session in a line; None for one that says nothing."""
    path = reader.paths.session(agent, session)
    try:
        text = reader.read(path).text
    except (NotFound, UnreadableNote):
        return None
    transcript = parse_session(text)
    told = keeping([one for one, _ in recallable(agent, path, text, hides, transcript=transcript)])
    meta = transcript.meta
    title = meta.topics[0] if meta.source and meta.topics else title_of(told)
    when = meta.started[:16].replace("T", " ")
    line = f"{', '.join(filter(None, (when, where_of(meta))))}: {title}"
    return Recent(session, line, title, meta.state == "open") if title else None
