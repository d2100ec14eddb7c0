"""The end of a session: what it leaves for the next one, then the mark that it has ended.

The active context is written first. A kill between the two leaves a session that is still open:
it is ended again by the same rule, and the same active context is written.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from vaultmind.errors import BadArgument, NotFound, PathRefused, UnreadableNote
from vaultmind.index.language import detect
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.session.opened import is_open, last_time
from vaultmind.session.reading import Hides, plain_text
from vaultmind.session.recallable import of_transcript, session_of
from vaultmind.session.store import Records, iso, parse_time
from vaultmind.session.summary import (
    Rolling,
    active_context,
    astray,
    fold,
    is_slight,
    parse_rolling,
    unfolded,
    visible,
    without,
)
from vaultmind.tokens import count
from vaultmind.types import Caller, Message
from vaultmind.vault.edits import newline_of, set_property, with_newlines
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.properties import front_matter
from vaultmind.vault.transcript import Transcript, parse_session

MAX_TOKENS = 300
"""Size of an active context."""
TAIL = 60
"""Messages that no sliding summary holds and that are read whole; more are folded before, ..."""
BATCH = 24
"""... so many at a time."""
SAMPLE = 40
"""Messages by which the language is told."""

_BLOCK_AT_END = re.compile(r" \^([A-Za-z0-9-]+)$", re.MULTILINE)
log = logging.getLogger(__name__)


def nothing_hidden(agent: str, record: str, part: str) -> bool:
    """Hide nothing."""
    return False


class Endings:
    """Ends sessions. Safe to use from threads."""

    def __init__(self, gate: Records, reader: VaultReader, hides: Hides, clock: Clock) -> None:
        self._gate = gate
        self._reader = reader
        self._paths = reader.paths
        self._hides = hides
        self._clock = clock

    def end(self, agent: str, path: str, when: datetime, caller: Caller) -> bool:
        """Write an agent's active context and mark a session as ended; tell whether it is.

        Raises NotFound, UnreadableNote, WriteConflict, WriteFailed.
        """
        file = self._reader.read(path)
        transcript = parse_session(file.text)
        told = of_transcript(agent, path, file.text, transcript, self._hides)
        self._tell(agent, file, transcript, told, caller)
        every = (placed.message.text for placed in transcript.messages)
        label = _Label("\n".join(every), "\n".join(one.text for one, _ in told))
        self._gate.save(path, _ended(when, label), caller, "a session ends")
        return not is_open(parse_session(self._reader.read(path).text))

    def _tell(
        self,
        agent: str,
        file: FileText,
        transcript: Transcript,
        told: Sequence[tuple[Message, int]],
        caller: Caller,
    ) -> None:
        """Write what a session leaves, unless nothing was said or a later one left something.

        One that says nothing worth keeping leaves what the one before it left.
        """
        text, slight = self._left(agent, file.path, told)
        if not text:
            return
        now = self._clock()
        change = _telling(text, file.path, last_time(transcript, now), now, slight=slight)
        active = self._paths.active_context(agent)
        try:
            self._gate.save(active, change, caller, "what a session leaves for the next")
        except (PathRefused, UnreadableNote) as error:  # it will not be otherwise next time
            log.warning("the active context was not written: %s", error)

    def _left(self, agent: str, path: str, told: Sequence[tuple[Message, int]]) -> tuple[str, bool]:
        """Return an active context's body, empty where nothing was said, and whether it says
        nothing for which an earlier one should go.
        """
        sample = " \n".join(one.text for one, _ in told[:SAMPLE] if one.role == "user")
        language = detect(sample) or "en"
        whole = Rolling(session=session_of(path), agent=agent, language=language)
        rest: list[Message] = []
        for segment in sorted({n for _, n in told}):
            messages = [one for one, n in told if n == segment]
            rolling = self._rolling(agent, session_of(path), segment, messages)
            rolling, tail = _folded(rolling, messages, rolling.language or language)
            lines = tuple(replace(one, at=one.at + whole.messages) for one in rolling.lines)
            whole = replace(
                whole,
                language=rolling.language or language,
                messages=whole.messages + rolling.messages,
                lines=whole.lines + lines,
                topics=whole.topics + rolling.topics,
            )
            rest += tail
        body = active_context(rest, whole, MAX_TOKENS, whole.language)
        prefix = session_of(path).replace("_", "-")
        slight = is_slight(rest, whole, whole.language)
        return mask(_BLOCK_AT_END.sub(rf" ^{prefix}-\1", body)).text, slight

    def _rolling(
        self, agent: str, session: str, segment: int, messages: Sequence[Message]
    ) -> Rolling:
        """Return a segment's sliding summary as it may be shown; an empty one if it is astray.

        Without what the person took out of the session's file by hand.
        """
        path = self._paths.rolling(agent, session, segment)
        try:
            rolling = parse_rolling(self._reader.read(path).text)
        except (NotFound, PathRefused, UnreadableNote):
            return Rolling(language="")
        names = {name for one in messages for name in (one.id, one.block) if name}
        if rolling.upto not in names:
            return Rolling(language="")
        record = path.removesuffix(".md")

        def hides(source: str) -> bool:
            return source not in names

        lines = [one for one in rolling.lines if not self._hides(agent, record, one.block)]
        rolling = visible(replace(rolling, lines=tuple(lines)), hides)
        sources = {one.source for one in rolling.lines}
        said = [_masked(one) if one.block in sources else one for one in messages]
        return without(rolling, astray(rolling, said))


def _masked(message: Message) -> Message:
    """Return a message as a summary was made of it."""
    return replace(message, text=mask(message.text).text)


def _folded(
    rolling: Rolling, messages: Sequence[Message], language: str
) -> tuple[Rolling, Sequence[Message]]:
    """Return the summary with all but the last messages in it, and these."""
    rest = unfolded(messages, rolling.upto)
    while len(rest) > TAIL + BATCH:
        rolling, rest = fold(rolling, rest[:BATCH], language=language), rest[BATCH:]
    return rolling, rest


def _telling(body: str, path: str, said: datetime, now: datetime, *, slight: bool) -> Change:
    """Return the change that makes a body the active context, under a person's own properties.

    One that a later session left stays, unless its date is in the future: a clock was wrong. A
    slight one takes the place of none that says anything.
    """
    values: dict[str, str | int] = {
        "session": f"[[{path.removesuffix('.md')}]]",
        "date": iso(said),
        "tokens": count(plain_text(body)),
    }

    def change(file: FileText | None) -> str | None:
        before = file.text if file else ""
        found = front_matter(before)
        known = _date(found.properties.get("date") if found else None)
        if known and said < known <= now:
            return None
        head = before[: found.body_start] if found else ""
        if slight and plain_text(before[len(head) :]).strip():
            return None
        try:
            for key, value in values.items():
                head = set_property(head, key, value)
        except BadArgument:
            log.warning("the properties of the active context are broken, and were left alone")
        return with_newlines(f"{head}\n{body}\n", newline_of(before))

    return change


class _Label:
    """Takes from a topic's label the words that only messages say which may not be recalled."""

    def __init__(self, every: str, told: str) -> None:
        self._every, self._told = every.casefold(), told.casefold()

    def shown(self, topic: str) -> str:
        """Return the label as it may stand in the front matter; empty where nothing is left."""
        return ", ".join(word for word in topic.split(", ") if not self._is_gone(word.casefold()))

    def _is_gone(self, word: str) -> bool:
        return word in self._every and word not in self._told


def _ended(when: datetime, label: _Label) -> Change:
    """Return the change that marks a session as ended, in its front matter alone."""

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        transcript = parse_session(file.text)
        if not is_open(transcript):
            return None
        meta, text = transcript.meta, file.text
        shown = filter(None, map(label.shown, transcript.topics))
        topics = tuple(dict.fromkeys((*meta.topics, *shown)))
        try:
            text = set_property(text, "ended", iso(when))
            text = set_property(text, "state", "ended")
            if transcript.segment > meta.segments:
                text = set_property(text, "segments", transcript.segment)
            return text if topics == meta.topics else set_property(text, "topics", topics)
        except BadArgument as error:
            log.warning("%s was left open: %s", file.path, error)
            return None

    return change


def _date(value: object) -> datetime | None:
    try:
        return parse_time(str(value)) if value else None
    except ValueError:
        return None
