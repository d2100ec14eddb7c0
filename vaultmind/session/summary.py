"""The sliding summary of a conversation: how it is folded, shown and stored.

Each line stands in a message, word for word, whole or as a marked piece. What is folded in is not
looked at again, so a fold costs the same at any length of a talk. Importance fades with age as a
power of it: small talk within minutes, decisions and numbers hardly.

Its file has front matter, a heading a kind, a bullet a sentence. A bullet of ours ends in a comment
that says where it comes from, and in a block id by which it is hidden or erased. What a person
typed or changed stays as it is, to the byte.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from vaultmind.errors import BadArgument
from vaultmind.language.text import plain_sentences
from vaultmind.session import sentences as reading
from vaultmind.session.sentences import KINDS, Kind, Sentence, headings, how_often, read
from vaultmind.session.unkept import keeping, orders_memory, unkept
from vaultmind.tokens import count
from vaultmind.types import Message
from vaultmind.vault import edits
from vaultmind.vault.bullets import HEADING, Bullet, bullets, plain, prose
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape, one_line
from vaultmind.vault.properties import front_matter

__all__ = ["KINDS", "Kind", "keeping", "unkept"]

LINE_TOKENS, OLD_LINE_TOKENS = 40, 26
"""A longer line is cut; so is one of `OLD` messages ago, where room is short."""
OLD = 40
LONG, GIVEN_BACK, MOST_GIVEN_BACK = 100, 0.01, 0.05
"""A summary gives back a share of its room with each doubling of a conversation of `LONG` messages,
so that a longer talk has no larger summary; and at most so much."""
ANSWERS = 0.5
"""Share of a question's content words in a later statement that answers it."""
WEIGHTS: dict[Kind, float] = {"decision": 4.0, "question": 1.6, "fact": 0.0, "other": 0.0}
NUMBER, DATE_NUMBER, MORE_NUMBERS = 1.8, 1.0, 0.2
"""For a number; in a sentence with a date; for each further one up to three."""
DATE, NAME, NEXT, USER, OPENED = 0.5, 0.35, 0.6, 0.2, 1.0
"""For a date, each name up to three, a plan, what the user says, a decision or number at first."""
OPENING = 10
"""Messages that open a conversation: what was decided there does not fade."""
FADES: dict[Kind, float] = {"decision": 0.05, "fact": 0.35, "question": 0.35, "other": 0.8}
NUMBERS_FADE, PACE = 0.1, 20
"""Exponent of a fact with a number; messages in which one of exponent 1 loses half its weight."""
HEADER_TOKENS = 4
"""What a message costs besides its words: who speaks."""
_COMMENT = re.compile(r"%%(\{.*?\})%%")


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


_Read = tuple[Line, Sentence]
"""A line, and its sentence as read."""


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
    earlier: Rolling, messages: Sequence[Message], max_tokens: int = 500, language: str = ""
) -> Rolling:
    """Return the summary with some more messages in it, of at most `max_tokens` tokens.

    The messages follow those already in it; what must not be recalled is not given, or left out
    here where a message asks for that. A person's own lines stay even where they alone are more
    than the tokens allow. `language` is that of the headings and of stems; empty: as before.
    """
    language = language or earlier.language
    old = [(line, read(reading.unmarked(line.text), language)) for line in earlier.lines]
    new = _read_lines(keeping(messages), earlier.messages, language, [one for _, one in old])
    lines = _merged([one for one in old if not _is_answered(one, new)], new)
    last = messages[-1] if messages else None
    whole = replace(
        earlier,
        language=language,
        updated=(last.time if last else "") or earlier.updated,
        upto=(last.id or last.block) if last else earlier.upto,
        messages=earlier.messages + len(messages),
        lines=ordered(lines),
    )
    given_back = GIVEN_BACK * math.log2(max(1.0, whole.messages / LONG))
    room = int(max_tokens * (1 - min(MOST_GIVEN_BACK, given_back)))
    if tokens_of(whole) <= room:
        return whole
    aged = tuple(_aged(one, whole.messages) for one in whole.lines)
    return _trimmed(replace(whole, lines=aged), room)


