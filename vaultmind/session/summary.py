"""The sliding summary of a conversation: how it is folded, shown and stored.

Each line stands in a message, word for word, whole or as a marked piece. What is folded in is not
looked at again, so a fold costs the same at any length of a talk. Importance fades with age as a
power of it: small talk within minutes, decisions and numbers hardly.

Its file has front matter, a heading a kind, a bullet a sentence, which ends in a comment that says
where it comes from, and in a block id by which it is hidden or erased. It is written anew with each
fold: a line that a person deletes stays away, and what they type or change there is not kept.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from vaultmind.config import Config
from vaultmind.language.names import covers
from vaultmind.language.reader import Intent, intents_of
from vaultmind.language.text import plain_sentences
from vaultmind.language.words import content
from vaultmind.session import sentences as reading
from vaultmind.session.sentences import KINDS, Kind, Sentence, context_words, read
from vaultmind.session.unkept import asks_memory, keeping
from vaultmind.tables import adapter
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault import properties
from vaultmind.vault.oneline import escape, one_line
from vaultmind.vault.parts import Bullet, bullets
from vaultmind.vault.properties import front_matter
from vaultmind.vault.transcript import comment

LINE_TOKENS = 40
"""A longer line is cut."""
ANSWERS = 0.5
"""Share of a question's content words in a later statement that answers it."""
WEIGHTS: dict[Kind, float] = {"decision": 4.0, "question": 1.6, "fact": 0.0, "other": 0.0}
NUMBER, DATED, NAME, USER, OPENED = 1.8, 1.5, 0.35, 0.2, 1.0
"""For a number, with a date beside it, a name, what the user says, a decision or number at first.
"""
OPENING = 10
"""Messages that open a conversation."""
MANY_WORDS, WORD = 6, 0.08
"""Content words that count, at most; for each."""
FADES: dict[Kind, float] = {"decision": 0.05, "fact": 0.35, "question": 0.35, "other": 0.8}
NUMBERS_FADE, PACE = 0.1, 20
"""Exponent of a fact with a number; messages in which one of exponent 1 loses half its weight."""
LATELY = 60
"""Newest messages among which a wish not to keep something is looked for again."""
KEPT = 4
"""The last messages, which stay whole however full the window is."""
HEADER_TOKENS = 4
"""What a message costs besides its words: who speaks."""
NAMES = ("session", "agent", "language", "updated", "upto")
"""Properties of a summary's file that are words."""
_KEYS = {"from": "source", "at": "at", "by": "speaker", "w": "weight", "kind": "kind"}
"""Keys of a line's comment."""
_COMMENT = re.compile(r"%%(\{.*?\})%%")


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a message."""

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


@dataclass(frozen=True, slots=True)
class Rolling:
    """The summary of a running conversation."""

    session: str = ""
    agent: str = ""
    language: str = "en"
    """Of the headings, and of most of what is said."""
    updated: str = ""
    """When the newest message in it was said."""
    upto: str = ""
    """Id (block id where it has none) of the newest message in it."""
    messages: int = 0
    """How many messages are in it."""
    lines: tuple[Line, ...] = ()
    """By kind, in each kind as they were said."""


_Read = tuple[Line, Sentence]
"""A line, and its sentence as read."""


# --- folding ------------------------------------------------------------------------------


def due(
    messages: Sequence[Message], rolling: Rolling, config: Config, room: int | None = None
) -> Sequence[Message]:
    """Return the messages that should be folded now, oldest first; none when nothing is due.

    They come after the last one in the summary. That may be hidden or deleted: then its time tells.
    They are due by their number, and where `room` is the window's in tokens, before it is full;
    where it is 0, all of them are.
    """
    upto, newest_first = rolling.upto, range(len(messages), 0, -1)
    ends = (at for at in newest_first if upto in (messages[at - 1].id, messages[at - 1].block))
    waiting: Sequence[Message] = messages[next(ends, 0) if upto else 0 :]
    if upto and len(waiting) == len(messages):
        waiting = [one for one in messages if one.time > rolling.updated]
    if room == 0:
        return waiting
    most = config.context.sliding_window
    outside = len(waiting) - most
    leaving = max(0, outside - outside % config.summary.every)
    if room and not leaving and len(waiting) > KEPT:
        spent = sum(count(message.text) + HEADER_TOKENS for message in waiting[-most:])
        leaving = len(waiting) - KEPT if spent > config.session.summarize_at * room else 0
    return waiting[:leaving]


def fold(
    earlier: Rolling, messages: Sequence[Message], max_tokens: int = 500, language: str = ""
) -> Rolling:
    """Return the summary with some more messages in it, of at most `max_tokens` tokens.

    The messages follow those already in it; what must not be recalled is not given, or left out
    here where a message asks for that. `language` is that of the headings and of stems; empty: as
    before.
    """
    language = language or earlier.language
    old = [(line, read(reading.unmarked(line.text), language)) for line in earlier.lines]
    new = list(_read_lines(keeping(messages), earlier.messages, language))
    said = (plain_sentences(one.text) for one in messages if one.role == "user")
    fixes = [one for texts in said for one in intents_of(texts) if one.old]
    old, new = ([one for one in each if not _is_wrong(one[1], fixes)] for each in (old, new))
    lines = _merged([one for one in old if not _is_answered(one, new)], new)
    last = messages[-1]
    whole = replace(
        earlier,
        language=language,
        updated=last.time or earlier.updated,
        upto=last.id or last.block,
        messages=earlier.messages + len(messages),
        lines=ordered(lines),
    )
    return fitting(whole, max_tokens)


def _read_lines(messages: Sequence[Message], before: int, language: str) -> Iterator[_Read]:
    """Yield the sentences of messages that may be recalled, weighed.

    None that asks something of the memory, nor an answer where nothing else was asked.
    """
    spoken = [
        (at, message, plain_sentences(message.text))
        for at, message in enumerate(messages, before + 1)
        if message.role in ("user", "assistant") and not (message.asked or message.erased)
    ]
    intents_of([one for _, _, texts in spoken for one in texts])  # read together, kept as read
    is_asked = False
    for at, message, texts in spoken:
        told = [one for one in texts if not asks_memory(one)]
        if message.role == "user":
            is_asked = not told and bool(texts or not message.text)
        told = [] if is_asked else told
        for number, sentence in enumerate((read(text, language) for text in told), 1):
            line = Line(
                text=reading.shortened(sentence.text, LINE_TOKENS),
                kind=sentence.kind,
                block=f"{message.block or f'n{at}'}-{number}",
                source=message.block,
                at=at,
                weight=_weight(sentence, at, user=message.role == "user"),
                speaker=message.speaker or message.role,
            )
            yield line, sentence


def _weight(sentence: Sentence, at: int, *, user: bool) -> float:
    """Return the importance of a sentence of the message number `at`."""
    kind, counts = sentence.kind, bool(sentence.numbers)
    total = WEIGHTS[kind] + WORD * min(MANY_WORDS, len(set(sentence.stems)))
    total += counts * (DATED if reading.said(sentence.folded, "date") else NUMBER)
    total += NAME * bool(sentence.names) + USER * user
    total += OPENED * (at <= OPENING and (kind == "decision" or counts))
    return round(total, 3)


def faded(line: Line, now: int) -> float:
    """Return what is left of a line's importance when message number `now` is the newest."""
    counts = line.kind == "fact" and bool(reading.NUMBER.search(line.text))
    exponent = NUMBERS_FADE if counts else FADES[line.kind]
    return line.weight / math.pow(1 + max(0, now - line.at) / PACE, exponent)


