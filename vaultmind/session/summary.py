"""The sliding summary of a conversation: how it is folded and shown, and whether it still holds.

Each line stands in a message, word for word, whole or as a marked piece. What is folded in is not
looked at again, so a fold costs the same at any length of a talk. Importance fades with age as a
power of it: small talk within minutes, decisions and numbers hardly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from vaultmind.session.sentences import (
    KINDS,
    MIN_CONTENT,
    Kind,
    Sentence,
    has_number,
    headings,
    how_often,
    read,
    said,
    same,
    sentences,
    shortened,
    tell,
    unmarked,
)
from vaultmind.session.unkept import keeping, orders_memory, unkept
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault.oneline import one_line

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

__all__ = ["KINDS", "Kind", "keeping", "unkept"]

LINE_TOKENS, OLD_LINE_TOKENS = 40, 26
"""A longer line is cut; so is one of `OLD` messages ago, where room is short."""
OLD = 40
LONG, GIVEN_BACK, MOST_GIVEN_BACK = 100, 0.01, 0.05
"""A summary gives back a share of its room with each doubling of a conversation of `LONG` messages,
so that a longer talk has no larger summary; and at most so much."""
ANSWERS = 0.5
"""Share of a question's content words in a later statement that answers it."""
TOPICS, TOPIC_SHARE = 8, 0.15
"""The topic history takes at most so many entries and such a share of the room."""
WEIGHTS: dict[Kind, float] = {"decision": 4.0, "question": 1.6, "fact": 0.0, "other": 0.0}
NUMBER, DATE_NUMBER, MORE_NUMBERS, NUMBER_WORD = 1.8, 1.0, 0.2, 0.4
"""For a number; in a sentence with a date; for each further one up to three; for one in letters."""
DATE, NAME, NEXT, USER, OPENED = 0.5, 0.35, 0.6, 0.2, 1.0
"""For a date, each name up to three, a plan, what the user says, a decision or number at first."""
OPENING = 10
"""Messages that open a conversation: what was decided there does not fade."""
FADES: dict[Kind, float] = {"decision": 0.05, "fact": 0.35, "question": 0.35, "other": 0.8}
NUMBERS_FADE, PACE = 0.1, 20
"""Exponent of a fact with a number; messages in which one of exponent 1 loses half its weight."""
HEADER_TOKENS = 4
"""What a message costs besides its words: who speaks."""
TOPIC = "topic"


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a message, or a line that a person typed."""

    text: str
    kind: Kind
    block: str = ""
    """Its block id in the summary: by it the line is hidden. The same for as long as it lives."""
    source: str = ""
    """The block id of the message it stands in."""
    at: int = 0
    """The number of that message in the conversation, from 1."""
    weight: float = 0.0
    """Its importance when it was said; what is left of it depends on its age."""
    speaker: str = ""
    """Who said it: a name, or else a role."""
    own: bool = False
    """Typed or changed by a person: never shortened, never dropped."""


@dataclass(frozen=True, slots=True)
class TopicMark:
    """A topic the conversation came to, in its most telling words."""

    label: str
    source: str = ""
    """The block id of the message that it began with."""
    at: int = 0

    @property
    def block(self) -> str:
        """Return its block id in the summary."""
        return f"t-{self.source or f'n{self.at}'}"


@dataclass(frozen=True, slots=True)
class Rolling:
    """The sliding summary of a conversation up to a message."""

    session: str = ""
    agent: str = ""
    language: str = "en"
    updated: str = ""
    """ISO time of the newest message in it."""
    upto: str = ""
    """The id of the last message that was folded in, or its block id where it has none."""
    messages: int = 0
    """How many messages were folded in."""
    lines: tuple[Line, ...] = ()
    topics: tuple[TopicMark, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person wrote into the file besides bullets, line by line."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a conversation stays whole, and when the rest is folded."""

    messages: int = 20
    """The newest messages that stay whole."""
    max_tokens: int = 0
    """The window's budget; 0: no limit."""
    every: int = 6
    """Messages that leave the window together."""
    full_at: float = 0.7
    """Share of the budget beyond which all but the last few are folded."""
    keep: int = 4
    """The last few."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A line, and its sentence as read."""

    line: Line
    sentence: Sentence


# --- folding ------------------------------------------------------------------------------


