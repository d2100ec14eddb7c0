"""What a conversation is about, and when it turns to something else.

Topics change by meaning: a message far from the running topic's centroid makes the topic
doubtful, and only if what follows stays far has it changed (hysteresis). How far is far is
learned from the conversation: so much above its mean distance. A greeting or "by the way" makes
a change easier; a pause is one only where nothing can be told from words. A step for each
message, at the same cost whatever came before.

Without vectors it compares words' stems, as TextTiling does (Hearst, 1997), with fading counts
in the place of its blocks.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.session.summary.cues import said
from vaultmind.session.summary.labels import counted, label, names_of
from vaultmind.session.summary.rolling import TopicMark
from vaultmind.session.summary.weigh import read, stemmed
from vaultmind.types import Message

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

FAR = 1.25
"""Standard deviations above the mean distance from which a message is far from the topic."""
STILL_FAR = 0.5
"""The same for what follows a far message: less is asked of it."""
CONFIRMED = 2
"""Far messages in a row that make a new topic, the first included."""
FEWEST = 8
"""Messages that say something which a topic has before it can change."""
MOVES = 0.35
"""How much of the way to each new message a topic's centroid moves; with words: fades."""
DOUBT_MOVES = 0.6
"""The same of the doubtful topic's."""
LEARNS = 0.05
"""How much each message changes what distance is usual, once there are many."""
EASED = 2.0
"""Standard deviations that a greeting or "by the way" takes off."""
LEAST_SPREAD = 0.1
"""A conversation all of one subject would find a change in every shade of it."""
START_MEAN, START_VARIANCE = 0.4, 0.01
MIN_STEMS = 3
"""A message with fewer content words says nothing about the topic."""
PAUSE_MINUTES = 30.0
KEPT_STEMS = 120
"""Stems of a topic that are kept; the rarest go."""


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
    centroid: Matrix | None = None
    near: Mapping[str, float] = field(default_factory=dict)
    """Fading counts of stems, of length 1: the centroid without vectors."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """How often each stem was said, for the label."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Each stem as it was written."""


@dataclass(frozen=True, slots=True)
class Running:
    """Where a conversation stands: its topic, the one it may be turning to, what is usual."""

    topic: Topic = field(default_factory=Topic)
    doubt: Topic | None = None
    before: Mapping[str, float] = field(default_factory=dict)
    """Counts of stems of the topics before: what is said always tells no topic from others, and
    least of all speakers' names."""
    messages: int = 0
    heard: int = 0
    """Messages that say something."""
    mean: float = START_MEAN
    variance: float = START_VARIANCE
    last: str = ""
    """Time of the newest message."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a message did. `ended` is the topic it ended, `began` the new one; None: no change."""

    running: Running
    ended: TopicMark | None = None
    began: Topic | None = None


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a message says of the topic."""

    stems: Mapping[str, float]
    forms: Mapping[str, str]
    near: Mapping[str, float]
    vector: Matrix | None
    said: int
    """Its different content words."""
    eased: bool
    """Whether it says in words that something else begins."""


def hear(
    running: Running, message: Message, language: str = "en", vector: Matrix | None = None
) -> Step:
    """Return where a conversation stands after a message; `vector` is its own, of length 1.

    Words of requests, tools and system messages do not count. A topic that changes did so with
    the message `began.source`, which is this one or one shortly before it: the doubt must be
    confirmed. Messages with vectors and without may follow each other.
    """
    running = replace(running, messages=running.messages + 1)
    if message.role not in ("user", "assistant") or message.asked or message.erased:
        return Step(running)
    paused = _paused(running.last, message.time)
    running = replace(running, last=message.time or running.last)
    running = _introduced(running, message.speaker, language)
    heard = _heard(message.text, language, vector)
    if paused and _says_nothing(running, heard):
        return _turned(running, Topic(message.block, running.messages))
    if heard.said < MIN_STEMS:
        return Step(running)
    if not running.topic.said:
        first = replace(running.topic, source=message.block, at=running.messages)
        start = running.topic if running.topic.at else first
        return Step(replace(running, topic=_with(start, heard, MOVES), heard=running.heard + 1))
    return _step(running, message, heard)


def turn(running: Running, source: str) -> Running:
    """Return where a conversation stands when a topic begins with its next message, of the block
    id `source`: a heading in its file says so, whatever the words.
    """
    return _turned(running, Topic(source, running.messages + 1)).running


def heading(mark: TopicMark, newline: str = "\n") -> str:
    """Return the heading that starts a topic in the session's file, and a blank line.

    It is never taken for the heading of a segment, whatever the topic's words are.
    """
    label = " ".join(mark.label.replace("%", " ").replace("#", " ").split())
    if _LIKE_SEGMENT.fullmatch(label):
        label += " ·"
    return f"## {label}{newline}{newline}" if label else ""


def mark_of(topic: Topic, before: Mapping[str, float] | None = None) -> TopicMark:
    """Return a topic by its most telling words: said often in it, seldom in those before."""
    return TopicMark(label(topic.counts, topic.forms, before or {}), topic.source, topic.at)


def _step(running: Running, message: Message, heard: _Heard) -> Step:
    """Return where a conversation stands after a message that says something."""
    spread = max(LEAST_SPREAD, math.sqrt(running.variance))
    distance = _distance(running.topic, heard)
    ease = EASED if heard.eased else 0.0
    learned = _learned(running, distance)
    doubt = running.doubt
    if doubt is not None:
        doubt = _with(doubt, heard, DOUBT_MOVES)
        if _between(running.topic, doubt) > running.mean + (STILL_FAR - ease) * spread:
            if doubt.said >= CONFIRMED:
                return _turned(learned, doubt)
            return Step(replace(learned, doubt=doubt))
        doubt = None
    elif running.topic.said >= FEWEST and distance > running.mean + (FAR - ease) * spread:
        fresh = Topic(message.block, running.messages)
        return Step(replace(learned, doubt=_with(fresh, heard, DOUBT_MOVES)))
    topic = running.topic if running.doubt is None else _joined(running.topic, running.doubt)
    return Step(replace(learned, topic=_with(topic, heard, MOVES), doubt=doubt))


def _introduced(running: Running, speaker: str, language: str) -> Running:
    """Return the conversation with a speaker's name known for one, so that it is no label."""
    names = names_of([speaker], language) if speaker else set()
    if not names or all(running.before.get(name) == math.inf for name in names):
        return running
    return replace(running, before={**running.before, **dict.fromkeys(names, math.inf)})


