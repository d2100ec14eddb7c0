"""The conversations in memory, kept as their files are: messages, and one sliding summary each.

The file is the truth: a look at its stamp tells whether it changed. What has left the window is
folded into the summary: by who asks, or in the background.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from vaultmind.config import Config
from vaultmind.errors import NotFound, PathRefused, UnreadableNote, VaultMindError
from vaultmind.index.words.language import detect
from vaultmind.memory.gate import Gate
from vaultmind.ports import MessageVectors
from vaultmind.redact import mask
from vaultmind.session.files import Shelf, read_text, recallable
from vaultmind.session.recall import SegmentIndex
from vaultmind.session.summary import (
    Rolling,
    Window,
    due,
    fold,
    parse_rolling,
    rendered,
    still_said,
    unfolded,
)
from vaultmind.types import Caller, Message
from vaultmind.vault.files import FileText, VaultReader, decode, read_bytes
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import agent_name
from vaultmind.vault.session_meta import SessionMeta
from vaultmind.vault.transcript import parse_session

HELD = 8
"""Conversations that are kept in memory."""
SMALL_BYTES = 1000
"""A smaller file holds too few messages for a summary: it is not even read."""
FOLDED_AT_ONCE, FOLDED_BY_ASKER = 120, 360
"""Messages that are folded and saved together; and for whose folding who asks waits: the rest is
folded in the background."""
UNSETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
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
    ended: bool = False
    """Whether it is one of our own that is over. An imported one was never other, and is not."""
    behind: int = 0
    """Messages that are still being folded into the summary."""


class Conversation:
    """A session as it stands. `lock` is held for moments, `work` while it is folded."""

    def __init__(self, agent: str, session: str, place: Conversations) -> None:
        self.agent, self.session, self._place = agent, session, place
        self._paths = place.reader.paths
        self.path = self._paths.session(agent, session)
        self.lock, self.work = threading.RLock(), threading.RLock()
        self.meta, self.segment = SessionMeta("", ""), 1
        self.messages: list[Message] = []
        """Of the running segment, those that may be recalled, secrets taken out."""
        self.rolling = Rolling(session, agent)
        """The running segment's summary, with what is hidden today."""
        self.edited = True
        """Whether the file may have changed other than at its end since summaries were tidied."""
        self._all: list[Message] = []
        """The same of all segments."""
        self._text, self._stamp, self._language = "", object(), "en"
        self._hidden: frozenset[tuple[str, str]] = frozenset()
        self._index, self._vector_state = SegmentIndex(), object()
        self._summary: tuple[object, int, str] = (None, 0, "")
        """Stamp, segment and text of the summary's file as it was read."""
        self._view: View | None = None

    def view(self) -> View | None:
        """Return the conversation as it stands now; None where its file is gone.

        Raises UnreadableNote.
        """
        with self.lock:
            stamp, hidden = self._place.reader.stat(self.path), self._place.hidden(self.agent)
            if stamp is None:
                return None
            try:
                changed = stamp != self._stamp or hidden is not self._hidden
                changed = changed and self._read(hidden)
            except NotFound:  # it went between the look at its stamp and the reading
                return None
            changed |= self._take_summary()
            self._update_index()
            if self._view is None or changed or self._view.index is not self._index:
                self._view = self._seen()
            return self._view

    # --- the file -------------------------------------------------------------------------

    def _read(self, hidden: frozenset[tuple[str, str]]) -> bool:
        """Read the file; return whether anything changed."""
        raw, stamp = read_bytes(self._paths.absolute(self.path), self._place.reader, self.path)
        text = decode(self.path, raw, stamp).text
        self._stamp = None if 0 <= time.time_ns() - stamp.ctime_ns < UNSETTLED_NS else stamp
        if text == self._text and hidden is self._hidden and self._view:
            return False
        found = parse_session(text)

        def hides(agent: str, record: str, part: str) -> bool:
            return (record, part) in hidden or ("", part) in hidden

        shown = recallable(self.agent, self.path, text, hides, transcript=found, unasked=False)
        self._all = [_clean(one) for one, _ in shown]
        self.edited |= not text.startswith(self._text)
        self._text, self._hidden, self.meta, self.segment = text, hidden, found.meta, found.segment
        self.messages = [_clean(one) for one, segment in shown if segment == self.segment]
        newest = [one for one in self.messages[-2 * SAMPLE_MESSAGES :] if one.text]
        users = [one.text for one in newest if one.role == "user"]
        said = users or [one.text for one in newest if one.role == "assistant"]
        sample = "\n".join(one[:SAMPLE_CHARACTERS] for one in said[-SAMPLE_MESSAGES:])
        if sample:
            self._language = detect(sample[-SAMPLE_CHARACTERS:], self._language)
        return True

    def _update_index(self) -> None:
        """Give the index what it lacks: messages, then vectors that are there by now.

        It is made anew where other messages changed: vectors of two embedders differ, too.
        """
        vectors, held = self._place.vectors, self._index.held
        if held != self._all[: len(held)] or vectors.embedder_id != self._index.embedder:
            least = self._place.config.auto_rag.min_message_tokens
            self._index = SegmentIndex(vectors.embedder_id, least)
        for one in self._all[len(self._index.held) :]:
            self._index.add(one)
            self._vector_state = object()
        lacking = self._index.lacking
        if lacking and vectors.vector_state != self._vector_state:
            self._vector_state = vectors.vector_state
            for name, vector in vectors.message_vectors(self.path, lacking).items():
                self._index.give(name, vector)

    # --- the summary ----------------------------------------------------------------------

    def _take_summary(self) -> bool:
        """Read the summary of the running segment, if its file changed.

        One that cannot be read, as a link is, counts as none: the messages are there without it.
        """
        path = self._paths.rolling(self.agent, self.session, self.segment)
        stamp: object = None
        with suppress(PathRefused, UnreadableNote):
            stamp = self._place.reader.stat(path)
        if (stamp, self.segment) == self._summary[:2]:
            return False
        text = read_text(self._place.reader, path)[0]
        self.rolling = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
        self._summary = stamp, self.segment, text
        return True

    def _seen(self) -> View:
        """Return the view; the summary without what is hidden or no longer said, and secrets."""
        record = self._paths.rolling(self.agent, self.session, self.segment).removesuffix(".md")
        hidden = {part for name, part in self._hidden if name == record}
        text = self._summary[2]
        masked = mask(without_hidden(text, hidden.__contains__) if hidden else text).text
        return View(
            agent=self.agent,
            session=self.session,
            segment=self.segment,
            path=self.path,
            messages=tuple(self.messages),
            rolling=self._said(self.rolling if masked == text else parse_rolling(masked)),
            index=self._index,
            language=self._language,
            ended=not self.meta.source and (self.meta.state != "open" or bool(self.meta.ended)),
        )

    def _said(self, rolling: Rolling) -> Rolling:
        """Return a summary without what no message says that may be recalled."""
        return still_said(rolling, self._all)

    def fold(self, window: Window, most: int = FOLDED_AT_ONCE) -> int:
        """Fold what is due into the summary and save it, at most about so many messages.

        Return how many are still due. Raises what a write raises: the next fold tries again.
        """
        with self.work:
            self.tidy()
            waiting, done = len(self._due(self.rolling, window)), 0
            while done < min(most, waiting) and not self._place.stopping.is_set():
                self._write(lambda base: self._folded(base, window), "a conversation is summarised")
                done += FOLDED_AT_ONCE
            return len(self._due(self.rolling, window))

    def _due(self, rolling: Rolling, window: Window) -> Sequence[Message]:
        """Return what is to be folded now: what the summary lacks and has left the window.

        The last message in the summary may be hidden or deleted by now: then its time tells.
        """
        with self.lock:
            if not self.view():
                return ()
            later = unfolded(self.messages, rolling.upto)
            if rolling.upto and len(later) == len(self.messages):
                later = [one for one in later if one.time > rolling.updated]
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
        return self._said(base)

    def tidy(self) -> None:
        """Take out of all summaries what a person took out of the conversation's file by hand."""
        with self.work:
            with self.lock:
                if self.view() is None or not self.edited:
                    return
                self.edited = False
            try:
                for segment in range(1, self.segment + 1):
                    self._write(self._said, "a person took out what it says", segment)
            except VaultMindError:
                self.edited = True
                raise

    def _write(self, update: Callable[[Rolling], Rolling], reason: str, segment: int = 0) -> None:
        """Change a segment's summary in its file."""

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            base = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
            new = update(base)
            return rendered(new) if new != base else None

        if self._place.gate.keeps_records(self.agent):
            path = self._paths.rolling(self.agent, self.session, segment or self.segment)
            self._place.gate.save(path, change, Caller("agent", self.agent), reason)


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
        self.reader, self.gate, self.hidden = reader, gate, hidden
        self.vectors, self.config = vectors, config
        self.stopping = threading.Event()
        self._window = Window(
            config.context.sliding_window,
            every=config.summary.every,
            full_at=config.session.summarize_at,
        )
        """How much stays whole where nobody says more exactly: what the background folds by."""
        self._shelf = Shelf(reader)
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Conversation] = OrderedDict()
        self._grown: dict[tuple[str, str], Window] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="follow")
        self._following: Future[None] | None = None
        """The last that was asked for."""

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        session = session or self._shelf.latest(agent)
        return self._conversation(agent, session).view() if session else None

    def fold(self, view: View, window: Window) -> View:
        """Return the view with what is due folded into its summary, which is saved.

        What is too much to wait for is folded on in the background: the view says how much is
        `behind`.
        """
        conversation = self._conversation(view.agent, view.session)
        behind = conversation.fold(window, FOLDED_BY_ASKER)
        if behind:
            self.heard(view.agent, view.session, window)
        seen = conversation.view() or view
        return replace(seen, behind=behind) if behind else seen

    def heard(self, agent: str, session: str, window: Window | None = None) -> None:
        """Say that a session has grown: its summary follows in the background."""
        key = agent_name(agent), session
        with self._lock:
            if self.stopping.is_set():
                return
            waits = key in self._grown
            self._grown[key] = window or self._window
            if not waits:
                self._following = self._pool.submit(self._follow, *key)

    def settle(self, timeout_seconds: float) -> bool:
        """Wait until all that grew was followed and folded; return whether it is."""
        with self._lock:
            waiting = [self._following] if self._following else []
        return not wait(waiting, timeout_seconds).not_done

    def close(self) -> None:
        """Finish what is being written and stop."""
        with self._lock:
            self.stopping.set()
        self._pool.shutdown(cancel_futures=True)

    def _conversation(self, agent: str, session: str) -> Conversation:
        with self._lock:
            found = self._held.get((agent, session)) or Conversation(agent, session, self)
            self._held[agent, session] = found
            self._held.move_to_end((agent, session))
            while len(self._held) > HELD:
                self._held.popitem(last=False)
            return found

    def _follow(self, agent: str, session: str) -> None:
        """Fold what left a conversation's window."""
        with self._lock:
            window = self._grown.pop((agent, session))
        conversation, before = self._conversation(agent, session), 0
        try:
            stamp = self.reader.stat(conversation.path)
            rolling = self.reader.stat(self.reader.paths.rolling(agent, session, 1))
            is_small = stamp is None or (stamp.size < SMALL_BYTES and rolling is None)
            if is_small or conversation.view() is None:
                return
            conversation.tidy()
            while (left := conversation.fold(window)) != before and not self.stopping.is_set():
                before = left
        except Exception:  # one odd session must not stop the others
            log.exception("the session %s of %s could not be followed", session, agent)


@lru_cache(maxsize=20_000)
def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)