def due(messages: Sequence[Message], upto: str, window: Window) -> tuple[Message, ...]:
    """Return the messages that should be folded now, oldest first; none when nothing is due."""
    waiting = unfolded(messages, upto)
    outside = len(waiting) - window.messages
    leaving = max(0, outside - outside % max(1, window.every))
    if leaving == 0 and window.max_tokens > 0 and len(waiting) > window.keep:
        whole = waiting[-window.messages :]
        spent = sum(count(message.text) + HEADER_TOKENS for message in whole)
        if spent > window.full_at * window.max_tokens:
            leaving = len(waiting) - window.keep
    return tuple(waiting[:leaving])


def unfolded(messages: Sequence[Message], upto: str) -> Sequence[Message]:
    """Return the messages after the one with an id or block id; all where none has it."""
    for number in range(len(messages) - 1, -1, -1):
        if upto and upto in (messages[number].id, messages[number].block):
            return messages[number + 1 :]
    return messages


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

    The messages follow those already in it; what must not be recalled is not given, or left out
    here where a message asks for that. A person's own lines stay even where they alone are more
    than the tokens allow. `language` is that of the headings and of stems; empty: as before.
    """
    language = language or earlier.language
    old = [_Read(line, read(unmarked(line.text), language)) for line in earlier.lines]
    kept = keeping(messages)
    new = list(_read_lines(kept, earlier.messages, language, [one.sentence for one in old]))
    lines = _merged([one for one in old if not _is_answered(one, new)], new)
    now, last = earlier.messages + len(messages), messages[-1] if messages else None
    whole = replace(
        earlier,
        language=language,
        updated=(last.time if last else "") or earlier.updated,
        upto=(last.id or last.block) if last else earlier.upto,
        messages=now,
        lines=ordered(lines),
        topics=_history((*earlier.topics, *topics), max_tokens),
    )
    return _packed(whole, max_tokens)


def _read_lines(
    messages: Sequence[Message], before: int, language: str, known: Sequence[Sentence] = ()
) -> Iterator[_Read]:
    """Yield the sentences of messages that may be recalled, weighed among all that is known."""
    placed: list[tuple[Message, int, int, Sentence]] = []
    speakers = frozenset(name for one in messages for name in one.speaker.split())
    for at, message in enumerate(messages, before + 1):
        if is_spoken(message):
            texts = [one for one in sentences(message.text) if not orders_memory(one)]
            for number, text in _with_questions(texts, language):
                placed.append((message, at, number, read(text, language, speakers)))
    telling = tell([*known, *(sentence for *_, sentence in placed)])[len(known) :]
    for (message, at, number, sentence), share in zip(placed, telling, strict=True):
        line = Line(
            text=shortened(sentence.text, LINE_TOKENS),
            kind=sentence.kind,
            block=f"{message.block or f'n{at}'}-{number}",
            source=message.block,
            at=at,
            weight=_weight(sentence, at, user=message.role == "user", telling=share),
            speaker=message.speaker or message.role,
        )
        yield _Read(line, sentence)


def is_spoken(message: Message) -> bool:
    """Tell whether a message says something that may be recalled."""
    quiet = message.asked or message.erased or not message.text.strip()
    return message.role in ("user", "assistant") and not quiet


def _with_questions(texts: Sequence[str], language: str) -> Iterator[tuple[int, str]]:
    """Yield sentences with their numbers; "That is still open." goes with what was asked before."""
    number = 0
    while number < len(texts):
        text, first = texts[number], number + 1
        number += 1
        if number < len(texts) and read(text, language).asks:
            after, pair = read(texts[number], language), f"{text} {texts[number]}"
            points = after.is_open and not after.asks and len(after.stems) <= MIN_CONTENT
            if points and count(pair) <= LINE_TOKENS:
                text, number = pair, number + 1
        yield first, text


def _weight(sentence: Sentence, at: int, *, user: bool, telling: float) -> float:
    """Return the importance of a sentence of the message number `at`.

    `telling` is its share, from 0 to 1, of what words alone can tell.
    """
    kind, numbers = sentence.kind, len(sentence.numbers)
    dates = how_often(sentence.folded, "date")
    total = WEIGHTS[kind] + telling + DATE * min(1, dates) + NAME * min(3, len(sentence.names))
    if numbers:
        total += (DATE_NUMBER if dates else NUMBER) + MORE_NUMBERS * min(3, numbers - 1)
    else:
        total += NUMBER_WORD * min(1, how_often(sentence.folded, "number"))
    total += NEXT * said(sentence.folded, "next") + USER * user
    if at <= OPENING and (kind == "decision" or numbers):
        total += OPENED
    return round(total, 3)


def faded(line: Line, now: int) -> float:
    """Return what is left of a line's importance when message number `now` is the newest."""
    if line.own:
        return math.inf
    if line.kind == "decision" and line.at <= OPENING:
        return line.weight
    counts = line.kind == "fact" and has_number(line.text)
    exponent = NUMBERS_FADE if counts else FADES[line.kind]
    return line.weight / math.pow(1 + max(0, now - line.at) / PACE, exponent)