def _read_lines(
    messages: Sequence[Message], before: int, language: str, known: Sequence[Sentence] = ()
) -> list[_Read]:
    """Return the sentences of messages that may be recalled, weighed among all that is known."""
    placed: list[tuple[Message, int, int, Sentence]] = []
    speakers = frozenset(name for one in messages for name in one.speaker.split())
    for at, message in enumerate(messages, before + 1):
        if is_spoken(message):
            texts = [one for one in plain_sentences(message.text) if not orders_memory(one)]
            for number, text in enumerate(_with_questions(texts, language), 1):
                placed.append((message, at, number, read(text, language, speakers)))
    telling = reading.tell([*known, *(sentence for *_, sentence in placed)])[len(known) :]
    found = []
    for (message, at, number, sentence), share in zip(placed, telling, strict=True):
        line = Line(
            text=reading.shortened(sentence.text, LINE_TOKENS),
            kind=sentence.kind,
            block=f"{message.block or f'n{at}'}-{number}",
            source=message.block,
            at=at,
            weight=_weight(sentence, at, user=message.role == "user", telling=share),
            speaker=message.speaker or message.role,
        )
        found.append((line, sentence))
    return found


def is_spoken(message: Message) -> bool:
    """Tell whether a message says something that may be recalled."""
    quiet = message.asked or message.erased or not message.text.strip()
    return message.role in ("user", "assistant") and not quiet


def _with_questions(texts: Sequence[str], language: str) -> list[str]:
    """Return sentences; "That is still open." goes with what was asked before."""
    found: list[str] = []
    for text in texts:
        one = read(text, language)
        points = one.is_open and not one.asks and len(one.stems) <= reading.MIN_CONTENT
        if points and found and read(found[-1], language).asks:
            found[-1] += f" {text}"
        else:
            found.append(text)
    return found


def _weight(sentence: Sentence, at: int, *, user: bool, telling: float) -> float:
    """Return the importance of a sentence of the message number `at`.

    `telling` is its share, from 0 to 1, of what words alone can tell.
    """
    kind, numbers = sentence.kind, len(sentence.numbers)
    dates = min(1, how_often(sentence.folded, "date"))
    total = WEIGHTS[kind] + telling + DATE * dates + NAME * min(3, len(sentence.names))
    if numbers:
        total += (DATE_NUMBER if dates else NUMBER) + MORE_NUMBERS * min(3, numbers - 1)
    total += NEXT * reading.said(sentence.folded, "next") + USER * user
    total += OPENED * (at <= OPENING and (kind == "decision" or numbers > 0))
    return round(total, 3)


def faded(line: Line, now: int) -> float:
    """Return what is left of a line's importance when message number `now` is the newest."""
    if line.own:
        return math.inf
    if line.kind == "decision" and line.at <= OPENING:
        return line.weight
    counts = line.kind == "fact" and reading.has_number(line.text)
    exponent = NUMBERS_FADE if counts else FADES[line.kind]
    return line.weight / math.pow(1 + max(0, now - line.at) / PACE, exponent)


def _is_answered(one: _Read, later: Sequence[_Read]) -> bool:
    """Tell whether a question was answered: by a reply at once, or by a statement about it."""
    line, asked = one
    if line.kind != "question" or line.own:
        return False
    after = [(o, read_) for o, read_ in later if o.at > line.at and not read_.asks]
    replies = [read_ for o, read_ in after if o.at == line.at + 1]
    if asked.asks and replies and not any(one.puts_off for one in replies):
        return True
    wanted = set(asked.stems)
    enough = max(2.0, ANSWERS * len(wanted))
    return any(len(wanted & set(o.stems)) >= enough for _, o in after if not o.puts_off)


def lines_of(messages: Sequence[Message], before: int, language: str) -> list[Line]:
    """Return every sentence that says something of the messages after the first `before`."""
    return _merged((), _read_lines(keeping(messages), before, language))


