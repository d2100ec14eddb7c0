"""Whether a summary still says what was said: a person may take words out of a session's file.

A line of ours stands in a message, so it can be looked for there. A model's line was made of what
some messages said: it stands for as long as they say that to the letter. What the person typed or
changed in the summary is theirs, whatever the conversation says.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultmind.redact import mask
from vaultmind.session.summary.rolling import Line, Rolling, TopicMark
from vaultmind.session.summary.sentences import unmarked
from vaultmind.session.summary.unkept import keeping
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

_LABEL_JOINS = ", "


def astray(
    rolling: Rolling, messages: Sequence[Message], embedder: Embedder | None = None
) -> frozenset[str]:
    """Return the block ids of our lines and topics that no message says any more.

    A line's own message must say it, word for word; the words of a topic must be said somewhere.
    What was asked not to be kept, be it by a later message, says nothing; with the bundled
    embedder more ways to ask are heard.
    """
    messages = keeping(messages) if rolling.lines or rolling.topics else messages
    lines = [one for one in (*rolling.lines, *rolling.tools) if not one.own and one.block]
    wanted = {source for one in lines for source in one.sources}
    said: dict[str, list[str]] = {}
    for message in messages:
        if message.block in wanted and message.text:
            said.setdefault(message.block, []).append(message.text)
    gone = {one.block for one in lines if not _stands(one, said)}
    return frozenset(gone.union(one.block for one in rolling.topics if _is_over(one, messages)))


def without(rolling: Rolling, blocks: Collection[str]) -> Rolling:
    """Return the summary without some lines and topics of ours."""
    if not blocks:
        return rolling
    lines = tuple(one for one in rolling.lines if one.own or one.block not in blocks)
    tools = tuple(one for one in rolling.tools if one.own or one.block not in blocks)
    topics = tuple(one for one in rolling.topics if one.block not in blocks)
    return replace(rolling, lines=lines, tools=tools, topics=topics)


def heard(texts: Iterable[str]) -> int:
    """Return a check of what some messages say, by which it is seen that one says it no more.

    Of the words without secrets: a conversation in memory has none.
    """
    return zlib.crc32("\0".join(mask(text).text for text in texts).encode("utf-8", "replace"))


def _stands(line: Line, said: dict[str, list[str]]) -> bool:
    if not line.by:
        return _is_said(line, said.get(line.source, ()))
    texts = [said.get(source, [""])[0] for source in line.sources]
    return all(texts) and heard(texts) == line.heard


def _is_said(line: Line, texts: Sequence[str]) -> bool:
    words = unmarked(line.text)
    return any(words in text for text in texts) or any(
        _close(words) in _close(text) for text in texts
    )


def _close(text: str) -> str:
    """Return a text by which two are compared however their lines and spaces fall."""
    return "".join(one_line(text).split())


def _is_over(topic: TopicMark, messages: Sequence[Message]) -> bool:
    """Tell whether a word of a topic's label is said nowhere. It is mostly said where it began."""
    words = {word.casefold() for word in topic.label.split(_LABEL_JOINS)}
    began = next((n for n, one in enumerate(messages) if one.block == topic.source), 0)
    for part in (messages[began:], messages[:began]):
        for message in part:
            text = message.text.casefold()
            words = {word for word in words if word not in text}
            if not words:
                return False
    return True
