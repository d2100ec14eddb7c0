"""active_context.md: what the last conversation leaves for the next one.

It is the sliding summary of all of the conversation, at once: what it was about, what was decided,
what is next. The next one starts with it, long before a model has had time to say it better. What
was said before it is told in a line each, by the titles of the sessions, when a context begins:
nothing of that is stored.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from vaultmind.errors import BadArgument, NotFound, UnreadableNote
from vaultmind.index.words.language import detect
from vaultmind.language.text import plain_sentences
from vaultmind.redact import MARK, mask
from vaultmind.session import files, summary
from vaultmind.session.files import Hides
from vaultmind.session.sentences import headings, read, said, shortened, unmarked
from vaultmind.session.summary import Line, Rolling, fold, section_text, source_bullet
from vaultmind.session.unkept import keeping
from vaultmind.tokens import clip, count
from vaultmind.types import Message
from vaultmind.vault.edits import newline_of, set_property, with_newlines
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader
from vaultmind.vault.oneline import escape
from vaultmind.vault.properties import front_matter
from vaultmind.vault.session_meta import EXTRACTION, SessionMeta, is_hosts, runs
from vaultmind.vault.transcript import Transcript, parse_session

BODY_TOKENS = 280
"""Size of an active context without its first line, which says when it was and where."""
TAIL, BATCH = 60, 24
"""Messages that are read whole when a session ends, and in a step of the summary before them."""
LINE_TOKENS, KEPT_TOKENS = 32, 1200
"""A longer line is cut; tokens of the summary from which the lines are chosen."""
TITLES = {
    "other": "about", "decision": "decision", "fact": "fact", "question": "question", "next": "next"
}  # fmt: skip
"""The order in which the sections are shown, and their headings."""
SLIGHT_WORDS = 5
"""Content words from which a statement counts for itself."""
ASKED = 1.5
"""What a line weighs more that the user says to one who works with tools."""
SAMPLE = 40
"""Messages by which the language is told."""
LAST_MESSAGES = 50
"""The newest messages among which the last time is looked for: some are told late."""
CLOCKS_DIFFER = timedelta(minutes=1)
TITLE_CHARS, TITLE_WORDS = 60, 3
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


class ActiveContextFile:
    """Reads what sessions leave, and makes the changes that write it. Any thread."""

    def __init__(self, reader: VaultReader, hides: Hides) -> None:
        self._reader = reader
        self._hides = hides

    def read(self, agent: str, path: str, now: datetime) -> Leaves:
        """Return what a session leaves. Takes its time. Raises NotFound, UnreadableNote."""
        file = self._reader.read(path)
        transcript = parse_session(file.text)
        shown = files.recallable(agent, path, file.text, self._hides, transcript=transcript)
        told = keeping([one for one, _ in shown])
        language, session = language_of(told), files.session_of(path)
        whole, rest = Rolling(session=session, agent=agent, language=language), told
        while len(rest) > TAIL + BATCH:
            whole, rest = fold(whole, rest[:BATCH], language=language), rest[BATCH:]
        body = active_context(rest, whole, BODY_TOKENS, language)
        prefix = session.replace("_", "-")
        return Leaves(
            agent=agent,
            path=path,
            said=last_time(transcript, now),
            body=mask(_BLOCK_AT_END.sub(rf" ^{prefix}-\1", body)).text,
            where=where_of(transcript.meta),
            language=language,
            slight=_is_slight(rest, whole, language),
            stat=file.stat,
            title=title_of(told),
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
            date = files.time_or_none(str(found.properties.get("date") or "")) if found else None
            if not leaves.body or (leaves.slight and before[len(head) :].strip() and not same):
                return None
            if date and leaves.said < date <= now and not same:
                return None
            when = leaves.said.strftime("%Y-%m-%d %H:%M")
            body = f"{', '.join(filter(None, (when, leaves.where)))}\n\n{leaves.body}"
            try:
                head = set_property(head, "session", link(leaves.path))
                head = set_property(head, "date", files.iso(leaves.said))
                head = set_property(head, "tokens", count(files.plain_text(body)))
            except BadArgument:
                log.warning("the properties of the active context are broken, and were left alone")
            return with_newlines(f"{head}\n{body}\n", newline_of(before))

        return change


def ending(leaves: Leaves, when: datetime, device: str) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        transcript = parse_session(file.text) if file else None
        if file is None or transcript is None or not runs(transcript.meta):
            return None
        text, meta = file.text, transcript.meta
        values: dict[str, str | int | tuple[str, ...]] = {
            "ended": files.iso(when), "state": "ended", "pending": EXTRACTION
        }  # fmt: skip
        values |= {"device": device} if device and not meta.device else {}
        values |= {"segments": transcript.segment} if transcript.segment > meta.segments else {}
        values |= {"aliases": (leaves.title,)} if leaves.title and not meta.title else {}
        try:
            for key, value in values.items():
                text = set_property(text, key, value)
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


# --- what a session leaves ----------------------------------------------------------------


def active_context(
    messages: Sequence[Message], rolling: Rolling, max_tokens: int = 300, language: str = ""
) -> str:
    """Return what a conversation leaves for the next: Markdown of at most `max_tokens` tokens.

    What it was about, what was decided, what is open and what is next; empty where nothing was
    said at all. `messages` are those that may be recalled, all or those that `rolling` does not
    hold. Each bullet stands in a message, whole or as a marked piece.
    """
    language, rest = language or rolling.language, summary.unfolded(messages, rolling.upto)
    whole = fold(rolling, rest, KEPT_TOKENS, language)
    total, titles = whole.messages, headings(language)
    before_tools = {one.block for one, after in pairwise(rest) if after.role == "tool"}
    works = any(one.role == "tool" for one in rest)
    found: list[tuple[str, Line]] = []
    for line in whole.lines:
        announces = line.kind == "other" and line.speaker != "user" and line.source in before_tools
        if announces or (MARK.search(line.text) and line.kind != "decision"):
            continue  # what a tool was about to be used for; what a secret was taken out of
        plans = said(read(unmarked(line.text), language).folded, "next")
        is_next = plans and 2 * line.at > total and line.kind in ("fact", "other")
        short = replace(line, text=shortened(line.text, LINE_TOKENS))
        found.append(("next" if is_next else line.kind, short))

    def text(chosen: Sequence[Line], *, marked: bool = False) -> str:
        parts = []
        for name, title in TITLES.items():
            kept = [one for section, one in found if section == name and one in chosen]
            items = [source_bullet(one) if marked else escape(one.text) for one in kept]
            parts += [section_text(titles[title], items)] if items else []
        return "\n\n".join(parts)

    def worth(line: Line) -> float:
        return summary.faded(line, total) + (ASKED if works and line.speaker == "user" else 0.0)

    chosen: list[Line] = []
    for _, line in sorted(found, key=lambda one: (-worth(one[1]), -one[1].at)):
        if count(text([*chosen, line])) <= max_tokens:
            chosen.append(line)
    if chosen:
        return text(chosen, marked=True)
    spoken = (
        text for one in messages if summary.is_spoken(one) for text in plain_sentences(one.text)
    )
    return escape(clip(next(spoken, ""), max_tokens // 3))


def _is_slight(messages: Sequence[Message], rolling: Rolling, language: str) -> bool:
    """Tell whether what an earlier conversation left need not make way for this one.

    So it is for a greeting, small talk, or a lone question with its answer.
    """
    lines = [one for one in summary.lines_of(messages, 0, language) if one.kind != "question"]
    told = [one for one in lines if one.speaker in (messages[0].speaker, "user")]
    words = sum(len(read(one.text, language).stems) for one in told)
    decided = any(one.kind == "decision" for one in lines)
    return not rolling.messages and words < SLIGHT_WORDS and not decided


# --- what is to be known of a session -----------------------------------------------------


def title_of(messages: Sequence[Message]) -> str:
    """Return the first thing that the person asked, in at most TITLE_CHARS characters.

    `messages` are those that may be recalled. A greeting makes a title only where nothing else
    was said.
    """
    lines = [line for one in messages if one.role == "user" for line in _lines(one.text)]
    long = (line for line in lines if len(line.split()) >= TITLE_WORDS)
    title = next(long, lines[0] if lines else "")
    if len(title) > TITLE_CHARS:
        return title[: TITLE_CHARS - 1].rpartition(" ")[0].rstrip(" .,:;") + "…"
    return title.rstrip(" .,:;")


def _lines(text: str) -> list[str]:
    head = mask(text[: 20 * TITLE_CHARS]).text
    plain = (re.sub(r"[#>*`_\[\]|]+", " ", one) for one in plain_sentences(head))
    return [" ".join(one.split()) for one in plain if re.search(r"\w", one)]


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
    told = map(files.time_or_none, texts or [transcript.meta.started])
    times = [time for time in told if time]
    past = [time for time in times if time <= now + CLOCKS_DIFFER]
    return max(past or times[-1:], default=files.parse_time("1970-01-02T00:00:00+00:00"))


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
    shown = files.recallable(agent, path, text, hides, transcript=transcript)
    meta = transcript.meta
    told = keeping([one for one, _ in shown])
    title = meta.topics[0] if meta.source and meta.topics else title_of(told)
    when = meta.started[:16].replace("T", " ")
    line = f"{', '.join(filter(None, (when, where_of(meta))))}: {title}"
    return Recent(session, line, title, meta.state == "open") if title else None
