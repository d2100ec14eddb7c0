"""What a conversation is about, and when it turns to something else.

A message far from the running topic's centroid makes the topic doubtful, and only if what follows
stays far has it changed. How far is far is learned from the conversation: so much above its mean
distance. A greeting or "by the way" makes a change easier; a pause is one only where nothing can
be told from words. It compares words' stems, as TextTiling does (Hearst, 1997), with fading counts
in the place of its blocks. On LoCoMo a small embedder's vectors do worse where talks begin with a
greeting, and better where they do not (docs/benchmarks.md).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from vaultmind.session.sentences import Counts, label, label_words, read, said, stemmed
from vaultmind.session.summary import TopicMark
from vaultmind.types import Message
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.transcript import parse_session

FAR, STILL_FAR = 1.25, 0.5
"""Standard deviations above the mean distance from which a message is far; one after a far one."""
CONFIRMED, FEWEST = 2, 8
"""Far messages in a row that make a new topic; telling messages before which none can change."""
MOVES, DOUBT_MOVES = 0.35, 0.6
"""How much of the way to each new message a topic's centroid moves; a doubtful topic's."""
LEARNS = 0.05
"""How much each message changes what distance is usual, once there are many."""
EASED = 2.0
"""Standard deviations that a greeting or "by the way" takes off."""
LEAST_SPREAD = 0.1
"""A conversation all of one subject would find a change in every shade of it."""
MIN_STEMS, KEPT_STEMS = 3, 120
"""Content words of a message that says something; stems of a topic that are kept."""
PAUSE_SECONDS = 1800.0
_LIKE_SEGMENT = re.compile(r"Segment +\d+")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic while it runs."""

    source: str = ""
    """The block id of the message it began with."""
    at: int = 0
    """The number of that message, from 1."""
    said: int = 0
    """Its messages that say something."""
    near: Counts = field(default_factory=dict)
    """Fading counts of stems, of length 1: the topic's centroid."""
    counts: Counts = field(default_factory=dict)
    """How often each stem was said, for the label."""
    forms: dict[str, str] = field(default_factory=dict)
    """Each stem as it was written."""


@dataclass(frozen=True, slots=True)
class Running:
    """Where a conversation stands: its topic, the one it may be turning to, what is usual."""

    topic: Topic = field(default_factory=Topic)
    doubt: Topic | None = None
    before: Counts = field(default_factory=dict)
    """Stems of the topics before; speakers' names without end: what is always said labels none."""
    messages: int = 0
    heard: int = 0
    """Messages that say something."""
    mean: float = 0.4
    variance: float = 0.01
    last: str = ""
    """Time of the newest message."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a message did. `ended` is the topic it ended, `began` the new one; None: no change."""

    running: Running
    ended: TopicMark | None = None
    began: Topic | None = None


def hear(running: Running, message: Message, language: str = "en") -> Step:
    """Return where a conversation stands after a message.

    A topic that changes did so with the message `began.source`, which is this one or one shortly
    before it: the doubt must be confirmed.
    """
    number, text = running.messages + 1, message.text
    running = replace(running, messages=number)
    if message.role not in ("user", "assistant") or message.asked or message.erased:
        return Step(running)
    paused = _paused(running.last, message.time)
    names = {stem: math.inf for stem, _ in stemmed(message.speaker, language)}
    before = running.before if names.items() <= running.before.items() else running.before | names
    running = replace(running, last=message.time or running.last, before=before)
    often = Counter(stem for stem, _ in stemmed(text, language))
    if paused and (len(often) < MIN_STEMS or not running.topic.said):
        return turn(running, message.block, number)
    if len(often) < MIN_STEMS:
        return Step(running)
    counts, forms = label_words(text, language)
    heard = Topic(message.block, number, 1, _unit(dict(often)), counts, forms)
    if not running.topic.said:
        start = replace(heard, source=running.topic.source, at=running.topic.at)
        topic = start if running.topic.at else heard
        return Step(replace(running, topic=topic, heard=running.heard + 1))
    folded = read(text, language).folded
    eases = said(folded, "greeting") or said(folded, "aside")
    return _step(running, heard, EASED if eases else 0.0)


def turn(running: Running, source: str, at: int) -> Step:
    """Return the step with which a topic begins with a message, whatever its words."""
    return _turned(running, Topic(source, at))


