"""Places: candidates that stand together in a note, or say the same, become one hit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from vaultmind.index.search.beside import Around
from vaultmind.index.search.copies import Wording, is_copy, wording
from vaultmind.types import Chunk, SearchRequest

MOST_JOINED = 4
"""Chunks that are shown as one hit."""
_COPIED = ("note", "summary")
"""Kinds of which a few words may differ: of a fact or a message, any word makes it another."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate that may be shown and is good enough, in its place among the others."""

    chunk: Chunk
    score: float
    """How much of the query it answers: see `relevance`."""
    parts: dict[str, float] = field(default_factory=dict)
    rowid: int = 0
    """What its reasons are asked by."""


@dataclass(slots=True)
class Place:
    """What becomes one hit: a run of chunks, and where else the same stands."""

    best: Ranked
    run: list[Ranked]
    """In the order of the file."""
    said: Wording
    also: list[Chunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Return the file that it stands in."""
        return self.best.chunk.path

    @property
    def score(self) -> float:
        """Return how much of the query it answers."""
        return max(one.score for one in self.run)

    @property
    def text(self) -> str:
        """Return all of it, as it stands in the file."""
        first, *rest = (one.chunk for one in self.run)
        text, at = first.text, first.end
        for chunk in rest:
            text += ("\n" if chunk.start - at <= 1 else "\n\n") + chunk.text
            at = chunk.end
        return text


def places(ranked: Iterable[Ranked], request: SearchRequest, around: Around) -> list[Place]:
    """Return the places down to the end of the asked page, and the first of the next.

    A page that is complete does not change any more, whatever comes after it: what would have
    joined one of its places is a place of its own further down. So every page is the same whichever
    was asked for, and nothing falls between two of them.
    """
    end = request.offset + request.limit
    whole_pages = -(-end // request.limit) * request.limit
    taking = _Taking(request, around)
    for item in ranked:
        taking.take(item)
        if len(taking.places) > whole_pages:
            break
    return taking.places


class _Taking:
    """Takes candidates one by one, best first."""

    def __init__(self, request: SearchRequest, around: Around) -> None:
        self.places: list[Place] = []
        self._request = request
        self._around = around
        self._complete = 0
        self._of_note: defaultdict[str, list[Place]] = defaultdict(list)
        self._counts: Counter[str] = Counter()

    def take(self, item: Ranked) -> None:
        """Put a candidate into the place it belongs to, or into a new one if its note has room.

        A brain is a list: each fact of it is a hit of its own, however many there are.
        """
        apart = self._request.apart
        said = wording("" if apart else item.chunk.text)
        if not apart and (self._is_known(item, said) or self._joins(item, said)):
            return
        path = item.chunk.path
        if item.chunk.kind == "fact" or self._counts[path] < self._request.per_note:
            place = Place(item, [item], said)
            self.places.append(place)
            self._of_note[path].append(place)
            self._counts[path] += 1
            last = len(self.places) - 1
            self._complete = last - last % self._request.limit

    def _is_known(self, item: Ranked, said: Wording) -> bool:
        for place in self.places:
            if _may_be_copy(item.chunk, place.best.chunk) and (
                said.words == place.said.words
                or (item.chunk.kind in _COPIED and is_copy(said, place.said))
            ):
                place.also.append(item.chunk)
                return True
        return False

    def _joins(self, item: Ranked, said: Wording) -> bool:
        """Join a candidate to the place beside it; to two, if it fills the gap between them."""
        beside = self._beside(item)
        if not beside:
            return False
        place, *others = sorted(beside, key=self.places.index)
        _join(place, [item], said, before=self._stands_before(item, place))
        for other in others:
            if len(place.run) + len(other.run) <= MOST_JOINED:
                before = self._stands_before(other.run[-1], place)
                _join(place, other.run, other.said, before=before)
                place.also += other.also
                self.places.remove(other)
                self._of_note[place.path].remove(other)
                self._counts[place.path] -= 1
        return True

    def _beside(self, item: Ranked) -> list[Place]:
        """Return the places of this page that a candidate stands right beside."""
        open_places = [
            place
            for place in self._of_note[item.chunk.path]
            if len(place.run) < MOST_JOINED
            and self.places.index(place) >= self._complete
            and _is_one_thing(item.chunk, place.best.chunk)
        ]
        if not open_places or not _may_join(item.chunk):
            return []
        near = self._neighbours(item.chunk)
        return [
            place for place in open_places if {place.run[0].chunk.id, place.run[-1].chunk.id} & near
        ]

    def _neighbours(self, chunk: Chunk) -> set[str]:
        """Return the ids of the chunks right before and after one."""
        ids = [one.id for one in self._around(chunk)]
        at = ids.index(chunk.id) if chunk.id in ids else len(ids) + 1
        return {*ids[max(0, at - 1) : at], *ids[at + 1 : at + 2]}

    def _stands_before(self, item: Ranked, place: Place) -> bool:
        ids = [one.id for one in self._around(item.chunk)]
        first = place.run[0].chunk.id
        return first in ids and item.chunk.id in ids and ids.index(item.chunk.id) < ids.index(first)


def _join(place: Place, run: list[Ranked], said: Wording, *, before: bool) -> None:
    place.run = [*run, *place.run] if before else [*place.run, *run]
    place.said |= said


def _may_be_copy(one: Chunk, other: Chunk) -> bool:
    """Tell whether two chunks with the same words say the same.

    What another agent knows, or a note of another day, is another thing, though it be worded alike.
    """
    days = {one.time[:10], other.time[:10]} - {""}
    same_day = len(days) <= 1 or one.kind not in _COPIED
    return (one.kind, one.agent) == (other.kind, other.agent) and same_day


def _may_join(chunk: Chunk) -> bool:
    """Tell whether what stands beside a chunk continues it: not so in a brain or on a canvas."""
    return chunk.kind != "fact" and chunk.path.endswith(".md")


def _is_one_thing(one: Chunk, other: Chunk) -> bool:
    """Tell whether two neighbours are shown as one: of a conversation only parts of a message.

    Of an episode likewise: between two decisions of it stands what was done, line by line.
    """
    return one.kind not in ("message", "episode") or one.anchor == other.anchor