def _turned(running: Running, topic: Topic) -> Step:
    """Return the step with which a new topic began."""
    ended = mark_of(running.topic, running.before)
    before = _kept(_sum(running.before, running.topic.counts))
    after = replace(running, topic=topic, doubt=None, before=before)
    return Step(after, ended=ended if running.topic.said else None, began=topic)


def _heard(text: str, language: str, vector: Matrix | None) -> _Heard:
    often = Counter(stem for stem, _ in stemmed(text, language))
    counts, forms = counted(text, language)
    folded = read(text, language).folded
    eased = said(folded, "greeting") or said(folded, "aside")
    return _Heard(counts, forms, _unit(often), vector, len(often), eased)


def _with(topic: Topic, heard: _Heard, moves: float) -> Topic:
    """Return a topic with one more message in it."""
    centroid = topic.centroid
    if heard.vector is not None:
        if centroid is None or centroid.shape != heard.vector.shape:
            centroid = heard.vector
        else:
            centroid = centroid * (1 - moves) + heard.vector * moves
    near = heard.near
    if topic.near:
        near = _unit(_kept(_sum(_scaled(topic.near, 1 - moves), _scaled(heard.near, moves))))
    counts = _kept(_sum(topic.counts, heard.stems))
    forms = {stem: topic.forms.get(stem) or heard.forms.get(stem, stem) for stem in counts}
    return replace(
        topic, said=topic.said + 1, centroid=centroid, near=near, counts=counts, forms=forms
    )


def _joined(topic: Topic, doubt: Topic) -> Topic:
    """Return the topic with the messages that had been doubtful."""
    heard = _Heard(doubt.counts, doubt.forms, doubt.near, doubt.centroid, 0, eased=False)
    return replace(_with(topic, heard, MOVES), said=topic.said + doubt.said)


def _learned(running: Running, distance: float) -> Running:
    """Return what is usual after one more distance: mean and variance, fading."""
    rate = max(1 / (running.heard + 1), LEARNS)
    off = distance - running.mean
    return replace(
        running,
        heard=running.heard + 1,
        mean=running.mean + rate * off,
        variance=(1 - rate) * (running.variance + rate * off * off),
    )


def _distance(topic: Topic, heard: _Heard) -> float:
    return _between(topic, Topic(centroid=heard.vector, near=heard.near))


def _between(one: Topic, other: Topic) -> float:
    """Return how far two topics are, from 0 to 2: by meaning if both have it, else by words."""
    left, right = one.centroid, other.centroid
    if left is not None and right is not None and left.shape == right.shape:
        length = math.sqrt(float(left @ left) * float(right @ right))
        return 1 - float(left @ right) / length if length else 1.0
    return 1 - sum(often * other.near.get(stem, 0.0) for stem, often in one.near.items())


def _says_nothing(running: Running, heard: _Heard) -> bool:
    return heard.said < MIN_STEMS or not running.topic.said


def _paused(last: str, time: str) -> bool:
    try:
        silence = datetime.fromisoformat(time) - datetime.fromisoformat(last)
    except (ValueError, TypeError):  # no time, or one with an offset and one without
        return False
    return silence.total_seconds() >= PAUSE_MINUTES * 60


def _sum(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    total = dict(one)
    for stem, often in other.items():
        total[stem] = total.get(stem, 0.0) + often
    return total


def _scaled(counts: Mapping[str, float], by: float) -> dict[str, float]:
    return {stem: often * by for stem, often in counts.items()}


def _kept(counts: dict[str, float]) -> dict[str, float]:
    """Return the counts, the rarest dropped where there are too many."""
    if len(counts) <= KEPT_STEMS:
        return counts
    ranked = sorted(counts, key=lambda stem: (-counts[stem], stem))
    return {stem: counts[stem] for stem in ranked[:KEPT_STEMS]}


def _unit(counts: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(often * often for often in counts.values()))
    return _scaled(counts, 1 / length) if length else {}
