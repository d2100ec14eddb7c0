"""The conversations in memory, kept as their files are: messages, and one sliding summary each.

The files are the truth: a view is made anew when one of them has changed. What has left the window
is folded into the summary: by who asks, or in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from vaultmind.config import Config
from vaultmind.errors import NotFound
from vaultmind.memory.forget.hiding import Name
from vaultmind.memory.gate import Gate
from vaultmind.polling import Worker
from vaultmind.redact import mask
from vaultmind.session.files import Shelf, read_text
from vaultmind.session.sentences import language_of
from vaultmind.session.summary import Rolling, due, fold, parse_rolling, rendered, still_said
from vaultmind.types import Caller, Message
from vaultmind.vault.files import FileStat, FileText
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


class Conversations(Worker):
    """Holds conversations as they stand in their files. Safe to use from threads."""

    def __init__(self, shelf: Shelf, gate: Gate, config: Config) -> None:
        super().__init__("follow")
        self.shelf, self.gate, self.config = shelf, gate, config
        self.reader, self._paths = shelf.reader, shelf.reader.paths
        self._made = lru_cache(HELD)(self._view)
        self._folding = threading.RLock()

    def view(self, agent: str, session: str = "") -> View | None:
        """Return a conversation as it stands now; where none is named, the agent's newest in which
        something was said.

        None where there is none. Raises BadArgument, UnreadableNote.
        """
        agent = agent_name(agent)
        with suppress(NotFound):
            if session := session or self.shelf.latest(agent):
                file, found = self.shelf.file(agent, session)
                summary = self._paths.rolling(agent, session, found.segment)
                text, hidden = read_text(self.reader, summary)[0], self.gate.hiding.hidden(agent)
                return self._made(agent, session, file.stat, text, hidden)
        return None

    def _view(
        self, agent: str, session: str, stat: FileStat, summary: str, hidden: frozenset[Name]
    ) -> View:
        """Return a conversation and, of its summary, what is neither hidden nor gone."""
        found, hides = self.shelf.read(agent, session), self.gate.hiding.hider(agent)
        record = self._paths.rolling(agent, session, found.segment).removesuffix(".md")
        kept = self.shelf.recallable(agent, session, lambda _, *part: hides(*part), unasked=False)
        shown = [(_clean(one), at) for one, at in kept]
        said = tuple(one for one, _ in shown)
        messages = tuple(one for one, at in shown if at == found.segment)
        summary = mask(without_hidden(summary, partial(hides, record))).text
        return View(
            agent=agent,
            session=session,
            segment=found.segment,
            path=self._paths.session(agent, session),
            messages=messages,
            rolling=still_said(parse_rolling(summary), said),
            said=said,
            language=language_of(messages),
            ended=not found.meta.source and (found.meta.state != "open" or bool(found.meta.ended)),
        )

    # --- the summary ----------------------------------------------------------------------

    def fold(self, view: View, room: int | None) -> View:
        """Return the view with what is due folded into its summary, which is saved: see `due`.

        What is too much to wait for is folded in the background. Raises what a write raises: the
        next fold tries again.
        """
        if self._fold(view.agent, view.session, room, FOLDED_BY_ASKER):
            self.heard(view.agent, view.session)
        return self.view(view.agent, view.session) or view

    def heard(self, agent: str, session: str, left: int = 0) -> None:
        """Say that a session has grown: its summary follows in the background.

        A part at a time, so that who asks goes in between, while less than before is `left`.
        """

        def follow() -> None:
            still = self._fold(agent, session)
            if still not in (0, left):
                self.heard(agent, session, still)

        self.then(follow)

    def _fold(
        self, agent: str, session: str, room: int | None = None, most: int = FOLDED_AT_ONCE
    ) -> int:
        """Fold at most about so many messages that are due; return how many still are.

        First all summaries lose what a person took out of the conversation's file by hand.
        """
        with self._folding:
            if not (view := self.view(agent, session)):
                return 0
            tidy = partial(still_said, messages=view.said)
            for segment in range(1, view.segment + 1):
                self._write(view, segment, tidy, "a person took out what it says")

            def waiting(rolling: Rolling) -> Sequence[Message]:
                return due(view.messages, rolling, self.config, room)

            def folded(rolling: Rolling) -> Rolling:
                leaving, of = waiting(rolling)[:FOLDED_AT_ONCE], self.config.summary
                for at in range(0, len(leaving), of.every):
                    language = "" if rolling.messages else language_of(leaving)
                    rolling = fold(rolling, leaving[at : at + of.every], of.max_tokens, language)
                return still_said(rolling, view.said)

            for _ in range(0, min(most, len(waiting(view.rolling))), FOLDED_AT_ONCE):
                self._write(view, view.segment, folded, "a conversation is summarised")
            after = self.view(agent, session)
            return len(waiting(after.rolling)) if after else 0

    def _write(
        self, view: View, segment: int, update: Callable[[Rolling], Rolling], why: str
    ) -> None:
        """Change a segment's summary in its file."""

        def change(file: FileText | None) -> str | None:
            base = parse_rolling(file.text if file else "")
            session = f"[[{view.path.removesuffix('.md')}]]"  # as Obsidian has a link
            base = replace(base, session=session, agent=view.agent)
            new = update(base)
            return rendered(new) if new != base else None

        if self.gate.keeps_records(view.agent):
            path = self._paths.rolling(view.agent, view.session, segment)
            self.gate.save(path, change, Caller("agent", view.agent), why)


@lru_cache(maxsize=20_000)
def _clean(message: Message) -> Message:
    """Return a message without secrets, which a person may have typed into the file."""
    text = mask(message.text).text
    return message if text == message.text else replace(message, text=text)
