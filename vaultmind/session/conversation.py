"""The conversations in memory, kept as their files are: messages, topics, one sliding summary each.

The file is the truth: a look at its stamp tells whether it changed. A thread follows what grows:
topics get their headings, and what has left the window is folded into the summary.
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind.config import Config
from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.memory.gate import Gate
from vaultmind.ports import MessageVectors, Report, silent
from vaultmind.redact import blank_private, mask
from vaultmind.session import topics
from vaultmind.session.files import Shelf, read_text
from vaultmind.session.recall import SegmentIndex, SegmentMessage, is_embedded
from vaultmind.session.summary import (
    Rolling,
    Window,
    due,
    fold,
    parse_rolling,
    rewritten,
    still_said,
    visible,
)
from vaultmind.tokens import count
from vaultmind.types import Caller, Message, Progress
from vaultmind.vault.files import FileText, VaultReader, decode, read_bytes
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import agent_name
from vaultmind.vault.session_meta import SessionMeta
from vaultmind.vault.transcript import parse_session

HELD, HELD_MESSAGES = 8, 20_000
"""Conversations that are kept in memory, and their messages together, of 8 kB each."""
SMALL_BYTES = 1000
"""A smaller file holds too few messages for a topic or a summary: it is not even read."""
FOLDED_AT_ONCE, FOLDED_BY_ASKER = 120, 360
"""Messages that are folded and saved together; and for whose folding who asks waits: the rest is
folded in the background."""
UNSETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
LOOKED_BACK = 1000
"""The last messages that are heard of a conversation that was not followed."""
NEW = 3
"""A conversation, or a topic in it, of fewer messages that say something has just begun."""
TOPICS = 8
"""Topics that a context names at most."""
SAMPLE_MESSAGES, SAMPLE_CHARACTERS = 8, 1200
"""By which the conversation's language is told: of its newest messages."""
log = logging.getLogger(__name__)
Hidden = Callable[[str], frozenset[tuple[str, str]]]
"""Returns (record, part) of all that is hidden of an agent: the same object while it is the same.

A message of a session by block or own id; a part of a summary (path without `.md`), by block."""


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
    topics: tuple[str, ...] = ()
    """The headings of the segment's last topics, oldest first."""
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
    gate: Gate
    hidden: Hidden
    vectors: MessageVectors
    config: Config
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
        self._clean: dict[Message, Message] = {}
        """The messages as they were read, and without secrets, which a person may have typed."""
        self._stamp: object = None
        self._visible: list[Message] = []
        self._hidden: frozenset[tuple[str, str]] = frozenset()
        self._names: frozenset[str] = frozenset()
        self._language = "en"
        self._index, self._embedder = SegmentIndex(), ""
        self._lacking: dict[str, str] = {}
        """Keys of messages whose vector is still to come, by block id (or own id without)."""
        self._vector_state: object = None
        self._summary: tuple[object, int, str] = (None, 0, "")
        """Stamp, segment and text of the summary's file as it was read."""
        self._refused = ""
        self._view: View | None = None
        self._topics: topics.Topics | None = None
        self._heard = 0
        self._begun: list[tuple[str, str]] = []
        """Topics that have no heading yet: the block id of the first message, and the label."""

    def view(self) -> View | None:
        """Return the conversation as it stands now; None where its file is gone.

        Raises UnreadableNote.
        """
        with self.lock:
            stamp = self._place.reader.stat(self.path)
            try:
                if stamp is None:
                    return None
                changed = stamp != self._stamp and self._read()
            except NotFound:  # it went between the look at its stamp and the reading
                return None
            changed |= self._hide()
            if changed:
                self._gather()
            changed |= self._take_summary()
            if changed or self._place.vectors.embedder_id != self._embedder:
                self._update_index()
            self._take_vectors()
            if self._view is None or changed:
                self._view = self._seen()
            return self._view

    # --- the file -------------------------------------------------------------------------

    def _read(self) -> bool:
        """Read the file; return whether anything changed."""
        raw, stamp = read_bytes(self._paths.absolute(self.path), self._place.reader, self.path)
        text = blank_private(decode(self.path, raw, stamp).text)
        self._stamp = None if 0 <= time.time_ns() - stamp.ctime_ns < UNSETTLED_NS else stamp
        if text == self._text and self._starts:
            return False
        found = parse_session(text)
        read = [one.message for one in found.messages]
        self._clean = {one: self._clean.get(one) or _clean(one) for one in read}
        before, self.messages = self.messages, [self._clean[one] for one in read]
        if self.messages[: len(before)] != before:
            self.edited, self._topics = True, None
        if found.segment != self.segment:
            self._topics = None
        self._text, self.meta, self.segment = text, found.meta, found.segment
        self._starts = [one.start for one in found.messages]
        self._segments = [one.segment for one in found.messages]
        return True

    def _hide(self) -> bool:
        """Look at what is hidden, if that changed; return whether it changes anything here."""
        hidden, before = self._place.hidden(self.agent), self._hidden
        if hidden is before:
            return False
        self._hidden = hidden
        self._names = frozenset(part for name, part in hidden if name in ("", self.session))
        return any(one[0] in ("", self.session, self._record) for one in before ^ hidden)

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

    def _update_index(self) -> None:
        """Give the index the messages that it lacks; make it anew where others changed."""
        vectors, least = self._place.vectors, self._place.config.auto_rag.min_message_tokens
        said = [
            (key_of(one) or f"n{number}", one, segment)
            for number, (one, segment) in enumerate(
                zip(self.messages, self._segments, strict=True), 1
            )
            if self._is_recallable(one)
        ]
        held = [(one.key, one.text, one.segment) for one in self._index.messages()]
        same = held == [(key, one.text, at) for key, one, at in said[: len(held)]]
        if not same or vectors.embedder_id != self._embedder:
            self._embedder = vectors.embedder_id  # vectors of two embedders cannot be compared
            self._index, held = SegmentIndex(self._embedder, least), []
            self._lacking, self._view = {}, None
        for key, one, segment in said[len(held) :]:
            tokens = count(one.text)
            link = f"[[#^{one.block}]]" if one.block else ""
            day = one.time[:10]
            self._index.add(
                SegmentMessage(key, one.role, one.text, tokens, one.speaker, segment, link, day)
            )
            if is_embedded(one.role, tokens, least=least) and (one.block or one.id):
                self._lacking[one.block or one.id] = key
                self._vector_state = None

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
        gone = {o.block for o in self.messages[self._first :] if not self._is_recallable(o)}
        gone |= self._names
        rolling = visible(still_said(rolling, self.messages), gone.__contains__)
        heard = self._topics
        turned = heard and (heard.topic.said < NEW or heard.doubt is not None)
        return View(
            agent=self.agent,
            session=self.session,
            segment=self.segment,
            path=self.path,
            messages=tuple(self._visible),
            rolling=rolling,
            index=self._index,
            language=self._language,
            topic_is_new=len(self._visible) < NEW or bool(turned),
            topics=self._headings(),
            refused=self._refused,
            ended=not self.meta.source and (self.meta.state != "open" or bool(self.meta.ended)),
            imported=bool(self.meta.source),
        )

    def _headings(self) -> tuple[str, ...]:
        """Return the last topics' headings, of words that are said in what may be recalled."""
        first = self._first
        found = topics.HEADING.findall(self._text, self._starts[first - 1] if first else 0)
        if not found:
            return ()
        said = "\n".join(one.text for one in self._visible).casefold()
        told = (one for one in found if all(w in said for w in one.casefold().split(", ")))
        return tuple(dict.fromkeys(told))[-TOPICS:]

    def fold(self, window: Window, most: int = FOLDED_AT_ONCE, report: Report = silent) -> int:
        """Fold what is due into the summary and save it, at most about so many messages.

        Return how many are still due. Raises what a write raises: the next fold tries again.
        """
        with self.work:
            self.tidy()
            waiting, done = len(self._due(self.rolling, window)), 0
            if waiting:
                self.hear()
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
            running = self.messages[self._first :]
            known = [at for at, one in enumerate(running, 1) if rolling.upto in (one.id, one.block)]
            if rolling.upto and known:
                later = [one for one in running[known[-1] :] if self._is_recallable(one)]
            else:
                until = rolling.updated if rolling.upto else ""
                later = [one for one in self._visible if not until or one.time > until]
            return due(later, "", window)

    def _folded(self, base: Rolling, window: Window) -> Rolling:
        """Return a summary with what is due in it, a few messages at a time as it grows."""
        leaving = self._due(base, window)[:FOLDED_AT_ONCE]
        for at in range(0, len(leaving), window.every):
            language = "" if base.messages else self._language
            batch = leaving[at : at + window.every]
            base = fold(base, batch, self._place.config.summary.max_tokens, language)
            if self._place.stopping.is_set():
                break
        return still_said(base, self.messages)

    def tidy(self) -> None:
        """Take out of all summaries what a person took out of the conversation's file by hand."""
        with self.work:
            with self.lock:
                if self.view() is None or not self.edited:
                    return
                self.edited = False
            try:
                for segment in range(1, self.segment + 1):
                    reason = "a person took out what it says"
                    self._write(lambda base: still_said(base, self.messages), reason, segment)
            except VaultMindError:
                self.edited = True
                raise

    def _write(self, update: Callable[[Rolling], Rolling], reason: str, segment: int = 0) -> None:
        """Change a segment's summary in its file."""

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            base = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
            new = update(base)
            return rewritten(text, new) if new != base else None

        if self._place.gate.keeps_records(self.agent):
            path = self._paths.rolling(self.agent, self.session, segment or self.segment)
            self._place.gate.save(path, change, Caller("agent", self.agent), reason)

    # --- topics ---------------------------------------------------------------------------

    def hear(self) -> None:
        """Hear what was not heard yet, and note which topics began."""
        with self.work:
            with self.lock:
                if self.view() is None:
                    return
                if self._topics is None:
                    self._topics, self._begun = topics.Topics(), []
                    self._heard = max(0, len(self._visible) - LOOKED_BACK)
                heard, waiting = self._topics, self._visible[self._heard :]
                self._heard = len(self._visible)
                self._view = None if waiting else self._view
            for message in waiting:
                if heard.hear(message, self._language) and heard.topic.source:
                    self._begun.append((heard.topic.source, heard.label()))

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