def _is_answered(one: _Read, later: Sequence[_Read]) -> bool:
    """Tell whether a question was answered: by a reply at once, or by a statement about it."""
    if one.line.kind != "question" or one.line.own:
        return False
    after = [o for o in later if o.line.at > one.line.at and not o.sentence.asks]
    replies = [o for o in after if o.line.at == one.line.at + 1]
    if one.sentence.asks and replies and not any(o.sentence.puts_off for o in replies):
        return True
    wanted = set(one.sentence.stems)
    enough = max(2.0, ANSWERS * len(wanted))
    return any(
        len(wanted & set(o.sentence.stems)) >= enough for o in after if not o.sentence.puts_off
    )


def lines_of(messages: Sequence[Message], before: int, language: str) -> list[Line]:
    """Return every sentence that says something of the messages after the first `before`."""
    return _merged((), list(_read_lines(keeping(messages), before, language)))


def _merged(old: Sequence[_Read], new: Sequence[_Read]) -> list[Line]:
    """Return old lines and new, without small talk, questions answered at once and repetitions."""
    kept = list(old)
    for one in new:
        if one.sentence.is_small_talk or _is_answered(one, new):
            continue
        twin = next((i for i, other in enumerate(kept) if same(other.sentence, one.sentence)), -1)
        if twin < 0:
            kept.append(one)
        elif not (line := kept[twin].line).own:
            heavier = replace(line, weight=max(line.weight, one.line.weight))
            kept[twin] = replace(kept[twin], line=heavier)
    return [one.line for one in kept]


def _history(topics: Iterable[TopicMark], max_tokens: int) -> tuple[TopicMark, ...]:
    """Return the newest topics that fit their share of the room, a label once in a row."""
    runs = groupby((one for one in topics if one.label), key=lambda one: one.label)
    kept = [next(run) for _, run in runs][-TOPICS:]
    while kept and sum(count(f"- {one.label}\n") for one in kept) > TOPIC_SHARE * max_tokens:
        kept.pop(0)
    return tuple(kept)


def _packed(rolling: Rolling, max_tokens: int) -> Rolling:
    """Return the summary within its room: old lines cut, then the least important dropped."""
    given_back = GIVEN_BACK * math.log2(max(1.0, rolling.messages / LONG))
    room = int(max_tokens * (1 - min(MOST_GIVEN_BACK, given_back)))
    if tokens_of(rolling) > room:
        aged = tuple(_aged(one, rolling.messages) for one in rolling.lines)
        rolling = _trimmed(replace(rolling, lines=aged), room)
    return rolling


def _aged(line: Line, now: int) -> Line:
    """Return an old line cut to what it is about; no cut for a few words, which are its point."""
    if line.own or now - line.at < OLD or count(line.text) <= OLD_LINE_TOKENS * 1.3:
        return line
    return replace(line, text=shortened(line.text, OLD_LINE_TOKENS))


def _trimmed(
    rolling: Rolling, room: int, *, speakers: bool = False, keeps_own: bool = True
) -> Rolling:
    """Return the summary with as many of its most important lines as there is room for."""
    costs = {line: count(f"- {_item(line, named=speakers)}\n") for line in rolling.lines}
    ranked = sorted(rolling.lines, key=lambda one: (-faded(one, rolling.messages), -one.at))
    left = room - count(shown(rolling, speakers=speakers)) + sum(costs.values())
    kept: list[Line] = []
    for line in ranked:
        if costs[line] <= left or (line.own and keeps_own):
            kept.append(line)
            left -= costs[line]
    while True:
        there = set(kept)
        lines = tuple(one for one in rolling.lines if one in there)
        rolling = replace(rolling, lines=lines)
        fits = count(shown(rolling, speakers=speakers)) <= room
        if fits or not kept or (kept[-1].own and keeps_own):
            return rolling
        kept.pop()