def _merged(old: Sequence[_Read], new: Sequence[_Read]) -> list[Line]:
    """Return old lines and new, without small talk, questions answered at once and repetitions."""
    kept = list(old)
    for line, sentence in new:
        if sentence.is_small_talk or _is_answered((line, sentence), new):
            continue
        twin = next((i for i, (_, o) in enumerate(kept) if reading.same(o, sentence)), -1)
        if twin < 0:
            kept.append((line, sentence))
        elif not (known := kept[twin][0]).own:
            heavier = replace(known, weight=max(known.weight, line.weight))
            kept[twin] = (heavier, kept[twin][1])
    return [line for line, _ in kept]


def _aged(line: Line, now: int) -> Line:
    """Return an old line cut to what it is about; no cut for a few words, which are its point."""
    if line.own or now - line.at < OLD or count(line.text) <= OLD_LINE_TOKENS * 1.3:
        return line
    return replace(line, text=reading.shortened(line.text, OLD_LINE_TOKENS))


def _trimmed(
    rolling: Rolling, room: int, *, speakers: bool = False, keeps_own: bool = True
) -> Rolling:
    """Return the summary with as many of its most important lines as there is room for."""
    costs = {line: count(f"- {_item(line, named=speakers)}\n") for line in rolling.lines}
    left = room - tokens_of(rolling, speakers=speakers) + sum(costs.values())
    kept: list[Line] = []
    for line in sorted(rolling.lines, key=lambda one: (-faded(one, rolling.messages), -one.at)):
        if costs[line] <= left or (line.own and keeps_own):
            kept.append(line)
            left -= costs[line]
    while True:
        there = set(kept)
        rolling = replace(rolling, lines=tuple(one for one in rolling.lines if one in there))
        fits = tokens_of(rolling, speakers=speakers) <= room
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
    return "\n\n".join(sections)


def fitting(rolling: Rolling, max_tokens: int, *, speakers: bool = False) -> Rolling:
    """Return what of a summary fits: without the least important lines."""
    if tokens_of(rolling, speakers=speakers) <= max_tokens:
        return rolling
    return _trimmed(rolling, max_tokens, speakers=speakers, keeps_own=False)


def tokens_of(rolling: Rolling, *, speakers: bool = False) -> int:
    """Return what a summary costs a model that reads it whole."""
    return count(shown(rolling, speakers=speakers))


def _item(line: Line, *, named: bool) -> str:
    return f"{line.speaker}: {line.text}" if named and line.speaker else line.text


def section_text(title: str, items: Iterable[str]) -> str:
    """Return a heading and its bullets."""
    return "\n".join([f"## {title}", *(f"- {item}" for item in items)])


def still_said(rolling: Rolling, messages: Sequence[Message]) -> Rolling:
    """Return the summary without those of our lines that no message says any more.

    A line's own message must say it, word for word. A person may take words out of the session's
    file, or ask later that something be not kept.
    """
    kept = keeping(messages) if rolling.lines else ()
    texts = {one.block: one.text for one in kept if one.block and one.text}
    lines = tuple(one for one in rolling.lines if one.own or not one.block or _is_said(one, texts))
    return replace(rolling, lines=lines)


def _is_said(line: Line, texts: dict[str, str]) -> bool:
    words, text = reading.unmarked(line.text), texts.get(line.source, "")
    return words in text or _close(words) in _close(text)


def _close(text: str) -> str:
    """Return a text by which two are compared however their lines and spaces fall."""
    return "".join(one_line(text).split())


# --- the file -----------------------------------------------------------------------------


def source_bullet(line: Line) -> str:
    """Return what follows a bullet's mark: the words, where they come from, the block id.

    A number tells whether a person has changed the words since.
    """
    known = {"from": line.source, "at": line.at, "by": line.speaker, "w": line.weight}
    return f"{escape(line.text)} {comment(known | {'c': _check(line.text)})} ^{line.block}"


def _check(text: str) -> int:
    return zlib.crc32(text.encode()) & 0xFFFF


def parse_rolling(text: str) -> Rolling:
    """Return what a summary's file says, however it was edited; never raises."""
    found = front_matter(text)
    values = found.properties if found else {}
    return Rolling(
        session=_text(values.get("session")),
        agent=_text(values.get("agent")),
        language=_text(values.get("language")) or "en",
        updated=_text(values.get("updated")),
        upto=_text(values.get("upto")),
        messages=int(_number(values.get("messages"), 2**32)),
        lines=ordered(line for line, _ in _placed_in(text)),
    )


