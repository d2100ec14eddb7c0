"""One conversation in memory, kept as its files are: a look at their stamps tells what changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.errors import PathRefused, UnreadableNote
from vaultmind.redact import mask
from vaultmind.session.files import read_text
from vaultmind.session.recall.segment import SegmentIndex, SegmentMessage, is_embedded
from vaultmind.session.recall.triggers import language_of
from vaultmind.session.summary import Rolling, astray, parse_rolling, visible, without
from vaultmind.session.summary.rolling import Line
from vaultmind.session.talk.listening import NEW, Listening
from vaultmind.session.talk.means import Means
from vaultmind.session.talk.reading import Reading
from vaultmind.session.talk.view import View, key_of
from vaultmind.tokens import count
from vaultmind.types import Message, Progress
from vaultmind.vault.files import FileStat, read_bytes
from vaultmind.vault.parts import without_hidden

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

UNSETTLED_NS = 50_000_000
"""A file changed so shortly before it was read may change again within the same stamp."""
REPLACED_AT_END = 8
"""So many changed messages at the end are taken anew; for more the index is made anew."""
SAMPLE_MESSAGES, SAMPLE_CHARACTERS = 8, 1200
"""By which the conversation's language is told: of its newest messages."""


class Talk:
    """A session as it stands. `lock` is held for moments, `work` while it is heard or folded."""

    def __init__(self, agent: str, session: str, means: Means) -> None:
        paths = means.reader.paths
        self.agent, self.session, self.means = agent, session, means
        self.path = paths.session(agent, session)
        self.lock, self.work = threading.RLock(), threading.RLock()
        self.folded = Progress(0, 0, "summarising the conversation")
        """How far a fold under way is."""
        self.reading = Reading()
        self.listening = Listening()
        self.rolling = Rolling(session, agent)
        """The summary as it is folded on, with what is hidden today."""
        self.language = "en"
        self._stamp: FileStat | None = None
        self._rolling_stamp: FileStat | None = None
        self._rolling_text = ""
        self._rolling_segment = 0
        self._shown: Rolling | None = None
        """The summary without hidden parts and secrets; None: to be made anew."""
        self._segment = 0
        self._hidden: frozenset[tuple[str, str]] = frozenset()
        self._names: frozenset[str] = frozenset()
        self._index = SegmentIndex(min_tokens=means.settings.min_message_tokens)
        self._keys: list[str] = []
        """Of the messages that the index was given, by number."""
        self._lacking: dict[str, str] = {}
        """Keys of messages whose vector is still to come, by block id (or own id without)."""
        self._vector_state: object = None
        self._embedder = ""
        self._refused = ""
        """Why the summary's file cannot be read; empty where it can."""
        self._visible: list[Message] = []
        self._gathered = 0
        self._first = 0
        self._gone: set[str] = set()
        """Block ids of messages of the segment that may not be recalled."""
        self.stale = False
        """Whether the summary says what no message says any more, or lacks what one says again."""
        self.doubtful = True
        """Whether those of earlier segments may."""
        self.taken: dict[int, dict[str, Line]] = {}
        """What was taken out of the summary of each segment for that, by block id."""
        self._view: View | None = None

    @property
    def rolling_path(self) -> str:
        """Return the file of the running segment's summary."""
        return self.means.reader.paths.rolling(self.agent, self.session, self.reading.segment)

    @property
    def messages(self) -> list[Message]:
        """Return what may be recalled of the running segment. Under the lock, not to be kept."""
        return self._visible

    @property
    def is_astray(self) -> bool:
        """Tell whether a summary may say what the person took out of the file."""
        return self.stale or (self.doubtful and self.reading.segment > 1)

    def view(self) -> View | None:
        """Return the conversation as it stands now; None where its file is gone.

        Raises UnreadableNote.
        """
        with self.lock:
            stamp = self.means.reader.stat(self.path)
            if stamp is None:
                return None
            changed = [self._read(stamp), self._hide(), self._take_summary()]
            self._embed()
            if self._view is None or any(changed):
                self._view = self._seen()
            return self._view

    def recallable(self, message: Message) -> bool:
        """Tell whether a message is part of the conversation and not forgotten."""
        if message.asked or message.erased:
            return False
        return not self._names or not (message.block in self._names or message.id in self._names)

    def unfolded(self, rolling: Rolling | None = None, segment: int = 0) -> list[Message]:
        """Return what may be recalled of a segment and is not in its summary. Under the lock.

        The last message in the summary may be hidden or deleted by now: it is looked for among
        all, and then by its time.
        """
        rolling, segment = rolling or self.rolling, segment or self.reading.segment
        waiting: list[Message] = []
        messages, segments = self.reading.messages, self.reading.segments
        for number in range(len(messages) - 1, -1, -1):
            message = messages[number]
            if segments[number] != segment:
                continue
            if rolling.upto and rolling.upto in (message.id, message.block):
                return waiting[::-1]
            if self.recallable(message):
                waiting.append(message)
        waiting.reverse()
        until = _moment(rolling.updated) if rolling.upto else None
        if until is None:
            return waiting
        return [one for one in waiting if (_moment(one.time) or until) > until]

    def waits_for_vectors(self, messages: Sequence[Message]) -> bool:
        """Tell whether the vector of one of some messages is still to come."""
        with self.lock:
            return any((one.block or one.id) in self._lacking for one in messages)

    def heard(self) -> None:
        """Note that the topics were looked at: the next view says what came of it."""
        with self.lock:
            self._view = None

    def keep(self, rolling: Rolling, segment: int, text: str, stamp: FileStat | None) -> None:
        """Take a summary that was folded on, and the text and stamp of its file."""
        with self.lock:
            if segment == self.reading.segment:
                self.rolling, self._rolling_text, self._rolling_stamp = rolling, text, stamp
            self._view = self._shown = None

    def keep_unsaved(self, rolling: Rolling, segment: int) -> None:
        """Take a summary that could not be written to its file."""
        with self.lock:
            self.keep(rolling, segment, self._rolling_text, self._rolling_stamp)

    def vector_of(self, message: Message) -> Matrix | None:
        """Return a message's vector, if it is there. Under the lock."""
        return self._index.vector_of(key_of(message))

    # --- the file ------------------------------------------------------------------------

    def _read(self, stamp: FileStat) -> bool:
        """Read what was added to the file, if anything was; return whether that is anything new."""
        if stamp == self._stamp:
            return False
        reader = self.means.reader
        raw, stamp = read_bytes(reader.paths.absolute(self.path), reader, self.path)
        meta = self.reading.meta
        unchanged = self.reading.take(self.path, raw, stamp)
        self._stamp = None if 0 <= time.time_ns() - stamp.ctime_ns < UNSETTLED_NS else stamp
        segment, self._segment = self._segment, self.reading.segment
        if unchanged == len(self._keys) == len(self.reading.messages) and segment == self._segment:
            return meta != self.reading.meta  # it may have ended
        if unchanged < len(self._keys) or any(self.taken.values()):  # a person's hand, or undo
            self._shown, self.doubtful = None, True
        self._take_back(unchanged)
        self._add()
        self._gather(unchanged)
        return True

    def _take_back(self, unchanged: int) -> None:
        """Let the index forget messages that are no longer as they were."""
        if len(self._keys) - unchanged > REPLACED_AT_END:
            self._index = SegmentIndex(self._embedder, self.means.settings.min_message_tokens)
            self._lacking, unchanged = {}, 0
            self.listening = Listening()  # its labels may hold words that are gone
        for key in self._keys[unchanged:]:
            self._index.drop(key)
        del self._keys[unchanged:]

    def _add(self) -> None:
        """Give the index the messages that it lacks."""
        least = self.means.settings.min_message_tokens
        for number in range(len(self._keys), len(self.reading.messages)):
            message = self.reading.messages[number]
            key = key_of(message) or f"n{number + 1}"
            self._keys.append(key)
            if not self.recallable(message):
                continue
            tokens = count(message.text)
            link = f"[[#^{message.block}]]" if message.block else ""
            segment = self.reading.segments[number]
            self._index.add(
                SegmentMessage(
                    key=key,
                    role=message.role,
                    text=message.text,
                    tokens=tokens,
                    speaker=message.speaker,
                    segment=segment,
                    link=link,
                    day=message.time[:10],
                )
            )
            if is_embedded(message.role, tokens, least=least) and (message.block or message.id):
                self._lacking[message.block or message.id] = key
                self._vector_state = None

    def _gather(self, unchanged: int) -> None:
        """Bring what may be recalled of the running segment up to date."""
        first = self.reading.first_of_segment()
        if first != self._first or unchanged < self._gathered:
            self._visible, self._gone, self._gathered = [], set(), first
        self._first = first
        for message in self.reading.messages[self._gathered :]:
            if self.recallable(message):
                self._visible.append(message)
            else:
                self._gone.add(message.block)
        self._gathered = len(self.reading.messages)
        self.language = self._told_language()

    def _told_language(self) -> str:
        """Return the language of the newest messages, the user's before others'."""
        newest = [one for one in self._visible[-2 * SAMPLE_MESSAGES :] if one.text]
        users = [one.text for one in newest if one.role == "user"]
        said = users or [one.text for one in newest if one.role == "assistant"]
        sample = "\n".join(one[:SAMPLE_CHARACTERS] for one in said[-SAMPLE_MESSAGES:])
        return language_of(sample[-SAMPLE_CHARACTERS:], self.language) if sample else self.language

    # --- what is hidden, the summary, the vectors ----------------------------------------

    def _hide(self) -> bool:
        """Look at the tombstones, if they changed; return whether that changes anything here."""
        hidden = self.means.hidden(self.agent)
        if hidden is self._hidden:
            return False
        record = self.rolling_path.removesuffix(".md")
        parts = {one for one in hidden if one[0] in ("", self.session, record)}
        before = {one for one in self._hidden if one[0] in ("", self.session, record)}
        self._hidden = hidden
        if parts == before:
            return False
        self._shown = None
        names, self._names = self._names, frozenset(n for r, n in parts if r != record)
        if names - self._names:
            self._take_back(0)
            self._add()
        elif self._names != names:
            for key, message in zip(self._keys, self.reading.messages, strict=True):
                if not self.recallable(message):
                    self._index.drop(key)
        self._gather(0)
        return True

    def _take_summary(self) -> bool:
        """Read the summary of the running segment, if its file changed.

        One that is refused, as a link is, counts as none: the messages are there without it.
        """
        path, text, why = self.rolling_path, "", ""
        segment = self.reading.segment
        try:
            stamp = self.means.reader.stat(path)
            if (stamp, segment) == (self._rolling_stamp, self._rolling_segment):
                return False
            text, why = read_text(self.means.reader, path)
        except (PathRefused, UnreadableNote) as error:
            stamp, why = None, error.reason
            if (why, segment) == (self._refused, self._rolling_segment):
                return False
        self._refused = why
        self.rolling = parse_rolling(text) if text.strip() else Rolling(self.session, self.agent)
        self._rolling_text, self._rolling_stamp = text, stamp
        self._rolling_segment, self._shown = segment, None
        return True

    def _embed(self) -> None:
        """Take vectors that are there by now."""
        vectors = self.means.vectors
        if vectors.embedder_id != self._embedder:
            before, self._embedder = self._embedder, vectors.embedder_id
            self._index.measure_by(self._embedder)
            if before:  # vectors of two embedders cannot be compared
                self._index = SegmentIndex(self._embedder, self.means.settings.min_message_tokens)
                self._keys, self._lacking, self._view = [], {}, None
                self._add()
        state = vectors.vector_state
        if not self._lacking or state == self._vector_state:
            return
        self._vector_state = state
        for name, vector in vectors.message_vectors(self.path, self._lacking.keys()).items():
            self._index.give(self._lacking.pop(name), vector)

    def _seen(self) -> View:
        meta = self.reading.meta
        began = len(self._visible) < NEW
        return View(
            agent=self.agent,
            session=self.session,
            segment=self.reading.segment,
            path=self.path,
            started=meta.started,
            messages=tuple(self._visible),
            rolling=self._shown_rolling(),
            index=self._index,
            language=self.language,
            topic_is_new=began or self.listening.is_new(self.reading.segment),
            refused=self._refused,
            ended=not meta.source and (meta.state != "open" or bool(meta.ended)),
            imported=bool(meta.source),
        )

    def _shown_rolling(self) -> Rolling:
        """Return the summary without what is hidden or no longer said, and without secrets."""
        if self._shown is None:
            record = self.rolling_path.removesuffix(".md")
            hidden = {part for where, part in self._hidden if where == record}
            text = self._rolling_text
            text = without_hidden(text, hidden.__contains__) if hidden else text
            text = mask(text).text
            shown = self.rolling if text == self._rolling_text else parse_rolling(text)
            self._shown = without(shown, self._astray())
        gone = self._gone | self._names
        return visible(self._shown, gone.__contains__) if gone else self._shown

    def _astray(self) -> frozenset[str]:
        """Return what of the summary no message says any more; note whether it should be saved."""
        messages, eyes = self.reading.messages, self.means.embedder
        gone = astray(self.rolling, messages, eyes)
        taken = Rolling(lines=tuple(self.taken.get(self.reading.segment, {}).values()))
        self.stale = bool(gone) or len(astray(taken, messages, eyes)) < len(taken.lines)
        return gone


def _moment(time: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.astimezone()
