"""The conversations in memory, kept as their files are: messages, and one sliding summary each.

The file is the truth: a look at its stamp tells whether it changed. What has left the window is
folded into the summary: by who asks, or in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from vaultmind.config import Config
from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.memory.gate import Gate
from vaultmind.polling import Worker
from vaultmind.redact import mask
from vaultmind.session.files import Shelf, read_text
from vaultmind.session.sentences import language_of
from vaultmind.session.summary import (
    Rolling,
    due,
    fold,
    parse_rolling,
    rendered,
    still_said,
)
from vaultmind.types import Caller, Message
from vaultmind.vault.files import FileText
from vaultmind.vault.parts import without_hidden
from vaultmind.vault.paths import agent_name

HELD = 8
"""Conversations that are kept in memory."""
FOLDED_AT_ONCE, FOLDED_BY_ASKER = 120, 360
"""Messages that are folded and saved together; and for whose folding who asks waits: the rest is
folded in the background."""


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
    said: tuple[Message, ...]
    """The whole session, all segments."""
    language: str
    """Of the conversation: `en` where it cannot be told."""
    ended: bool = False
    """Whether it is one of our own that is over. An imported one was never other, and is not."""


class Conversation:
    """A session as it stands. `lock` is held for moments, `work` while it is folded."""

    def __init__(self, place: Conversations, agent: str, session: str) -> None:
        self.agent, self.session, self._place = agent, session, place
        self._paths = place.reader.paths
        self.path = self._paths.session(agent, session)
        self.lock, self.work = threading.RLock(), threading.RLock()
        self._edited = True
        """Whether the file may have changed other than at its end since summaries were tidied."""
        self._text, self._segment = "", 1
        """What was read last, and in which segment it ends."""
        self._all: tuple[Message, ...] = ()
        self._seen: object = None
        """Of what the view was made: the stamps of its files, and what is hidden."""
        self._view: View | None = None

    def view(self) -> View | None:
        """Return the conversation as it stands now; None where its file is gone.

        Raises UnreadableNote.
        """
        with self.lock:
            hidden = self._place.gate.hiding.hidden(self.agent)
            stamp = self._place.reader.stat(self.path)
            if self._view is None or self._seen != (stamp, hidden, self._stamp()):
                with suppress(NotFound):
                    self._view = None
                    self._view = self._read(hidden)
                    self._seen = stamp, hidden, self._stamp()
            return self._view

    def _stamp(self) -> object:
        """Return the stamp of the segment's summary; one that is a link counts as none."""
        with suppress(PathRefused, UnreadableNote):
            path = self._paths.rolling(self.agent, self.session, self._segment)
            return self._place.reader.stat(path)
        return None

    def _read(self, hidden: frozenset[tuple[str, str]]) -> View:
        """Read the files; of the summary what is neither hidden nor gone."""
        shelf = self._place.shelf
        file, found = shelf.file(self.agent, self.session)

        def hides(agent: str, record: str, part: str) -> bool:
            return (record, part) in hidden or ("", part) in hidden

        kept = shelf.recallable(self.agent, self.session, hides, unasked=False)
        shown = [(_clean(one), at) for one, at in kept]
        self._edited |= not file.text.startswith(self._text)
        self._text, self._segment = file.text, found.segment
        self._all = tuple(one for one, _ in shown)
        messages = tuple(one for one, at in shown if at == found.segment)
        path = self._paths.rolling(self.agent, self.session, found.segment)
        gone = {part for name, part in hidden if name == path.removesuffix(".md")}
        summary = read_text(self._place.reader, path)[0]
        summary = mask(without_hidden(summary, gone.__contains__) if gone else summary).text
        return View(
            agent=self.agent,
            session=self.session,
            segment=found.segment,
            path=self.path,
            messages=messages,
            rolling=self._said(parse_rolling(summary)),
            said=self._all,
            language=language_of(messages),
            ended=not found.meta.source and (found.meta.state != "open" or bool(found.meta.ended)),
        )

    # --- the summary ----------------------------------------------------------------------

    def _said(self, rolling: Rolling) -> Rolling:
        """Return a summary without what no message says that may be recalled."""
        return still_said(rolling, self._all)

    def fold(self, room: int | None = None, most: int = FOLDED_AT_ONCE) -> int:
        """Fold what is due into the summary and save it, at most about so many messages.

        Return how many are still due: see `due`. Raises what a write raises: the next fold tries
        again.
        """
        with self.work:
            self.tidy()
            for _ in range(0, min(most, len(self._due(room))), FOLDED_AT_ONCE):
                self._write(lambda base: self._folded(base, room), "a conversation is summarised")
            return len(self._due(room))

    def _due(self, room: int | None, rolling: Rolling | None = None) -> Sequence[Message]:
        view, config = self.view(), self._place.config
        return due(view.messages, rolling or view.rolling, config, room) if view else ()

    def _folded(self, base: Rolling, room: int | None) -> Rolling:
        """Return a summary with what is due in it, a few messages at a time as it grows."""
        leaving, config = self._due(room, base)[:FOLDED_AT_ONCE], self._place.config.summary
        for at in range(0, len(leaving), config.every):
            language = "" if base.messages else language_of(leaving)
            base = fold(base, leaving[at : at + config.every], config.max_tokens, language)
        return self._said(base)

    def tidy(self) -> None:
        """Take out of all summaries what a person took out of the conversation's file by hand."""
        view = self.view()
        if view and self._edited:
            for segment in range(1, view.segment + 1):
                self._write(self._said, "a person took out what it says", segment)
            self._edited = False

    def _write(self, update: Callable[[Rolling], Rolling], reason: str, segment: int = 0) -> None:
        """Change a segment's summary in its file."""

        def change(file: FileText | None) -> str | None:
            base = parse_rolling(file.text if file else "")
            base = replace(base, session=self.session, agent=self.agent)
            new = update(base)
            return rendered(new) if new != base else None

        if self._place.gate.keeps_records(self.agent):
            path = self._paths.rolling(self.agent, self.session, segment or self._segment)
            self._place.gate.save(path, change, Caller("agent", self.agent), reason)


class Conversations(Worker):
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(self, shelf: Shelf, gate: Gate, config: Config) -> None:
        super().__init__("follow")
        self.shelf, self.gate, self.config = shelf, gate, config
        self.reader = shelf.reader
        self._conversation = lru_cache(HELD)(partial(Conversation, self))

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        session = session or self.shelf.latest(agent)
        return self._conversation(agent, session).view() if session else None

    def fold(self, view: View, room: int | None) -> View:
        """Return the view with what is due folded into its summary, which is saved: see `due`.

        What is too much to wait for is folded in the background.
        """
        conversation = self._conversation(view.agent, view.session)
        if conversation.fold(room, FOLDED_BY_ASKER):
            self.heard(view.agent, view.session)
        return conversation.view() or view

    def heard(self, agent: str, session: str, left: int = 0) -> None:
        """Say that a session has grown: its summary follows in the background.

        A part at a time, so that who asks goes in between, while less than before is `left`.
        """

        def follow() -> None:
            still = self._conversation(agent, session).fold()
            if still not in (0, left):
                self.heard(agent, session, still)

        self.then(follow)


@lru_cache(maxsize=20_000)
def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)
