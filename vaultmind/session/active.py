"""active_context.md: what the last conversation leaves for the next one.

It is the sliding summary of all of the conversation, at once: what was decided, what is so, what is
open, what else was said. The next one starts with it, long before a model has had time to say it
better. What was said before it is told in a line each, by the titles of the sessions, when a
context begins: nothing of that is stored.
"""

from __future__ import annotations

import logging
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from vaultmind.errors import BadArgument, NotFound, UnreadableNote
from vaultmind.language.network import network
from vaultmind.language.text import plain_sentences
from vaultmind.redact import MARK, mask
from vaultmind.session import files, summary
from vaultmind.session.files import Hides, Shelf
from vaultmind.session.parts import Recent
from vaultmind.session.sentences import language_of, read
from vaultmind.session.summary import Line, Rolling, fold, source_bullet
from vaultmind.session.unkept import asks_memory
from vaultmind.times import iso, parse_time, time_of
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault import transcript as written
from vaultmind.vault.files import Change, FileText, newline_of, with_newlines
from vaultmind.vault.properties import body_start, front_matter, set_property
from vaultmind.vault.transcript import SessionMeta, Transcript, parse_session, runs

BODY_TOKENS = 280
"""Size of an active context without its first line, which says when it was and where."""
BATCH = 60
"""Messages that are folded together when a session ends."""
KEPT_TOKENS = 1200
"""Tokens of the summary from which the lines are chosen."""
ORDERS, UNCLEAR = 0.8, 0.4
"""Likelihood of being no fact from which a person's words that cannot stand alone are an order."""
SCRAP, SCRAP_WORDS = 0.2, 5
"""Likelihood of standing alone below which so few words say nothing."""
LAST_MESSAGES = 50
"""The newest messages among which the last time is looked for: some are told late."""
SLIGHT_WORDS = 5
"""Content words from which a statement counts for itself."""
CLOCKS_DIFFER = timedelta(minutes=1)
TITLE_CHARS, TITLE_WORDS = 60, 3
"""A sentence of fewer words makes a title only where there is no longer one."""
CLIENTS = {
    "claude-code": "Claude Code", "claude-ai": "Claude Desktop", "mcp": "", "cli": "", "http": ""
}  # fmt: skip
"""What people call clients whose own names for themselves differ, or mean nothing to them."""
Own = Callable[[Message], Message]
"""Leaves of a message what its writer says in words of their own."""
_BLOCK_AT_END = re.compile(r" \^([A-Za-z0-9-]+)$", re.MULTILINE)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leaves:
    """What a session leaves for the next one."""

    path: str
    said: datetime
    """When something was said in it last."""
    body: str
    """Markdown of at most BODY_TOKENS tokens; empty where nothing worth telling was said."""
    where: str = ""
    """With which client and in which project it was held, in words."""
    language: str = "en"
    title: str = ""


def left_by(at: Shelf, hides: Hides, agent: str, session: str, now: datetime, own: Own) -> Leaves:
    """Return what a session leaves, without what was pasted or quoted. Takes its time.

    Raises NotFound, UnreadableNote.
    """
    transcript = at.read(agent, session)
    spoken = (one.message for one in transcript.messages if one.message.role != "tool")
    done = {after.block for one, after in pairwise(spoken) if one.asked and after.role != "user"}
    shown = at.recallable(agent, session, hides)
    told = [own(one) for one, _ in shown if one.block not in done]
    language, prefix = language_of(told), session.replace("_", "-")
    body = _BLOCK_AT_END.sub(rf" ^{prefix}-\1", active_context(told, language, BODY_TOKENS))
    said, where = last_time(transcript, now), where_of(transcript.meta)
    path = at.reader.paths.session(agent, session)
    return Leaves(path, said, mask(body).text, where, language, title_of(told))


def telling(leaves: Leaves, now: datetime) -> Change:
    """Return the change that tells of a session, under a person's own properties.

    None is made where a later session has left something, unless that is of a clock that was
    wrong, nor for one that left nothing.
    """

    def change(file: FileText | None) -> str | None:
        before = file.text if file else ""
        found = front_matter(before)
        head = before[: found.body_start] if found else ""
        same = speaks_of(before) == link(leaves.path)
        date = time_of(str(found.properties.get("date") or "")) if found else None
        if not leaves.body or (date and leaves.said < date <= now and not same):
            return None
        when = leaves.said.strftime("%Y-%m-%d %H:%M")
        body = f"{', '.join(filter(None, (when, leaves.where)))}\n\n{leaves.body}"
        about = {"session": link(leaves.path), "date": iso(leaves.said)}
        head = _set(head, "the active context", about | {"tokens": count(files.plain_text(body))})
        return with_newlines(f"{head}\n{body}\n", newline_of(before))

    return change


def ending(leaves: Leaves, when: datetime) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        transcript = parse_session(file.text) if file else None
        if file is None or transcript is None or not runs(transcript.meta):
            return None
        meta = transcript.meta
        values: dict[str, str | int | tuple[str, ...]] = {
            "ended": iso(when), "state": "ended", "pending": written.EXTRACTION
        }  # fmt: skip
        values |= {"segments": transcript.segment} if transcript.segment > meta.segments else {}
        values |= {"aliases": (leaves.title,)} if leaves.title and not meta.title else {}
        text = _set(file.text, file.path, values)
        return text if text != file.text else None

    return change