def _is_answered(one: _Read, later: Sequence[_Read]) -> bool:
    """Tell whether a question was answered: by a message of the other side before the asker speaks
    again, or by a statement about it.
    """
    line, asked = one
    if line.kind != "question":
        return False
    mine = (o.at for o, _ in later if o.at > line.at and o.speaker == line.speaker)
    until = next(mine, math.inf)
    after = [(o, read_) for o, read_ in later if o.at > line.at and not read_.asks]
    replies = groupby((one for one in after if one[0].at < until), key=lambda one: one[0].at)
    if asked.asks and any(not any(it.puts_off for _, it in each) for _, each in replies):
        return True
    wanted = set(asked.stems)
    enough = max(2.0, ANSWERS * len(wanted))
    return any(len(wanted & set(o.stems)) >= enough for _, o in after if not o.puts_off)


def _is_wrong(one: Sentence, fixes: Sequence[Intent]) -> bool:
    """Tell whether a person put right what a sentence says: "since October, not September".

    A correction is not wrong itself.
    """
    said = content(one.text) if fixes else ()
    wrong = (it for it in fixes if covers(content(it.old), said) and it.payload not in one.text)
    return any(covers([word], said) for fix in wrong for word in content(fix.payload))


def _merged(old: Sequence[_Read], new: Sequence[_Read]) -> list[Line]:
    """Return old lines and new, without small talk, questions answered at once and repetitions."""
    kept = list(old)
    for line, sentence in new:
        if sentence.is_small_talk or _is_answered((line, sentence), new):
            continue
        twin = next((i for i, (_, o) in enumerate(kept) if reading.same(o, sentence)), -1)
        if twin < 0:
            kept.append((line, sentence))
        else:
            known, same = kept[twin]
            kept[twin] = (replace(known, weight=max(known.weight, line.weight)), same)
    return [line for line, _ in kept]


