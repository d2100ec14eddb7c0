"""What a conversation is about, and when it turns to something else.

A message far from the running topic's centroid makes the topic doubtful, and only if what follows
stays far has it changed. How far is far is learned from the conversation: so much above its mean
distance. A greeting or "by the way" makes a change easier. It compares words' stems, as TextTiling
does (Hearst, 1997), with fading counts in the place of its blocks. On LoCoMo a small embedder's
vectors do worse where talks begin with a greeting, and better where they do not
(docs/benchmarks.md).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import words
from vaultmind.session.sentences import CAPITAL_NOUNS, read, said, small_words, stemmed
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
LABEL_WORDS, NAME_COUNTS = 3, 1.5
"""Words of a label, and what a name counts among them, other words counting 1."""
HEADING = re.compile(r"^## (?![ \t]*Segment[ \t]+\d)([^\r\n]*\S)", re.MULTILINE)
"""A topic's heading in a session's file."""
_LIKE_SEGMENT = re.compile(r"Segment +\d+")
Counts = dict[str, float]
"""How often each stem was said."""


@dataclass(slots=True)
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

    def take(self, other: Topic, moves: float) -> None:
        """Move some of the way towards another topic, whose messages are taken."""
        self.said += other.said
        self.near = _unit(_sum(self.near, other.near, 1 - moves, moves))
        self.counts = _sum(self.counts, other.counts)

    def far_from(self, other: Topic) -> float:
        """Return how far the words of two topics are apart, from 0 to 1."""
        return 1 - sum(often * other.near.get(stem, 0.0) for stem, often in self.near.items())


@dataclass(slots=True)
class Topics:
    """Hears a conversation, message by message: its topic, and the one it may be turning to."""

    topic: Topic = field(default_factory=Topic)
    doubt: Topic | None = None
    messages: int = 0
    _before: Counts = field(default_factory=dict)
    """Stems of the topics before; speakers' names without end: what is always said labels none."""
    _forms: dict[str, str] = field(default_factory=dict)
    """Each stem as it was written."""
    _heard: int = 0
    """Messages that say something."""
    _mean: float = 0.4
    _variance: float = 0.01

    def hear(self, message: Message, language: str = "en") -> bool:
        """Take the next message; return whether a topic began.

        It did so with `topic.source`, which is this message or one shortly before it: the doubt
        must be confirmed.
        """
        self.messages += 1
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            return False
        for stem, _ in stemmed(message.speaker, language):
            self._before[stem] = math.inf
        often = Counter(stem for stem, _ in stemmed(message.text, language))
        if len(often) < MIN_STEMS:
            return False
        counts = self._label_words(message.text, language)
        heard = Topic(message.block, self.messages, 1, _unit(dict(often)), counts)
        if not self.topic.said:
            self.topic, self._heard = heard, self._heard + 1
            return False
        folded = read(message.text, language).folded
        eases = said(folded, "greeting") or said(folded, "aside")
        return self._step(heard, EASED if eases else 0.0)

    def label(self) -> str:
        """Return the topic's most telling words: said often in it, and seldom in those before."""
        worth = {
            stem: often * often / (1 + math.sqrt(self._before.get(stem, 0.0)))
            for stem, often in self.topic.counts.items()
        }
        ranked = sorted(filter(worth.__getitem__, worth), key=lambda stem: (-worth[stem], stem))
        return ", ".join(self._forms[stem] for stem in ranked[:LABEL_WORDS])

    def _label_words(self, text: str, language: str) -> Counts:
        """Return how often a text says each stem that may stand in a label."""
        names = set(read(text, language).names)
        counts: Counts = {}
        for stem, form in stemmed(text, language):
            if form.isalpha() and not _is_common(form):
                counts[stem] = counts.get(stem, 0.0) + (NAME_COUNTS if form in names else 1.0)
                opens = form.istitle() and form not in names and language not in CAPITAL_NOUNS
                self._forms.setdefault(stem, form.lower() if opens else form)
        return counts

    def _step(self, heard: Topic, ease: float) -> bool:
        """Take a message that says something; return whether a topic began."""
        mean, spread = self._mean, max(LEAST_SPREAD, math.sqrt(self._variance))
        distance = self.topic.far_from(heard)
        rate, off = max(1 / (self._heard + 1), LEARNS), distance - mean
        self._heard += 1
        self._mean += rate * off
        self._variance = (1 - rate) * (self._variance + rate * off * off)
        if self.doubt is None:
            if self.topic.said >= FEWEST and distance > mean + (FAR - ease) * spread:
                self.doubt = heard
            else:
                self.topic.take(heard, MOVES)
            return False
        before = replace(self.doubt)
        self.doubt.take(heard, DOUBT_MOVES)
        if self.topic.far_from(self.doubt) > mean + (STILL_FAR - ease) * spread:
            return self.doubt.said >= CONFIRMED and self._turn(self.doubt)
        self.topic.take(before, MOVES)
        self.topic.take(heard, MOVES)
        self.doubt = None
        return False

    def _turn(self, topic: Topic) -> bool:
        self._before = _sum(self._before, self.topic.counts)
        self.topic, self.doubt = topic, None
        return True


def heading(label: str, newline: str = "\n") -> str:
    """Return the heading that starts a topic in the session's file, and a blank line."""
    title = " ".join(label.replace("%", " ").replace("#", " ").split())
    title += " ·" if _LIKE_SEGMENT.fullmatch(title) else ""
    return f"## {title}{newline}{newline}" if title else ""


def with_headings(begun: Sequence[tuple[str, str]]) -> Change:
    """Return the change that puts a heading before the message that each topic began with.

    What stands before the last heading in the file was given its own, by an earlier process.
    """

    def change(file: FileText | None) -> str | None:
        if file is None:
            return None
        text = file.text
        last = max((match.start() for match in HEADING.finditer(text)), default=0)
        starts = {one.message.block: one.start for one in parse_session(text).messages}
        placed = [(starts[at], label) for at, label in begun if starts.get(at, 0) > last]
        for start, label in sorted(placed, reverse=True):
            before, title = text[:start], heading(label, file.newline)
            if title and not before.rstrip().rpartition("\n")[2].startswith("#"):
                gap = "" if before.endswith(file.newline * 2) else file.newline
                text = f"{before}{gap}{title}{text[start:]}"
        return text if text != file.text else None

    return change


def _is_common(form: str) -> bool:
    """Tell whether a word labels no topic, as "ms" does not, where "AI" does."""
    short = len(form) < (2 if form.isupper() else LABEL_WORDS)
    return short or any(
        word in small_words() or any(word in BY_LANGUAGE[code] for code in ("en", "pl", "ru"))
        for word in words(form)
    )


def _sum(one: Counts, other: Counts, share: float = 1.0, of_other: float = 1.0) -> Counts:
    """Return the sum of two counts, the rarest dropped where there are too many."""
    total = {stem: often * share for stem, often in one.items()}
    for stem, often in other.items():
        total[stem] = total.get(stem, 0.0) + often * of_other
    return dict(Counter(total).most_common(KEPT_STEMS))


def _unit(counts: Counts) -> Counts:
    length = math.sqrt(sum(often * often for often in counts.values()))
    return {stem: often / length for stem, often in counts.items()} if length else {}
