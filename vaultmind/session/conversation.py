"""One conversation in memory, kept as its files are: messages, topics, one sliding summary.

The file is the truth: a look at its stamp tells whether it changed, and what was appended is read
alone.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind.config import Config
from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.ports import MessageVectors, Report, silent
from vaultmind.redact import blank_private, mask
from vaultmind.session import topics
from vaultmind.session.files import Records, read_text
from vaultmind.session.recall import SegmentIndex, SegmentMessage, is_embedded
from vaultmind.session.summary import (
    Rolling,
    TopicMark,
    Window,
    astray,
    due,
    fold,
    visible,
    without,
)
from vaultmind.session.summary_file import parse_rolling, rewritten
from vaultmind.tokens import count
from vaultmind.types import Caller, Message, Progress
from vaultmind.vault.files import FileStat, FileText, VaultReader, decode, read_bytes
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.session_meta import SessionMeta
from vaultmind.vault.transcript import parse_session

UNSETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
FOLDED_AT_ONCE = 120
"""Messages that are folded and saved together."""
LOOKED_BACK = 1000
"""The last messages that are heard of a conversation that was not followed."""
NEW = 3
"""A conversation, or a topic in it, of fewer messages that say something has just begun."""
SAMPLE_MESSAGES, SAMPLE_CHARACTERS = 8, 1200
"""By which the conversation's language is told: of its newest messages."""
_HEADING = re.compile(r"^#{1,6} (?![ \t]*Segment[ \t]+\d)([^\r\n]*\S)", re.MULTILINE)

log = logging.getLogger(__name__)
Hidden = Callable[[str], frozenset[tuple[str, str]]]
"""Returns (record, part) of all that is hidden of an agent: the same object while it is the same.

A message of a session by block or own id; a part of a summary (path without `.md`), by block."""


@dataclass(frozen=True, slots=True)
class ConversationSettings:
    """What of the configuration rules a conversation in memory."""

    window: Window = Window()  # noqa: RUF009
    """How much stays whole where nobody says more exactly: what the background folds by."""
    summary_tokens: int = 500
    min_message_tokens: int = 10
    """Shorter messages have no vector."""

    @classmethod
    def of(cls, config: Config) -> ConversationSettings:
        """Return what a configuration says."""
        window = Window(
            messages=config.context.sliding_window,
            every=config.summary.every,
            full_at=config.session.summarize_at,
        )
        return cls(window, config.summary.max_tokens, config.auto_rag.min_message_tokens)


@dataclass(frozen=True, slots=True)
class View:
    """One conversation at one moment. Forgotten, erased and asked messages are not in it."""

    agent: str
    session: str
    segment: int
    """The number of the running segment, which the next message will be of."""
    path: str
    """The session's file, vault-relative."""
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
    """Whether it took place elsewhere: an agent may go on with it, a person is told it is over."""
    behind: int = 0
    """Messages that are still being folded into the summary."""


