"""The messages of one conversation in memory: searched by words and by meaning in milliseconds.

An answer seldom repeats the words of its question, so a message is also found by what stands
around it: each counts a share of its neighbours' words and meaning. On LoCoMo's development
conversations (benchmarks/recall.py) that finds more than any other step.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultmind.heavy import importing
from vaultmind.index.embed import scale_of
from vaultmind.index.words.terms import fold
from vaultmind.session.recall.asking import (
    GIVEN_ON,
    is_lone,
    only_asks,
    question,
    says_something,
)
from vaultmind.session.recall.postings import Postings
from vaultmind.types import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vaultmind.ports import Matrix

    Mask = NDArray[np.bool_]

RRF_K = 60
DEPTH = 20
"""Places of each list that are fused, unless more are asked for."""
MEANING_WEIGHT = 0.3
"""Of the list by meaning beside that by words: a small embedder ranks worse than words do."""
NEIGHBOURS = ((1, 0.5, 0.45), (2, 0.3, 0.3))
"""Distance, and the share of what a message holds that counts for the one so far after it and for
the one before it: an answer comes after its question."""
NAMED, ASKING = 0.5, 0.1
"""Added to a message of a speaker whom the query names, taken from one that ends in a question;
of the best score by words."""
AT_START, START_MESSAGES = 1.0, 8
"""Added to the first messages where the query asks for the beginning, less to each further one."""
ASKED_AGAIN = 0.5
"""From such a relevance on, a message that ends in a question is looked at: it may only ask what is
asked again, and so say nothing."""
MOST_ASKED_AGAIN = 24
REPLY_WITHIN = 2
"""Messages after a question of which the first of somebody else is its answer."""
MIN_VECTOR_TOKENS = 10
_WORD = re.compile(r"\w+")
_FIRST_ROWS = 256


@dataclass(frozen=True, slots=True)
class SegmentMessage:
    """A message as it is indexed and shown again."""

    key: str
    """Its id or block id: unique in the session."""
    role: Role
    text: str
    tokens: int
    speaker: str = ""
    segment: int = 1
    link: str = ""
    """Where it stands, as it should be shown, e.g. `[[#^m7]]`."""
    tool_call: bool = False
    lang: str = ""
    day: str = ""
    """ISO date on which it was said; shown where what is recalled is of several days."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for."""

    text: str
    vector: Matrix | None = None
    empty: frozenset[str] = frozenset()
    """Folded words that say nothing in a conversation: `thanks`, `said`."""
    at_start: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Where it is looked for."""

    segment: int | None = None
    """Of the session's segments one, or None for all."""
    without: Collection[str] = ()
    """Keys of messages that need not be found: they are in the window."""
    depth: int = DEPTH


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message that was found, best first."""

    message: SegmentMessage
    score: float
    relevance: float
    """How much of the query it answers itself, from 0 to 1; 1 minus it is the distance."""
    around: float
    """The best relevance of it and the messages beside it: an answer belongs to its question."""
    place: int
    """Its number in the conversation."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search found."""

    hits: tuple[Recalled, ...]
    telling: int
    """Words of the query that say what it is about."""
    best: float
    """The best relevance in the scope."""
    in_window: float
    """The best relevance of what was left out as being in the window."""


def is_embedded(
    role: Role, tokens: int, *, tool_call: bool = False, least: int = MIN_VECTOR_TOKENS
) -> bool:
    """Tell whether a message gets a vector: said by someone, and not too short to mean much."""
    return role in ("user", "assistant") and not tool_call and tokens >= least


