"""What an ended session leaves for the next one, read from its file: nothing is written here.

It takes its time where a long conversation was never summed up: no lock is held meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vaultmind.errors import NotFound, PathRefused, UnreadableNote
from vaultmind.index.words.language import detect
from vaultmind.ports import Embedder
from vaultmind.redact import mask
from vaultmind.session.closing import active_context, is_slight
from vaultmind.session.lifecycle.active import MAX_TOKENS, Leaves
from vaultmind.session.lifecycle.lately import Where
from vaultmind.session.lifecycle.recallable import of_transcript, session_of
from vaultmind.session.records.opened import last_time
from vaultmind.session.records.reading import Hides, plain_text
from vaultmind.session.summary import Rolling, astray, fold, unfolded, visible, without
from vaultmind.session.summary.unkept import keeping
from vaultmind.session.summary_file import parse_rolling
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.files import FileStat, VaultReader
from vaultmind.vault.session_meta import SessionMeta, is_hosts
from vaultmind.vault.transcript import parse_session

TAIL = 60
"""Messages that no sliding summary holds and that are read whole; more are folded before, ..."""
BATCH = 24
"""... so many at a time."""
BRIEF = 20
"""Messages that are read of a conversation that goes on, beside its sliding summary."""
SAMPLE = 40
"""Messages by which the language is told."""

_BLOCK_AT_END = re.compile(r" \^([A-Za-z0-9-]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Left:
    """What a session leaves, as its file stood."""

    stat: FileStat
    leaves: Leaves
    body: str
    """All of it that an active context has room for; empty where nothing was said."""
    every: str
    """All that its messages say, ..."""
    told: str
    """... and what of it may be recalled."""


class Leaving:
    """Reads what sessions leave. Any thread."""

    def __init__(
        self,
        reader: VaultReader,
        hides: Hides,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        """With an embedder more ways are heard to ask that something be not kept."""
        self._reader = reader
        self._paths = reader.paths
        self.hides = hides
        self._embedder = embedder

    def read(self, agent: str, path: str, now: datetime, *, brief: bool = False) -> Left:
        """Return what a session leaves. Raises NotFound, UnreadableNote.

        `brief`: by its sliding summary and last messages, for one who waits for it.
        """
        file = self._reader.read(path)
        transcript = parse_session(file.text)
        eyes = self._embedder()
        shown = of_transcript(agent, path, file.text, transcript, self.hides, eyes)
        kept = keeping([one for one, _ in shown], embedder=eyes)
        told = [(one, segment) for one, (_, segment) in zip(kept, shown, strict=True)]
        rest, whole = self._read(agent, path, told, brief=brief)
        body = _body(rest, whole, MAX_TOKENS)

        def within(max_tokens: int) -> str:
            return body if count(plain_text(body)) <= max_tokens else _body(rest, whole, max_tokens)

        leaves = Leaves(
            agent=agent,
            path=path,
            said=last_time(transcript, now),
            within=within,
            where=where_of(transcript.meta),
            language=whole.language,
            slight=is_slight(rest, whole, whole.language),
        )
        return Left(
            stat=file.stat,
            leaves=leaves,
            body=body,
            every="\n".join(placed.message.text for placed in transcript.messages),
            told="\n".join(one.text for one, _ in told),
        )

    def _read(
        self, agent: str, path: str, told: Sequence[tuple[Message, int]], *, brief: bool
    ) -> tuple[list[Message], Rolling]:
        """Return the messages that no summary holds yet, and the summaries as one."""
        language = language_of([one for one, _ in told])
        whole = Rolling(session=session_of(path), agent=agent, language=language)
        rest: list[Message] = []
        for segment in sorted({n for _, n in told}):
            messages = [one for one, n in told if n == segment]
            rolling = self._rolling(agent, session_of(path), segment, messages)
            messages = messages[-BRIEF:] if brief else messages
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
        return rest, whole

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

        lines = [one for one in rolling.lines if not self.hides(agent, record, one.block)]
        rolling = visible(replace(rolling, lines=tuple(lines)), hides)
        sources = {one.source for one in rolling.lines}
        said = [_masked(one) if one.block in sources else one for one in messages]
        return without(rolling, astray(rolling, said))


def where_of(meta: SessionMeta) -> Where:
    """Return with what a session was held, as far as its front matter says."""
    named = is_hosts(meta.conversation) and ":" in meta.conversation
    host = meta.conversation.partition(":")[0] if named else ""
    return Where(meta.client or host, meta.project)


def language_of(messages: Sequence[Message]) -> str:
    """Return the language in which the user speaks, told by the first messages."""
    return detect(" \n".join(one.text for one in messages[:SAMPLE] if one.role == "user")) or "en"


def _body(rest: Sequence[Message], whole: Rolling, max_tokens: int) -> str:
    """Return what a conversation leaves, its bullets by ids that no other conversation's have."""
    body = active_context(rest, whole, max_tokens, whole.language)
    prefix = whole.session.replace("_", "-")
    return mask(_BLOCK_AT_END.sub(rf" ^{prefix}-\1", body)).text


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
