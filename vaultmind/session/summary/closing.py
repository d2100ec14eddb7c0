"""What is written when a conversation ends: what it was about, what was decided, what is next.

Extractive, at once: the next conversation starts with it, long before a model has had time to
say it better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from vaultmind.redact import MARK, PRIVATE
from vaultmind.session.summary.cues import language_of, said
from vaultmind.session.summary.due import unfolded
from vaultmind.session.summary.fold import lines_of
from vaultmind.session.summary.labels import label_of
from vaultmind.session.summary.rolling import Line, Rolling
from vaultmind.session.summary.sentences import sentences, shortened, unmarked
from vaultmind.session.summary.showing import section_text, source_bullet
from vaultmind.session.summary.weigh import Sentence, faded, read, telling_parts
from vaultmind.tokens import clip, count
from vaultmind.types import ROLES, Message
from vaultmind.vault.oneline import escape

LINE_TOKENS = 32
MOST = {"about": 4, "decision": 8, "question": 4, "next": 4, "fact": 6}
"""Lines of each section, ..."""
FILLS = ("question", "next", "decision", "fact")
"""These go on where there is room left, in this order, ..."""
MOST_FILLED = 12
"""... up to so many lines each."""
FIRST = ("decision", "about", "next", "question", "fact")
"""... which take their turns in this order while there is room, ..."""
SHOWN = ("about", "decision", "fact", "question", "next")
"""... and are shown in this one."""
TINY = 2
"""A conversation with so few sentences that say something is called short."""
SLIGHT_WORDS = 5
"""A statement without a number, a name or a plan counts if it has so many content words."""
SLIGHT_LINES = 4
"""A lone question and its answer are so many lines at most."""
ASKED_WORDS = 3
"""What the user asks of one who works with tools counts if it has so many content words."""
ASKED = 1.5
"""What it weighs more then: that and what was decided is what the work was about."""
TOPICS = 4
_LETTER = re.compile(r"[^\W_]")
SHARE_OF_RECENT = 0.5
"""What somebody is going to do is looked for in this last part of a conversation."""


@dataclass(frozen=True, slots=True)
class _Sections:
    """The lines that may be shown, by section, the best first."""

    topics: tuple[str, ...]
    lines: dict[str, list[Line]]


@dataclass(frozen=True, slots=True)
class _Talk:
    """What is to be known of a whole conversation to sort its lines."""

    total: int
    """Its messages."""
    language: str
    works: bool
    """Whether tools were used in it."""


def active_context(
    messages: Sequence[Message], rolling: Rolling, max_tokens: int = 300, language: str = ""
) -> str:
    """Return Markdown of at most `max_tokens` tokens; empty where nothing was said at all.

    `messages` are those of the conversation that may be recalled, all or those that `rolling`
    does not hold. Each bullet stands in a message, whole or as a marked piece.
    """
    language = language or rolling.language
    rest = unfolded(messages, rolling.upto)
    total = rolling.messages + len(rest)
    asides = _asides(rest, rolling.messages)
    new = lines_of(rest, rolling.messages, language)
    lines = [*rolling.lines, *(one for one in new if not _is_aside(one, asides, language))]
    lines = [
        one for one in lines if one.kind == "decision" or not _names_what_was_taken_out(one.text)
    ]
    if len(lines) <= TINY:
        return _tiny(messages, lines, max_tokens, language)
    talk = _Talk(total, language, works=any(one.role == "tool" for one in rest))
    topics = tuple(mark.label for mark in rolling.topics[-TOPICS:]) or _one_topic(lines, language)
    return _fitted(_Sections(topics, _sorted(lines, talk)), max_tokens, language)


def is_slight(messages: Sequence[Message], rolling: Rolling, language: str = "") -> bool:
    """Tell whether what an earlier conversation left need not make way for this one.

    So it is for a greeting, small talk, or a lone question with its answer.
    """
    language = language or rolling.language
    if rolling.messages or rolling.lines:
        return False
    lines = lines_of(messages, 0, language)
    if len(lines) > SLIGHT_LINES or any(one.kind == "decision" for one in lines):
        return False
    spoken = [one for one in messages if _is_spoken(one)]
    spoken = [one for one in spoken if one.role == "user"] or spoken
    read_ = [read(text, language) for one in spoken for text in sentences(one.text)]
    told = [one for one in read_ if not one.is_small_talk]
    return not any(map(_tells, told)) and len(told) <= 1


def _tells(sentence: Sentence) -> bool:
    """Tell whether a sentence is a statement that counts for itself."""
    if sentence.asks:
        return False
    counts = sentence.numbers or sentence.names or sentence.is_open
    return bool(counts or said(sentence.folded, "next") or len(sentence.stems) >= SLIGHT_WORDS)


def _asides(messages: Sequence[Message], before: int) -> frozenset[int]:
    """Return the numbers of the messages that only accompany the use of a tool."""
    pairs = enumerate(pairwise(messages), before + 1)
    return frozenset(
        at for at, (one, next_) in pairs if one.role == "assistant" and next_.role == "tool"
    )


def _is_aside(line: Line, asides: frozenset[int], language: str) -> bool:
    """Tell whether a line says what a tool was about to be used for, and nothing that lasts."""
    if line.at not in asides or line.kind == "decision":
        return False
    return line.kind != "fact" or said(read(unmarked(line.text), language).folded, "next")


def _names_what_was_taken_out(text: str) -> bool:
    """Tell whether a sentence had a secret in it, or nothing is left of it but a mark."""
    marks = MARK.findall(text)
    secret = any(mark != f"‹{PRIVATE}›" for mark in marks)
    return secret or (bool(marks) and not _LETTER.search(MARK.sub("", text)))


def _sorted(lines: Sequence[Line], talk: _Talk) -> dict[str, list[Line]]:
    """Return the lines by section, the best first, each in one section only."""
    short = [replace(one, text=shortened(one.text, LINE_TOKENS, telling_parts)) for one in lines]
    ranked = sorted(short, key=lambda one: (-_worth(one, talk), -one.at))
    found: dict[str, list[Line]] = {name: [] for name in FIRST}
    for line in ranked:
        if (name := _section(line, talk)) in found:
            found[name].append(line)
    if not found["about"]:
        found["about"], found["fact"] = found["fact"], []
    found["next"].sort(key=lambda one: -one.at)
    return found


def _worth(line: Line, talk: _Talk) -> float:
    asked = talk.works and line.speaker == "user"
    return faded(line, talk.total) + (ASKED if asked else 0.0)


def _section(line: Line, talk: _Talk) -> str:
    """Return a line's section; empty for what the user only said to keep the work going."""
    if line.kind in ("decision", "question"):
        return line.kind
    sentence = read(unmarked(line.text), talk.language)
    if line.at > talk.total * (1 - SHARE_OF_RECENT) and _is_step(sentence):
        return "next"
    if not talk.works or line.own:
        return "fact" if line.kind == "fact" else "about"
    if line.speaker != "user":
        return "fact"
    return "about" if sentence.numbers or len(sentence.stems) >= ASKED_WORDS else ""