class SegmentIndex:
    """Messages in order, their words and vectors. Safe to use from threads.

    Tools' messages, tool calls and the system's have a place, since they stand between others,
    and are never found.
    """

    def __init__(self, embedder: str = "", min_tokens: int = MIN_VECTOR_TOKENS) -> None:
        """Take the embedder's id and the least tokens of a message with a vector."""
        with importing():  # numpy, if it comes now, with one thread: more only wait here
            import numpy as np  # noqa: F401
        self._scale = scale_of(embedder)
        self._min_tokens = min_tokens
        self._lock = threading.RLock()
        self._messages: list[SegmentMessage] = []
        self._places: dict[str, int] = {}
        self._postings = Postings()
        self._speakers: dict[str, list[int]] = {}
        self._rows: Matrix | None = None
        """Vectors by place, with room to grow; 0 where there is none."""
        self._said = array("b")
        """Whether a message may be found at all."""
        self._segments = array("i")
        self._asking = array("b")

    def __len__(self) -> int:
        return len(self._places)

    def messages(self) -> tuple[SegmentMessage, ...]:
        """Return what is held, in order."""
        with self._lock:
            return tuple(self._messages[place] for place in sorted(self._places.values()))

    def add(self, message: SegmentMessage, vector: Matrix | None = None) -> None:
        """Take the next message; one that is held already only gets its vector."""
        with self._lock:
            place = self._places.get(message.key)
            if place is None:
                place = self._append(message)
            if vector is not None:
                self._give(place, vector)

    def give(self, key: str, vector: Matrix) -> None:
        """Take the vector of a message; that of an unknown one is ignored."""
        with self._lock:
            place = self._places.get(key)
            if place is not None:
                self._give(place, vector)

    def drop(self, key: str) -> None:
        """Forget a message: its words are found no more. An unknown one is ignored."""
        with self._lock:
            place = self._places.pop(key, None)
            if place is None:
                return
            self._messages[place] = SegmentMessage(key, "system", "", 0)
            self._said[place] = False
            if self._rows is not None and place < len(self._rows):
                self._rows[place] = 0

    def measure_by(self, embedder: str) -> None:
        """Take another embedder's scale: it was loaded after the first messages came."""
        with self._lock:
            self._scale = scale_of(embedder)

    def vector_of(self, key: str) -> Matrix | None:
        """Return a message's vector, if it has one."""
        with self._lock:
            place = self._places.get(key)
            if place is None or self._rows is None or place >= len(self._rows):
                return None
            row = self._rows[place]
            return row.copy() if row.any() else None

    def search(self, query: Query, scope: Scope | None = None) -> Answer:
        """Return the best messages of a scope by words and meaning, fused by their ranks."""
        scope = scope or Scope()
        with self._lock:
            return self._search(query, scope) if self._messages else Answer((), 0, 0.0, 0.0)

    def _search(self, query: Query, scope: Scope) -> Answer:
        import numpy as np

        named = self._named(query.text)
        terms = self._postings.telling(query.text)
        about = [term for term in terms if term.plain not in named] or terms
        telling = sum(term.plain not in query.empty and not is_lone(term.words) for term in about)
        said = np.array(self._said, np.bool_)
        words = self._postings.score(about if telling else (), query.empty)
        meaning = self._meaning(query.vector if telling else None)
        extra = self._extra(named, at_start=query.at_start)
        by_words = _spread(words.score * said)
        by_words += extra * ((by_words > 0) | query.at_start)
        by_meaning = _spread(meaning * said)
        by_meaning += extra * (by_meaning > 0)
        inside = said & self._inside(scope.segment)
        own = 1 - (1 - words.coverage) * (1 - meaning)
        open_ = self._open(inside, scope.without)
        open_[self._asked_again(query.text, own)] = False
        fused = _fuse(by_words * open_, by_meaning * open_, scope.depth)
        around = _around(own * said)
        hits = tuple(
            Recalled(self._messages[at], float(fused[at]), float(own[at]), float(around[at]), at)
            for at in _order(fused, 2 * scope.depth).tolist()
        )
        return Answer(hits, telling, _best(own, open_), _best(own, inside & ~open_))

    def _append(self, message: SegmentMessage) -> int:
        place = len(self._messages)
        found = message.role in ("user", "assistant") and not message.tool_call
        if found:
            self._postings.add(message.text, message.lang)
        else:
            self._postings.skip()
        self._messages.append(message)
        self._places[message.key] = place
        self._said.append(found)
        self._segments.append(message.segment)
        self._asking.append(message.text.rstrip().endswith(("?", "？")))
        for name in _WORD.findall(fold(message.speaker)):
            self._speakers.setdefault(name, []).append(place)
        return place

    def _give(self, place: int, vector: Matrix) -> None:
        """Keep a vector, if its message should have one; the matrix doubles when it is full."""
        import numpy as np

        message = self._messages[place]
        least = self._min_tokens
        if not is_embedded(message.role, message.tokens, tool_call=message.tool_call, least=least):
            return
        if self._rows is None:
            self._rows = np.zeros((_FIRST_ROWS, len(vector)), np.float32)
        if self._rows.shape[1] != len(vector):  # another embedder's: a new index is on its way
            return
        while place >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[place] = vector

    def _meaning(self, vector: Matrix | None) -> Matrix:
        """Return the closeness in meaning of each message, from 0 to 1."""
        import numpy as np

        meaning = np.zeros(len(self._messages), np.float32)
        if vector is None or self._rows is None or self._rows.shape[1] != len(vector):
            return meaning
        cosines = self._rows[: len(meaning)] @ vector
        low, high = self._scale.nothing, self._scale.same
        meaning[: len(cosines)] = np.clip((cosines - low) / (high - low), 0.0, 1.0)
        return meaning

    def _named(self, text: str) -> set[str]:
        """Return the speakers' names that a query holds, where there are several speakers."""
        if len(self._speakers) <= 1:
            return set()
        return {name for name in _WORD.findall(fold(text)) if name in self._speakers}

    def _extra(self, named: Collection[str], *, at_start: bool) -> Matrix:
        """Return what a message gets for who said it, how it ends and where it stands."""
        import numpy as np

        extra = np.array(self._asking, np.float32) * -ASKING
        for name in named:
            extra[self._speakers[name]] += NAMED
        if at_start:
            first = np.arange(min(len(extra), START_MESSAGES), dtype=np.float32)
            extra[: len(first)] += AT_START * (1 - first / START_MESSAGES)
        return extra

    def _asked_again(self, text: str, own: Matrix) -> list[int]:
        """Return the messages that only ask what is asked; their answers get their relevance."""
        import numpy as np

        near = np.flatnonzero(np.array(self._asking, np.bool_) & (own >= ASKED_AGAIN))
        if not len(near):
            return []
        asked = question(text)
        best = near[np.argsort(-own[near], kind="stable")][:MOST_ASKED_AGAIN].tolist()
        found = [at for at in best if only_asks(self._messages[at].text, asked)]
        for at in found:
            reply = self._reply_to(at)
            if reply is not None and says_something(self._messages[reply].text, asked):
                own[reply] = max(own[reply], GIVEN_ON * own[at])
        own[found] = 0.0
        return found

    def _reply_to(self, place: int) -> int | None:
        """Return where somebody else speaks next."""
        asker = self._messages[place]
        for at in range(place + 1, min(place + 1 + REPLY_WITHIN, len(self._messages))):
            one = self._messages[at]
            if self._said[at] and (one.role, one.speaker) != (asker.role, asker.speaker):
                return at if one.segment == asker.segment else None
        return None

    def _inside(self, segment: int | None) -> Mask:
        """Return which messages are of a segment; all for None."""
        import numpy as np

        segments = np.array(self._segments)
        mask: Mask = segments == (segments if segment is None else segment)
        return mask

    def _open(self, inside: Mask, without: Collection[str]) -> Mask:
        """Return which messages may be found: those of the scope, but some."""
        mask = inside.copy()
        mask[[self._places[key] for key in without if key in self._places]] = False
        return mask