def _set(text: str, what: str, values: Mapping[str, str | int | tuple[str, ...]]) -> str:
    """Return a text with some properties; as it is where its own are broken."""
    try:
        for key, value in values.items():
            text = set_property(text, key, value)
    except BadArgument as error:
        log.warning("the properties of %s were left alone: %s", what, error)
    return text


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
    body = text[body_start(text) :].replace("\r\n", "\n").lstrip("\n")
    first, _, rest = body.partition("\n")
    return rest.lstrip("\n") if re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d", first) else body


# --- what a session leaves ----------------------------------------------------------------


def active_context(messages: Sequence[Message], language: str = "en", max_tokens: int = 300) -> str:
    """Return what a conversation leaves for the next: Markdown of at most `max_tokens` tokens.

    It is the sliding summary of all of it; empty for a greeting, small talk, or a lone question
    with its answer. `messages` are those that may be recalled.
    """
    whole = Rolling(language=language)
    for at in range(0, len(messages), BATCH):
        whole = fold(whole, messages[at : at + BATCH], KEPT_TOKENS)
    people = {"user", *(one.speaker for one in messages[:1])}
    told = [one for one in whole.lines if one.speaker in people and one.kind != "question"]
    decides = any(one.kind == "decision" for one in whole.lines)
    if not decides and sum(len(read(one.text, language).stems) for one in told) < SLIGHT_WORDS:
        return ""
    before_tools = {one.block for one, after in pairwise(messages) if after.role == "tool"}

    def stays(line: Line, heads: dict[str, dict[str, float]]) -> bool:
        """Tell whether a line is no order ("Cap it at 100 keys") or scrap, none of what a tool was
        about to be used for, nor of a secret.
        """
        alone, skips = heads["alone"]["alone"], heads["fact"]["SKIP"]
        orders = line.speaker in people and skips >= ORDERS and alone < UNCLEAR
        is_scrap = alone < SCRAP and len(line.text.split()) <= SCRAP_WORDS
        announces = line.kind == "other" and line.speaker != "user" and line.source in before_tools
        tells = line.kind == "question" or not (orders or is_scrap or announces)
        return line.kind == "decision" or (tells and not MARK.search(line.text))

    readings = network().read("facts", [one.text for one in whole.lines])
    each = zip(whole.lines, readings, strict=True)
    lines = tuple(one for one, reading in each if stays(one, reading.heads))
    fits = summary.fitting(replace(whole, lines=lines), max_tokens)
    return summary.sections(fits, source_bullet)


# --- what is to be known of a session -----------------------------------------------------


def title_of(messages: Sequence[Message]) -> str:
    """Return the first thing that the person asked, but of the memory, in TITLE_CHARS characters.

    `messages` are those that may be recalled. A greeting makes a title only where nothing else
    was said.
    """
    heads = (mask(one.text[: 20 * TITLE_CHARS]).text for one in messages if one.role == "user")
    told = (one for text in heads for one in plain_sentences(text) if re.search(r"[^\W_]", one))
    lines = [re.sub(r"[#>*`_\[\]|\s]+", " ", one).strip() for one in told]
    lines.sort(key=lambda line: len(line.split()) < TITLE_WORDS)
    title = next((line for line in lines if not asks_memory(line)), "")
    return textwrap.shorten(title, TITLE_CHARS, placeholder="…").rstrip(" .,:;")


def where_of(meta: SessionMeta) -> str:
    """Return with which client and in which project a session was held; empty if nobody said."""
    client = CLIENTS.get(meta.client.casefold(), meta.client)
    names = (mask(one).text.replace("%", "") for one in (client, meta.project))
    return ", ".join(filter(None, (" ".join(one.split())[:40].strip(" ,") for one in names)))


def last_time(transcript: Transcript, now: datetime) -> datetime:
    """Return when something was said last: the latest of the newest messages' times.

    Times after `now`, from a clock that was wrong, count only where there are no others. For
    times that a person made unreadable the session counts as over.
    """
    texts = [placed.message.time for placed in transcript.messages[-LAST_MESSAGES:]]
    told = map(time_of, texts or [transcript.meta.started])
    times = [time for time in told if time]
    past = [time for time in times if time <= now + CLOCKS_DIFFER]
    return max(past or times[-1:], default=parse_time("1970-01-02T00:00:00+00:00"))


def recent_of(shelf: Shelf, agent: str, session: str, hides: Hides) -> Recent | None:
    """Return what is told of a session in a line; None for one that says nothing."""
    try:
        meta = shelf.read(agent, session).meta
        told = [one for one, _ in shelf.recallable(agent, session, hides)]
    except (NotFound, UnreadableNote):
        return None
    title = meta.topics[0] if meta.source and meta.topics else title_of(told)
    when = meta.started[:16].replace("T", " ")
    line = f"{', '.join(filter(None, (when, where_of(meta))))}: {title}"
    return Recent(session, line, title, meta.state == "open") if title else None