def ordered(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines in the order in which the file has them: by kind, then as they were said."""
    return tuple(sorted(lines, key=lambda one: (KINDS.index(one.kind), one.at)))


# --- showing ------------------------------------------------------------------------------


def shown(rolling: Rolling, *, speakers: bool = False) -> str:
    """Return headings and bullets, without ids and comments; empty for an empty summary.

    With `speakers` each line says who said it, unless one alone has spoken.
    """
    named = speakers and len({line.speaker for line in rolling.lines if line.speaker}) > 1

    def item(line: Line) -> str:
        return f"{f'{line.speaker}: ' if named and line.speaker else ''}{escape(line.text)}"

    return sections(rolling, item)


def sections(rolling: Rolling, item: Callable[[Line], str]) -> str:
    """Return headings and bullets."""
    titles, told = context_words(rolling.language), list[str]()
    for kind, lines in groupby(ordered(rolling.lines), key=lambda one: one.kind):
        bullets_ = (f"- {item(line)}" for line in lines)
        told.append("\n".join([f"## {titles[f'heading_{kind}']}", *bullets_]))
    return "\n\n".join(told)


def fitting(rolling: Rolling, max_tokens: int, *, speakers: bool = False) -> Rolling:
    """Return what of a summary fits: its most important lines."""
    if tokens_of(rolling, speakers=speakers) <= max_tokens:
        return rolling
    best = sorted(rolling.lines, key=lambda one: (-faded(one, rolling.messages), -one.at))

    def cost(many: int) -> int:
        return tokens_of(replace(rolling, lines=tuple(best[:many])), speakers=speakers)

    more = bisect_right(range(1, len(best)), max_tokens, key=cost)
    return replace(rolling, lines=ordered(best[:more]))


def tokens_of(rolling: Rolling, *, speakers: bool = False) -> int:
    """Return what a summary costs a model that reads it whole."""
    return count(shown(rolling, speakers=speakers))


def still_said(rolling: Rolling, messages: Sequence[Message]) -> Rolling:
    """Return the summary without the lines that no message says any more.

    A line's own message must say it, word for word. A person may take words out of the session's
    file, or ask later that something be not kept: of what was said LATELY, the fold knew the rest.
    """
    kept = [*messages[:-LATELY], *keeping(messages[-LATELY:])] if rolling.lines else ()
    sources = {line.source for line in rolling.lines}
    texts = {one.block: _unspaced(one.text) for one in kept if one.block in sources}
    said = [(one, _unspaced(reading.unmarked(one.text))) for one in rolling.lines]
    lines = tuple(one for one, text in said if text in texts.get(one.source, ""))
    return replace(rolling, lines=lines)


def _unspaced(text: str) -> str:
    """Return a text by which two are compared however their lines and spaces fall."""
    return "".join(one_line(text).split())


# --- the file -----------------------------------------------------------------------------


def source_bullet(line: Line) -> str:
    """Return what follows a bullet's mark: the words, where they come from, the block id."""
    known = {key: getattr(line, name) for key, name in _KEYS.items()}
    return f"{escape(line.text)} {comment(known)} ^{line.block}"


def parse_rolling(text: str) -> Rolling:
    """Return what a summary's file says, however it was edited; never raises."""
    found = front_matter(text)
    values = found.properties if found else {}
    named = {name: str(values[name]).strip() for name in NAMES if values.get(name)}
    messages = values.get("messages")
    lines = ordered(line for bullet in bullets(text) if (line := _line(bullet)))
    return Rolling(**named, messages=messages if isinstance(messages, int) else 0, lines=lines)


def rendered(rolling: Rolling) -> str:
    """Return a summary's file."""
    text = ""
    for name in (*NAMES, "messages"):
        text = properties.set_property(text, name, getattr(rolling, name))
    text = properties.set_property(text, "tokens", tokens_of(rolling))
    return f"{text}\n{sections(rolling, source_bullet)}\n"


def _line(bullet: Bullet) -> Line | None:
    """Return the line of a bullet of ours; None for another one."""
    match = _COMMENT.search(bullet.raw)
    line: Line | None = None
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        known = json.loads(match[1] if match else "")
        told = {name: known[key] for key, name in _KEYS.items()}
        line = adapter(Line).validate_python({**told, "text": bullet.text, "block": bullet.block})
    return line