def mark_of(topic: Topic, before: Counts | None = None) -> TopicMark:
    """Return a topic by its most telling words: said often in it, seldom in those before."""
    return TopicMark(label(topic.counts, topic.forms, before or {}), topic.source, topic.at)


def heading(mark: TopicMark, newline: str = "\n") -> str:
    """Return the heading that starts a topic in the session's file, and a blank line."""
    title = " ".join(mark.label.replace("%", " ").replace("#", " ").split())
    title += " ·" if _LIKE_SEGMENT.fullmatch(title) else ""
    return f"## {title}{newline}{newline}" if title else ""


def with_headings(marks: Sequence[TopicMark]) -> Change:
    """Return the change that puts a heading before the message that each topic began with."""

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        text = file.text
        starts = {one.message.block: one.start for one in parse_session(text).messages}
        there = {starts[one.source]: one for one in marks if one.source in starts}
        for start, mark in sorted(there.items(), reverse=True):
            before, title = text[:start], heading(mark, file.newline)
            if title and not before.rstrip().rpartition("\n")[2].startswith("#"):
                gap = "" if before.endswith(file.newline * 2) else file.newline
                text = f"{before}{gap}{title}{text[start:]}"
        return text if text != file.text else None

    return change


def _step(running: Running, heard: Topic, ease: float) -> Step:
    """Return where a conversation stands after a message that says something."""
    spread = max(LEAST_SPREAD, math.sqrt(running.variance))
    distance = _between(running.topic, heard)
    rate, off = max(1 / (running.heard + 1), LEARNS), distance - running.mean
    learned = replace(
        running,
        heard=running.heard + 1,
        mean=running.mean + rate * off,
        variance=(1 - rate) * (running.variance + rate * off * off),
    )
    topic, doubt = running.topic, running.doubt
    if doubt is not None:
        doubt = _joined(doubt, heard, DOUBT_MOVES)
        if _between(topic, doubt) > running.mean + (STILL_FAR - ease) * spread:
            if doubt.said >= CONFIRMED:
                return _turned(learned, doubt)
            return Step(replace(learned, doubt=doubt))
        topic = _joined(topic, running.doubt or doubt, MOVES)
    elif topic.said >= FEWEST and distance > running.mean + (FAR - ease) * spread:
        return Step(replace(learned, doubt=heard))
    return Step(replace(learned, topic=_joined(topic, heard, MOVES), doubt=None))


def _turned(running: Running, topic: Topic) -> Step:
    old = running.topic
    before = _kept(_sum(running.before, old.counts))
    after = replace(running, topic=topic, doubt=None, before=before)
    return Step(after, mark_of(old, running.before) if old.said else None, topic)


def _joined(topic: Topic, other: Topic, moves: float) -> Topic:
    """Return a topic moved some of the way towards another, whose messages it takes."""
    near = _sum(topic.near, other.near, 1 - moves, moves)
    counts = _kept(_sum(topic.counts, other.counts))
    forms = other.forms | topic.forms
    return replace(
        topic,
        said=topic.said + other.said,
        near=_unit(_kept(near)),
        counts=counts,
        forms={stem: forms.get(stem, stem) for stem in counts},
    )


def _between(one: Topic, other: Topic) -> float:
    """Return how far the words of two topics are apart, from 0 to 1."""
    return 1 - sum(often * other.near.get(stem, 0.0) for stem, often in one.near.items())


def _paused(last: str, time: str) -> bool:
    try:
        silence = datetime.fromisoformat(time) - datetime.fromisoformat(last)
    except (ValueError, TypeError):  # no time, or one with an offset and one without
        return False
    return silence.total_seconds() >= PAUSE_SECONDS


def _sum(one: Counts, other: Counts, share: float = 1.0, of_other: float = 1.0) -> Counts:
    total = {stem: often * share for stem, often in one.items()}
    for stem, often in other.items():
        total[stem] = total.get(stem, 0.0) + often * of_other
    return total


def _kept(counts: Counts) -> Counts:
    """Return the counts, the rarest dropped where there are too many."""
    ranked = sorted(counts, key=lambda stem: (-counts[stem], stem))
    return {stem: counts[stem] for stem in ranked[:KEPT_STEMS]}


def _unit(counts: Counts) -> Counts:
    length = math.sqrt(sum(often * often for often in counts.values()))
    return {stem: often / length for stem, often in counts.items()} if length else {}
