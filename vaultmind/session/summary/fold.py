"""Folding: earlier summary and the messages that left the window give the new summary.

Pure and extractive: each line stands in a message, word for word, whole or as a marked piece.
What is folded in is never looked at again, so a fold costs the same at any length of a talk.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultmind.session.summary.asks import orders_memory
from vaultmind.session.summary.cues import said
from vaultmind.session.summary.rolling import Line, Rolling, TopicMark, ordered
from vaultmind.session.summary.sentences import sentences, shortened, unmarked
from vaultmind.session.summary.showing import best_first, cost, tokens_of
from vaultmind.session.summary.unkept import keeping
from vaultmind.session.summary.weigh import (
    Sentence,
    kind_of,
    read,
    same,
    tell,
    telling_parts,
    weight,
)
from vaultmind.tokens import count
from vaultmind.types import Message

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

LINE_TOKENS = 40
"""A longer sentence is cut."""
OLD_LINE_TOKENS = 26
WORTH_CUTTING = 1.3
"""A line is cut only if it is so much longer: the last words of a sentence are its point."""
OLD = 40
"""Messages after which a line is old, and cut further where room is short."""
GIVEN_BACK = 0.01
"""Share of the room that a summary gives back with each doubling of a long conversation, ..."""
LONG = 100
"""... which has so many messages, so that a longer talk has no larger summary; ..."""
MOST_GIVEN_BACK = 0.05
"""... and at most so much."""
ANSWERS = 0.4
"""Share of a question's content words in a later statement that answers it."""
OPEN_ANSWERS = 0.5
"""The same of what was said in words to be open, where the statement decides nothing."""
POINTS = 2
"""Content words of a sentence that only says that something is open, not what."""
TOPICS = 8
TOPIC_SHARE = 0.15
"""The topic history takes at most so many entries and such a share of the room."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A line, and its sentence as read."""

    line: Line
    sentence: Sentence
    deferral: bool = False


def fold(
    earlier: Rolling,
    messages: Sequence[Message],
    max_tokens: int = 500,
    language: str = "",
    topics: Sequence[TopicMark] = (),
    *,
    embedder: Embedder | None = None,
) -> Rolling:
    """Return the summary with some more messages in it, of at most `max_tokens` tokens.

    The messages follow those already in it; what must not be recalled (erased, forgotten, words
    of requests) is not given, or left out here where the message says so. A person's own lines
    stay even where they alone are more than the tokens allow. `language` is that of the
    headings and of stems; empty: as before. `topics` are those that began in these messages.
    With the bundled embedder more ways are heard to ask that something be not kept.
    """
    language = language or earlier.language
    old = [_Said(line, read(unmarked(line.text), language)) for line in earlier.lines]
    known = [one.sentence for one in old]
    heard = keeping(messages)
    new = list(_said_in(heard, earlier.messages, language, known))
    old = [one for one in old if not _is_answered(one, new, reply=one.line.at == earlier.messages)]
    now = earlier.messages + len(messages)
    last = messages[-1] if messages else None
    whole = replace(
        earlier,
        language=language,
        updated=(last.time if last else "") or earlier.updated,
        upto=(last.id or last.block) if last else earlier.upto,
        messages=now,
        lines=ordered([one.line for one in _merged(old, new)]),
        topics=_history((*earlier.topics, *topics), max_tokens),
    )
    return packed(whole, room(max_tokens, now))


def room(max_tokens: int, messages: int) -> int:
    """Return the tokens of a summary of so many messages: a long talk gives a little back."""
    doublings = math.log2(max(1.0, messages / LONG))
    return int(max_tokens * (1 - min(MOST_GIVEN_BACK, GIVEN_BACK * doublings)))


def lines_of(messages: Sequence[Message], before: int, language: str) -> list[Line]:
    """Return every sentence of some messages that says something, with its weight.

    `before` is how many messages came before them.
    """
    return [one.line for one in _merged([], list(_said_in(keeping(messages), before, language)))]


def _said_in(
    messages: Sequence[Message], before: int, language: str, known: Sequence[Sentence] = ()
) -> Iterator[_Said]:
    """Yield the sentences of messages that may be recalled, weighed among all that is known."""
    placed: list[tuple[Message, int, int, Sentence]] = []
    speakers = frozenset(name for one in messages for name in one.speaker.split())
    for at, message in enumerate(messages, before + 1):
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        for number, text in _with_questions(_without_orders(message.text), language):
            placed.append((message, at, number, read(text, language, speakers)))
    telling = tell([*known, *(sentence for *_, sentence in placed)])[len(known) :]
    for (message, at, number, sentence), told in zip(placed, telling, strict=True):
        line = Line(
            text=shortened(sentence.text, LINE_TOKENS, telling_parts),
            kind=kind_of(sentence),
            block=f"{_source(message, at)}-{number}",
            source=message.block,
            at=at,
            weight=weight(sentence, at, user=message.role == "user", telling=told),
            speaker=message.speaker or message.role,
        )
        yield _Said(line, sentence, deferral=said(sentence.folded, "deferral"))