class Conversations:
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(
        self,
        reader: VaultReader,
        gate: Gate,
        hidden: Hidden,
        vectors: MessageVectors,
        config: Config,
    ) -> None:
        self._place = Surroundings(reader, gate, hidden, vectors, config)
        self._window = Window(
            config.context.sliding_window,
            every=config.summary.every,
            full_at=config.session.summarize_at,
        )
        """How much stays whole where nobody says more exactly: what the background folds by."""
        self._stopping = self._place.stopping
        self._shelf = Shelf(reader)
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._wake = threading.Condition()
        self._grown: dict[tuple[str, str], Window] = {}
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        session = session or self._shelf.latest(agent)
        return self._conversation(agent, session).view() if session else None

    def fold(self, view: View, window: Window, report: Report = silent) -> View:
        """Return the view with what is due folded into its summary, which is saved.

        What is too much to wait for is folded on in the background: the view says how much is
        `behind`.
        """
        conversation = self._conversation(view.agent, view.session)
        behind = conversation.fold(window, FOLDED_BY_ASKER, report)
        if behind:
            self.heard(view.agent, view.session, window)
        seen = conversation.view() or view
        return replace(seen, behind=behind) if behind else seen

    def heard(self, agent: str, session: str, window: Window | None = None) -> None:
        """Say that a session has grown: its topics and summary follow in the background."""
        with self._wake:
            if self._stopping.is_set():
                return
            self._grown[agent_name(agent), session] = window or self._window
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="follow", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until all that grew was followed and folded; return whether it is."""
        with self._wake:
            return self._wake.wait_for(lambda: not (self._grown or self._is_busy), timeout_seconds)

    def close(self) -> None:
        """Finish what is being written and stop."""
        with self._wake:
            self._stopping.set()
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _conversation(self, agent: str, session: str) -> Conversation:
        with self._lock:
            found = self._held.get((agent, session)) or Conversation(agent, session, self._place)
            self._held[agent, session] = found
            self._held.move_to_end((agent, session))
            while len(self._held) > 1 and (
                len(self._held) > HELD
                or sum(len(one.messages) for one in self._held.values()) > HELD_MESSAGES
            ):
                self._held.popitem(last=False)
            return found

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._grown or self._stopping.is_set())
                if self._stopping.is_set():
                    return
                agent, session = next(iter(self._grown))
                window = self._grown.pop((agent, session))
                self._is_busy = True
            try:
                self._follow(self._conversation(agent, session), window)
            except Exception:  # one odd session must not stop the others
                log.exception("the session %s of %s could not be followed", session, agent)
            with self._wake:
                self._is_busy = False
                self._wake.notify_all()

    def _follow(self, conversation: Conversation, window: Window) -> None:
        """Hear what is new of a conversation, head its topics, fold what left the window."""
        reader = self._place.reader
        rolling = reader.paths.rolling(conversation.agent, conversation.session, 1)
        stamp = reader.stat(conversation.path)
        is_small = stamp is None or (stamp.size < SMALL_BYTES and reader.stat(rolling) is None)
        if is_small or conversation.view() is None:
            return
        conversation.tidy()
        conversation.hear()
        conversation.write_headings()
        before = 0
        while (left := conversation.fold(window)) != before and not self._stopping.is_set():
            before = left


def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)