def _spread(values: Matrix) -> Matrix:
    """Return each message's value with a share of its neighbours'."""
    spread = values.copy()
    for distance, after, before in NEIGHBOURS:
        spread[distance:] += after * values[:-distance]
        spread[:-distance] += before * values[distance:]
    return spread


def _around(values: Matrix) -> Matrix:
    """Return the best of each message's value and those of the messages beside it."""
    import numpy as np

    best = values.copy()
    best[1:] = np.maximum(best[1:], values[:-1])
    best[:-1] = np.maximum(best[:-1], values[1:])
    return best


def _fuse(words: Matrix, meaning: Matrix, depth: int) -> Matrix:
    """Return the reciprocal rank sum of two lists of values."""
    import numpy as np

    fused = np.zeros(len(words), np.float32)
    for values, weight in ((words, 1.0), (meaning, MEANING_WEIGHT)):
        order = _order(values, depth)
        fused[order] += weight / (RRF_K + 1 + np.arange(len(order)))
    return fused


def _order(values: Matrix, depth: int) -> NDArray[np.intp]:
    """Return the places of the highest values above 0, the best first."""
    import numpy as np

    if len(values) > 4 * depth:
        top = np.sort(np.argpartition(-values, depth)[:depth])
        order = top[np.argsort(-values[top], kind="stable")]
    else:
        order = np.argsort(-values, kind="stable")[:depth]
    return order[values[order] > 0]


def _best(values: Matrix, mask: Mask) -> float:
    return float(values[mask].max(initial=0.0))