def _without_orders(text: str) -> list[str]:
    """Return a message's sentences without those that order the memory, as a pasted text does."""
    kept: list[str] = []
    for one in sentences(text):
        if kept and kept[-1].endswith(":") and orders_memory(f"{kept[-1]} {one}"):
            kept.pop()
        elif not orders_memory(one):
            kept.append(one)
    return kept


def _with_questions(texts: Sequence[str], language: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their numbers; "That is still open." goes with what was asked before."""
    number = 0
    while number < len(texts):
        text, first = texts[number], number + 1
        number += 1
        if number < len(texts) and read(text, language).asks:
            following, pair = read(texts[number], language), f"{text} {texts[number]}"
            points = following.is_open and len(following.stems) <= POINTS
            if points and not following.asks and count(pair) <= LINE_TOKENS:
                text, number = pair, number + 1
        yield first, text


def _source(message: Message, at: int) -> str:
    """Return what the block ids of a message's lines begin with."""
    return message.block or f"n{at}"


def _is_answered(one: _Said, later: Sequence[_Said], *, reply: bool = True) -> bool:
    """Tell whether a question was answered.

    One that was asked is, by whatever the next speaker says, unless that puts it off; what was
    said to be open is only by a statement about it. `reply`: the next speaker is among `later`.
    """
    if one.line.kind != "question" or one.line.own:
        return False
    after = [other for other in later if other.line.at > one.line.at and not other.sentence.asks]
    if one.sentence.asks and reply:
        others = [other for other in after if other.line.speaker != one.line.speaker]
        first = [other for other in others if other.line.at == others[0].line.at]
        if first and not any(_puts_off(other) for other in first):
            return True
    wanted = set(one.sentence.stems)
    return any(
        len(wanted & set(other.sentence.stems)) >= max(2, _share(one, other) * len(wanted))
        for other in after
        if not _puts_off(other)
    )


def _share(one: _Said, other: _Said) -> float:
    """Return which part of a question's words a statement must have to be its answer."""
    stays = one.sentence.is_open and not other.sentence.decides
    return OPEN_ANSWERS if stays else ANSWERS


def _puts_off(one: _Said) -> bool:
    return one.deferral or one.sentence.is_open


def _merged(old: Sequence[_Said], new: Sequence[_Said]) -> list[_Said]:
    """Return old lines and new, without small talk, questions answered at once and repetitions."""
    kept = list(old)
    for one in new:
        if one.sentence.is_small_talk or _is_answered(one, new):
            continue
        twin = next((i for i, other in enumerate(kept) if same(other.sentence, one.sentence)), -1)
        if twin < 0:
            kept.append(one)
        elif not kept[twin].line.own:
            line = kept[twin].line
            heavier = max(line.weight, one.line.weight)
            kept[twin] = replace(kept[twin], line=replace(line, weight=heavier))
    return kept


def _history(topics: Iterable[TopicMark], max_tokens: int) -> tuple[TopicMark, ...]:
    """Return the newest topics that fit their share of the room, a label once in a row."""
    kept: list[TopicMark] = []
    for topic in topics:
        if topic.label and (not kept or kept[-1].label != topic.label):
            kept.append(topic)
    kept = kept[-TOPICS:]
    while kept and sum(count(f"- {one.label}\n") for one in kept) > TOPIC_SHARE * max_tokens:
        kept.pop(0)
    return tuple(kept)


def packed(rolling: Rolling, max_tokens: int) -> Rolling:
    """Return the summary within its room: old lines cut, then the least important dropped."""
    if tokens_of(rolling) <= max_tokens:
        return rolling
    rolling = replace(rolling, lines=tuple(_aged(one, rolling.messages) for one in rolling.lines))
    excess = tokens_of(rolling) - max_tokens
    dropped: list[Line] = []
    ranked = best_first(rolling)
    while excess > 0 and ranked and not ranked[-1].own:
        dropped.append(ranked.pop())
        excess -= cost(dropped[-1])
    kept, spare = set(ranked), -excess
    for line in reversed(dropped):
        if cost(line) <= spare:
            kept.add(line)
            spare -= cost(line)
    return _fitted(replace(rolling, lines=_of(rolling, kept)), max_tokens)


def _fitted(rolling: Rolling, max_tokens: int) -> Rolling:
    """Return the summary without what the estimate of its parts let in too much."""
    while tokens_of(rolling) > max_tokens:
        ranked = best_first(rolling)
        if not ranked or ranked[-1].own:
            return rolling
        rolling = replace(rolling, lines=_of(rolling, set(ranked[:-1])))
    return rolling


def _of(rolling: Rolling, kept: set[Line]) -> tuple[Line, ...]:
    return tuple(line for line in rolling.lines if line in kept)


def _aged(line: Line, now: int) -> Line:
    """Return an old line cut to what it is about."""
    fits = count(line.text) <= OLD_LINE_TOKENS * WORTH_CUTTING
    if line.own or fits or now - line.at < OLD:
        return line
    return replace(line, text=shortened(line.text, OLD_LINE_TOKENS, telling_parts))