def _is_step(sentence: Sentence) -> bool:
    """Tell whether somebody is going to do something: `maybe I should, some day` is no step."""
    return said(sentence.folded, "next") and not said(sentence.folded, "musing")


def _fitted(sections: _Sections, max_tokens: int, language: str) -> str:
    """Return the sections with as many of their lines as there is room for, turn by turn."""
    chosen: dict[str, list[Line]] = {name: [] for name in FIRST}
    turns = [(turn, name) for turn in range(max(MOST.values())) for name in FIRST]
    own = [(turn, name) for turn, name in turns if turn < MOST[name]]
    rest = [(turn, name) for name in FILLS for turn in range(MOST[name], MOST_FILLED)]
    for turn, name in (*own, *rest):
        if turn >= len(sections.lines[name]):
            continue
        chosen[name].append(sections.lines[name][turn])
        if count(_text(sections.topics, chosen, language)) > max_tokens:
            chosen[name].pop()
    if not any(chosen.values()):
        return _clipped(sections, max_tokens)
    return _text(sections.topics, chosen, language, marked=True)


def _clipped(sections: _Sections, max_tokens: int) -> str:
    """Return the best line, cut, where there is no room for any whole one."""
    for name in FIRST:
        for line in sections.lines[name][:1]:
            return _cut(line.text, max_tokens)
    return ""


def _cut(text: str, max_tokens: int) -> str:
    """Return as much of a line as fits, with a mark, escaped."""
    for most in range(max_tokens, 0, -1):
        if count(shown := escape(clip(text, most))) <= max_tokens:
            return shown
    return ""


def _text(
    topics: Sequence[str], chosen: dict[str, list[Line]], language: str, *, marked: bool = False
) -> str:
    """Return the sections; `marked` with what says where each bullet comes from."""
    headings = language_of(language).headings
    parts = []
    for name in SHOWN:
        lines = sorted(chosen[name], key=lambda one: one.at)
        items = [source_bullet(one) if marked else escape(one.text) for one in lines]
        if name == "about" and topics and any(chosen.values()):
            items = [escape(" · ".join(topics)), *items]
        if items:
            parts.append(section_text(headings[name], items))
    return "\n\n".join(parts)


def _one_topic(lines: Sequence[Line], language: str) -> tuple[str, ...]:
    speakers = {one.speaker for one in lines}.difference(ROLES)
    said_ = label_of((unmarked(one.text) for one in lines), language, speakers)
    return (said_,) if said_ else ()


def _tiny(
    messages: Sequence[Message], lines: Sequence[Line], max_tokens: int, language: str
) -> str:
    """Return what there is to say of a conversation that hardly was one."""
    spoken = [one for one in messages if _is_spoken(one) and sentences(one.text)]
    told = [one for message in spoken for one in sentences(message.text)]
    told = [one for one in told if not _names_what_was_taken_out(one)]
    if not told and not lines:
        return ""
    texts = language_of(language).words
    note = texts["short"].format(len(spoken) or len(lines))
    ranked = sorted(lines, key=lambda one: one.at)
    items = [(one.text, escape(one.text), source_bullet(one)) for one in ranked]
    if not items:
        first = shortened(told[0], LINE_TOKENS, telling_parts)
        items, note = [(first, escape(first), escape(first))], f"{note}; {texts['nothing']}"
    if count(f"{note}.\n\n" + "\n".join(f"- {text}" for _, text, _ in items)) > max_tokens:
        return _cut(items[0][0], max_tokens)
    return f"{note}.\n\n" + "\n".join(f"- {bullet}" for *_, bullet in items)


def _is_spoken(message: Message) -> bool:
    quiet = message.asked or message.erased or not message.text.strip()
    return message.role in ("user", "assistant") and not quiet