def key_of(message: Message) -> str:
    """Return what names a message in a context: its own id, else its block id."""
    return message.id or message.block


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where conversations are read and written."""

    reader: VaultReader
    gate: Records
    hidden: Hidden
    vectors: MessageVectors
    settings: ConversationSettings
    stopping: threading.Event = field(default_factory=threading.Event)


class Conversation:
    """A session as it stands. `lock` is held for moments, `work` while it is heard or folded."""

    def __init__(self, agent: str, session: str, place: Surroundings) -> None:
        self.agent, self.session, self._place = agent, session, place
        self._paths = place.reader.paths
        self.path = self._paths.session(agent, session)
        self.lock, self.work = threading.RLock(), threading.RLock()
        self.meta = SessionMeta("", "")
        self.messages: list[Message] = []
        """All of the file, secrets and private passages taken out."""
        self.segment = 1
        self.rolling = Rolling(session, agent)
        """The running segment's summary, with what is hidden today."""
        self.edited = True
        """Whether the file may have changed other than at its end since summaries were tidied."""
        self._text, self._starts, self._segments = "", list[int](), list[int]()
        self._stamp: FileStat | None = None
        self._visible: list[Message] = []
        self._hidden: frozenset[tuple[str, str]] = frozenset()
        self._names: frozenset[str] = frozenset()
        self._language = "en"
        self._index, self._indexed, self._embedder = SegmentIndex(), -1, ""
        self._lacking: dict[str, str] = {}
        """Keys of messages whose vector is still to come, by block id (or own id without)."""
        self._vector_state: object = None
        self._summary: tuple[object, int, str] = (None, 0, "")
        """Stamp, segment and text of the summary's file as it was read."""
        self._refused = ""
        self._view: View | None = None
        self._heard_segment, self._heard = 0, 0
        self._running = topics.Running()
        self._ended: list[TopicMark] = []
        self._begun: list[TopicMark] = []

    def view(self) -> View | None:
        """Return the conversation as it stands now; None where its file is gone.

        Raises UnreadableNote.
        """
        with self.lock:
            stamp = self._place.reader.stat(self.path)
            try:
                if stamp is None:
                    return None
                changed = self._read(stamp)
            except NotFound:  # it went between the look at its stamp and the reading
                return None
            changed |= self._hide()
            if changed:
                self._gather()
            changed |= self._take_summary()
            self._index_new()
            self._take_vectors()
            if self._view is None or changed:
                self._view = self._seen()
            return self._view

    # --- the file -------------------------------------------------------------------------

    def _read(self, stamp: FileStat) -> bool:
        """Read what was added to the file, if anything was; return whether anything changed."""
        if stamp == self._stamp:
            return False
        reader = self._place.reader
        raw, stamp = read_bytes(self._paths.absolute(self.path), reader, self.path)
        text = blank_private(decode(self.path, raw, stamp).text)
        self._stamp = None if 0 <= time.time_ns() - stamp.ctime_ns < UNSETTLED_NS else stamp
        if text == self._text and self._starts:
            return False
        keep = max(0, len(self.messages) - 1) if text.startswith(self._text) else 0
        begin, segment = (self._starts[keep], self._segments[keep]) if keep else (0, 1)
        found = parse_session(text, begin=begin, segment=segment)
        blocks = {one.block for one in self.messages[:keep]}
        if keep and (found.faults or any(o.message.block in blocks for o in found.messages)):
            keep, found = 0, parse_session(text)  # an id that stands twice is told from the whole
        before = self.messages[keep:]
        now = [_clean(one.message) for one in found.messages]
        if now[: len(before)] != before:
            self.edited, self._indexed, self._heard_segment = True, -1, 0
        self._text, self.meta, self.segment = text, found.meta, found.segment
        self._starts[keep:] = [one.start for one in found.messages]
        self._segments[keep:] = [one.segment for one in found.messages]
        self.messages[keep:] = now
        return True

    def _hide(self) -> bool:
        """Look at what is hidden, if that changed; return whether it changes anything here."""
        hidden, before = self._place.hidden(self.agent), self._hidden
        if hidden is before:
            return False
        self._hidden = hidden
        own = {one for one in before ^ hidden if one[0] in ("", self.session, self._record)}
        self._names = frozenset(part for name, part in hidden if name in ("", self.session))
        self._indexed = -1 if own else self._indexed
        return bool(own)

    @property
    def _record(self) -> str:
        return self._paths.rolling(self.agent, self.session, self.segment).removesuffix(".md")

    @property
    def _first(self) -> int:
        """Return the place of the running segment's first message."""
        return bisect_left(self._segments, self.segment)

    def _is_recallable(self, message: Message) -> bool:
        hidden = message.block in self._names or message.id in self._names
        return not (message.asked or message.erased or hidden)

    def _gather(self) -> None:
        """Bring what may be recalled of the running segment, and its language, up to date."""
        self._visible = [one for one in self.messages[self._first :] if self._is_recallable(one)]
        newest = [one for one in self._visible[-2 * SAMPLE_MESSAGES :] if one.text]
        users = [one.text for one in newest if one.role == "user"]
        said = users or [one.text for one in newest if one.role == "assistant"]
        sample = "\n".join(one[:SAMPLE_CHARACTERS] for one in said[-SAMPLE_MESSAGES:])
        if sample:
            self._language = detect(sample[-SAMPLE_CHARACTERS:], self._language)

    def _index_new(self) -> None:
        """Give the index the messages that it lacks; make it anew where others changed."""
        vectors, least = self._place.vectors, self._place.settings.min_message_tokens
        if self._indexed < 0 or vectors.embedder_id != self._embedder:
            self._embedder = vectors.embedder_id  # vectors of two embedders cannot be compared
            self._index, self._indexed = SegmentIndex(self._embedder, least), 0
            self._lacking, self._view = {}, None
        for number in range(self._indexed, len(self.messages)):
            one = self.messages[number]
            if not self._is_recallable(one):
                continue
            key, tokens = key_of(one) or f"n{number + 1}", count(one.text)
            self._index.add(
                SegmentMessage(
                    key=key,
                    role=one.role,
                    text=one.text,
                    tokens=tokens,
                    speaker=one.speaker,
                    segment=self._segments[number],
                    link=f"[[#^{one.block}]]" if one.block else "",
                    day=one.time[:10],
                )
            )
            if is_embedded(one.role, tokens, least=least) and (one.block or one.id):
                self._lacking[one.block or one.id] = key
                self._vector_state = None
        self._indexed = len(self.messages)

    def _take_vectors(self) -> None:
        """Take vectors that are there by now."""
        state = self._place.vectors.vector_state
        if self._lacking and state != self._vector_state:
            self._vector_state = state
            found = self._place.vectors.message_vectors(self.path, self._lacking.keys())
            for name, vector in found.items():
                self._index.give(self._lacking.pop(name), vector)

    # --- the summary ----------------------------------------------------------------------

    def _take_summary(self) -> bool:
        """Read the summary of the running segment, if its file changed.

        One that is refused, as a link is, counts as none: the messages are there without it.
        """
        path, why, text = f"{self._record}.md", "", ""
        stamp: object = None
        try:
            stamp = self._place.reader.stat(path)
        except (PathRefused, UnreadableNote) as error:
            stamp = why = error.reason
        if (stamp, self.segment) == self._summary[:2]:
            return False
        if not why:
            text, why = read_text(self._place.reader, path)
        self.rolling = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
        self._summary, self._refused = (stamp, self.segment, text), why
        return True

    def _seen(self) -> View:
        """Return the view; the summary without what is hidden or no longer said, and secrets."""
        hidden = {part for record, part in self._hidden if record == self._record}
        text = self._summary[2]
        masked = mask(without_hidden(text, hidden.__contains__) if hidden else text).text
        rolling = self.rolling if masked == text else parse_rolling(masked)
        rolling = without(rolling, self._astray(self.rolling))
        gone = {o.block for o in self.messages[self._first :] if not self._is_recallable(o)}
        gone |= self._names
        running = self._running
        turned = running.heard and (running.topic.said < NEW or running.doubt is not None)
        return View(
            agent=self.agent,
            session=self.session,
            segment=self.segment,
            path=self.path,
            messages=tuple(self._visible),
            rolling=visible(rolling, gone.__contains__) if gone else rolling,
            index=self._index,
            language=self._language,
            topic_is_new=len(self._visible) < NEW
            or bool(turned and self._heard_segment == self.segment),
            refused=self._refused,
            ended=not self.meta.source and (self.meta.state != "open" or bool(self.meta.ended)),
            imported=bool(self.meta.source),
        )

    def _astray(self, rolling: Rolling) -> frozenset[str]:
        return astray(rolling, self.messages)

    def fold(self, window: Window, most: int = FOLDED_AT_ONCE, report: Report = silent) -> int:
        """Fold what is due into the summary and save it, at most about so many messages.

        Return how many are still due. What cannot be saved is kept in memory, and saved with the
        next fold that can.
        """
        with self.work:
            self.tidy()
            if not (waiting := len(self._due(self.rolling, window))):
                return 0
            self.hear()
            done = 0
            while done < min(most, waiting) and not self._place.stopping.is_set():
                self._write(lambda base: self._folded(base, window), "a conversation is summarised")
                done += FOLDED_AT_ONCE
                report(Progress(min(done, waiting), waiting, "summarising the conversation"))
            return len(self._due(self.rolling, window))

    def _due(self, rolling: Rolling, window: Window) -> Sequence[Message]:
        """Return what is to be folded now: what the summary lacks and has left the window.

        The last message in the summary may be hidden or deleted by now: it is looked for among
        all, and then by its time.
        """
        with self.lock:
            if not self.view():
                return ()
            for number in range(len(self.messages) - 1, self._first - 1, -1):
                one = self.messages[number]
                if rolling.upto and rolling.upto in (one.id, one.block):
                    later = [it for it in self.messages[number + 1 :] if self._is_recallable(it)]
                    return due(later, "", window)
            until = rolling.updated if rolling.upto else ""
            later = [one for one in self._visible if not until or one.time > until]
            return due(later, "", window)

    def _folded(self, base: Rolling, window: Window) -> Rolling:
        """Return a summary with what is due in it, a few messages at a time as it grows."""
        leaving = self._due(base, window)[:FOLDED_AT_ONCE]
        for at in range(0, len(leaving), window.every):
            batch = leaving[at : at + window.every]
            known = max((one.at for one in base.topics), default=0)
            upto = base.messages + len(batch)
            ended = [one for one in self._ended if known < one.at <= upto]
            language = "" if base.messages else self._language
            tokens = self._place.settings.summary_tokens
            base = fold(base, batch, tokens, language, ended)
            if self._place.stopping.is_set():
                break
        return without(base, self._astray(base))

    def tidy(self) -> None:
        """Take out of all summaries what a person took out of the conversation's file by hand."""
        with self.work:
            with self.lock:
                if self.view() is None or not self.edited:
                    return
                self.edited = False
            for segment in range(1, self.segment + 1):
                reason = "a person took out what it says"
                self._write(lambda base: without(base, self._astray(base)), reason, segment)

    def _write(self, update: Callable[[Rolling], Rolling], reason: str, segment: int = 0) -> None:
        """Change a segment's summary in its file; in memory alone where that cannot be."""
        segment = segment or self.segment
        gate, running = self._place.gate, segment == self.segment
        path, (stamp, _, text) = (
            self._paths.rolling(self.agent, self.session, segment),
            self._summary,
        )
        new = self.rolling

        def change(file: FileText | None) -> str | None:
            nonlocal new
            text = file.text if file else ""
            base = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
            new = update(base)
            return rewritten(text, new) if new != base else None

        written: object = None
        try:
            if gate.keeps_records(self.agent):
                written = gate.save(path, change, Caller("agent", self.agent), reason)
                if not isinstance(written, FileText):
                    return
        except VaultMindError as error:
            log.warning("the summary of %s was not saved: %s", self.path, error)
            self.edited = self.edited or not running
        if isinstance(written, FileText):
            text, stamp = written.text, written.stat
            kept = parse_rolling(text)
            new = kept if kept.upto == new.upto else new  # its front matter may be broken
        elif running:
            new = update(self.rolling)
        with self.lock:
            if running:
                self.rolling, self._summary = new, (stamp, segment, text)
                self._view = None

    # --- topics ---------------------------------------------------------------------------

    def hear(self) -> None:
        """Hear what was not heard yet, and note which topics ended and began."""
        with self.work:
            with self.lock:
                if self.view() is None:
                    return
                if self._heard_segment != self.segment:
                    self._begin_hearing()
                self._heard = min(self._heard, len(self._visible))
                waiting = self._visible[self._heard :]
                language = self._language
            for message in waiting:
                step = topics.hear(self._running, message, language)
                self._running = step.running
                if step.ended and step.ended.label:
                    self._ended.append(step.ended)
                if step.began and step.began.source:
                    self._begun.append(topics.mark_of(step.began, step.running.before))
            with self.lock:
                self._heard += len(waiting)
                self._view = None if waiting else self._view

    def _begin_hearing(self) -> None:
        """Begin with the last topic that has a heading in the file, whatever the words say.

        So a process that starts anew writes none twice, nor one beside the old one.
        """
        self._heard_segment, self._ended, self._begun = self.segment, [], []
        self._heard = max(0, len(self._visible) - LOOKED_BACK)
        self._running = topics.Running(messages=self._heard)
        first = self._first
        for match in _HEADING.finditer(self._text, self._starts[first - 1] if first else 0):
            at = bisect_left(self._starts, match.start())
            if first <= at < len(self.messages):
                heard = sum(map(self._is_recallable, self.messages[first:at]))
                self._ended.append(TopicMark(match[1], self.messages[at].block, heard + 1))
                started = topics.Running(messages=heard)
                self._running = topics.turn(started, self.messages[at].block, heard + 1).running
                self._heard = heard
        self._ended = self._ended[:-1]  # the last one goes on

    def write_headings(self) -> None:
        """Give each topic that began a heading; in a running conversation of our own alone."""
        gate, agent = self._place.gate, self.agent
        with self.work:
            begun, self._begun = self._begun, []
            ours = not self.meta.source and self.meta.state == "open"
            if not begun or not ours or not gate.keeps_records(agent):
                return
            try:
                change = topics.with_headings(begun)
                gate.save(self.path, change, Caller("agent", agent), "a topic begins")
            except VaultMindError as error:
                log.warning("topics of %s have no heading yet: %s", self.path, error)
                self._begun = begun


def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)