def rewritten(text: str, rolling: Rolling) -> str:
    """Return a summary's file with the summary as it is now; an empty text gives a new file."""
    values: dict[str, str | int] = {
        "session": rolling.session,
        "agent": rolling.agent,
        "language": rolling.language,
        "updated": rolling.updated,
        "upto": rolling.upto,
        "messages": rolling.messages,
        "tokens": tokens_of(rolling),
    }
    with suppress(BadArgument):  # a person's front matter, broken
        for key, value in values.items():
            text = edits.set_property(text, key, value)
    wanted = {one.block: one for one in rolling.lines if not one.own}
    for line, bullet in reversed(_placed_in(text)):
        new = wanted.pop(line.block, None)
        if line.own or new == line:
            continue
        if new is None:
            text = edits.delete_lines(text, bullet.start, bullet.end)
        else:
            text = f"{text[: bullet.start]}- {source_bullet(new)}{text[bullet.end :]}"
    for kind, lines in groupby(ordered(wanted.values()), key=lambda one: one.kind):
        items = edits.newline_of(text).join(f"- {source_bullet(one)}" for one in lines)
        text = _with_bullets(text, kind, items, rolling.language)
    return text


def _placed_in(text: str) -> list[tuple[Line, Bullet]]:
    """Return every bullet under one of our headings or with our comment."""
    found: list[tuple[Line, Bullet]] = []
    taken: set[str] = set()
    for bullet in bullets(text):
        kind, known = _section_of(bullet.heading), _known(bullet)
        if not kind and not known:
            continue
        ours = bullet.block and bullet.block not in taken and known.get("c") == _check(bullet.text)
        taken.add(bullet.block)
        source, at = _text(known.get("from")), int(_number(known.get("at"), 2**32))
        line = Line(bullet.text, kind or "other", bullet.block, source, at, own=True)
        if ours and kind:
            weight, speaker = _number(known.get("w"), 10**3), _text(known.get("by"))
            line = replace(line, own=False, weight=weight, speaker=speaker)
        found.append((line, bullet))
    return found


def _known(bullet: Bullet) -> dict[str, Any]:
    """Return what our comment in a bullet says; nothing where there is none."""
    match = _COMMENT.search(bullet.raw)
    try:
        known = json.loads(match[1]) if match else {}
    except (ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) and "c" in known else {}


@lru_cache(maxsize=512)
def _section_of(heading: str) -> Kind | None:
    """Return which of our sections a heading opens, in whatever language."""
    told = heading.strip().casefold()
    named = ((headings(code)[kind], kind) for code in reading.LANGUAGES for kind in KINDS)
    return next((kind for title, kind in named if title.casefold() == told), None)


def _opened_by(line: str) -> Kind | None:
    """Return which of our sections a line of the file opens."""
    title = HEADING.match(line)
    return _section_of(plain(title.group(1))[0]) if title else None


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _number(value: object, most: int) -> float:
    return value if isinstance(value, (int, float)) and 0 <= value < most else 0


def _with_bullets(text: str, kind: Kind, lines: str, language: str) -> str:
    """Return the text with bullets at the end of a section; the section is made if it lacks."""
    last = [one.end for _, one in _placed_in(text) if _section_of(one.heading) == kind]
    if last:
        return edits.insert_line_after(text, max(last), lines)
    newline = edits.newline_of(text)
    section = f"## {headings(language)[kind]}{newline}{newline}{lines}"
    opened = ((start, _opened_by(line)) for start, _, line in prose(text))
    after = KINDS[KINDS.index(kind) + 1 :]
    if (at := next((start for start, known in opened if known in after), None)) is not None:
        return edits.insert_line_before(text, at, f"{section}{newline}")
    ended = edits.end_line(text)
    gap = "" if not ended or ended.endswith(newline * 2) else newline
    return f"{ended}{gap}{section}{newline}"