def ordered(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines in the order in which the file has them: by kind, then as they were said."""
    return tuple(sorted(lines, key=lambda one: (KINDS.index(one.kind), one.at)))


# --- showing ------------------------------------------------------------------------------


def shown(rolling: Rolling, max_tokens: int | None = None, *, speakers: bool = False) -> str:
    """Return headings and bullets, without ids and comments; empty for an empty summary.

    With `speakers` each line says who said it, unless one alone has spoken.
    """
    if max_tokens is not None:
        rolling = fitting(rolling, max_tokens, speakers=speakers)
    titles = headings(rolling.language)
    named = speakers and len({line.speaker for line in rolling.lines if line.speaker}) > 1
    sections = [
        section_text(titles[kind], [_item(line, named=named) for line in lines])
        for kind, lines in groupby(ordered(rolling.lines), key=lambda one: one.kind)
    ]
    if rolling.topics:
        sections.append(section_text(titles[TOPIC], [one.label for one in rolling.topics]))
    return "\n\n".join([*sections, *(["\n".join(rolling.notes)] if rolling.notes else [])])


def fitting(rolling: Rolling, max_tokens: int, *, speakers: bool = False) -> Rolling:
    """Return what of a summary fits: without topics first, then the least important lines."""
    while rolling.topics and count(shown(rolling, speakers=speakers)) > max_tokens:
        rolling = replace(rolling, topics=rolling.topics[1:])
    if count(shown(rolling, speakers=speakers)) > max_tokens:
        rolling = _trimmed(rolling, max_tokens, speakers=speakers, keeps_own=False)
    while rolling.notes and count(shown(rolling, speakers=speakers)) > max_tokens:
        rolling = replace(rolling, notes=rolling.notes[:-1])
    return rolling


def tokens_of(rolling: Rolling) -> int:
    """Return what a summary costs a model that reads it whole."""
    return count(shown(rolling))


def visible(rolling: Rolling, hides: Callable[[str], bool]) -> Rolling:
    """Return the summary without what comes from hidden messages, by their block ids."""
    gone = [one.block for one in rolling.lines if one.source and hides(one.source)]
    gone += [one.block for one in rolling.topics if one.source and hides(one.source)]
    return _less(rolling, gone, own=True)


def without(rolling: Rolling, blocks: Collection[str]) -> Rolling:
    """Return the summary without some lines and topics of ours."""
    return _less(rolling, blocks, own=False)


def _less(rolling: Rolling, blocks: Collection[str], *, own: bool) -> Rolling:
    if not blocks:
        return rolling
    lines = tuple(o for o in rolling.lines if o.block not in blocks or (o.own and not own))
    topics = tuple(one for one in rolling.topics if one.block not in blocks)
    return replace(rolling, lines=lines, topics=topics)


def _item(line: Line, *, named: bool) -> str:
    return f"{line.speaker}: {line.text}" if named and line.speaker else line.text


def section_text(title: str, items: Iterable[str]) -> str:
    """Return a heading and its bullets."""
    return "\n".join([f"## {title}", *(f"- {item}" for item in items)])


# --- whether it is still said -------------------------------------------------------------


def astray(
    rolling: Rolling, messages: Sequence[Message], embedder: Embedder | None = None
) -> frozenset[str]:
    """Return the block ids of our lines and topics that no message says any more.

    A line's own message must say it, word for word; the words of a topic must be said somewhere. A
    person may take words out of the session's file, or ask later that something be not kept.
    """
    if rolling.lines or rolling.topics:
        messages = keeping(messages)
    texts = {one.block: one.text for one in messages if one.block and one.text}
    gone = {
        one.block for one in rolling.lines if not one.own and one.block and not _is_said(one, texts)
    }
    everything = "\n".join(one.text for one in messages).casefold() if rolling.topics else ""
    gone |= {
        one.block
        for one in rolling.topics
        if not all(word in everything for word in one.label.casefold().split(", "))
    }
    return frozenset(gone)


def _is_said(line: Line, texts: Mapping[str, str]) -> bool:
    words, text = unmarked(line.text), texts.get(line.source, "")
    return words in text or _close(words) in _close(text)


def _close(text: str) -> str:
    """Return a text by which two are compared however their lines and spaces fall."""
    return "".join(one_line(text).split())
