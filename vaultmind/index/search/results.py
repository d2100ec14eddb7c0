"""From ranked candidates to an answer: which become hits, and how much of each is shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vaultmind import tokens
from vaultmind.index.search.beside import Around, Talk
from vaultmind.index.search.passage import passage, sought
from vaultmind.index.search.places import Place, Ranked, places
from vaultmind.index.storage.found import hit_of
from vaultmind.types import Chunk, Hit, Reason, SearchRequest

__all__ = ["Answered", "Ranked", "answer"]

LEAST_TOKENS = 120
"""A hit is cut to no less while there are more; what does not fit so is on the next page."""
MIN_CLIP_TOKENS = 60
"""The last hit is cut to what is left of the budget if that is so much."""
BESIDE_TOKENS = 40
"""Of what stands before and after a message, each."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What is shown of the ranked, and what is not."""

    hits: tuple[Hit, ...] = ()
    omitted: int = 0
    """Hits of this page that the budget left out."""
    next_offset: int | None = None
    """Where to go on; None at the end."""
    paths: frozenset[str] = frozenset()
    """Files that the hits show or name: they must stand on disk as they are indexed."""


Reasons = Callable[[Collection[int]], Mapping[int, tuple[Reason, ...]]]
"""Returns why some candidates stand where they stand, by rowid."""


def _without_reasons(rowids: Collection[int]) -> Mapping[int, tuple[Reason, ...]]:
    return {}


def answer(
    ranked: Iterable[Ranked],
    request: SearchRequest,
    chunks_beside: Around,
    shows: Callable[[Chunk], bool],
    clean: Callable[[str], str],
    reasons: Reasons = _without_reasons,
) -> Answered:
    """Return one page of hits with texts of at most `request.max_tokens` together.

    `ranked`, best first, is the same for every page; it is read only as far as a page needs.
    """
    found = places(ranked, request, chunks_beside)
    page = found[request.offset : request.offset + request.limit]
    told = _told(page, request.max_tokens, clean)
    given = shares([one.cost for one in told], request.max_tokens)
    shown = page[: len(given)]
    about = _Sought(request.query, {place.best.chunk.lang for place in shown})
    why = reasons([place.best.rowid for place in shown])
    hits = [
        _hit(place, text, most, about, why.get(place.best.rowid, ()))
        for place, text, most in zip(shown, told, given, strict=False)
    ]
    if not request.apart:
        costs = (
            tokens.count(hit.text) if hit.truncated else one.cost
            for hit, one in zip(hits, told, strict=False)
        )
        left = request.max_tokens - sum(costs)
        known = frozenset((hit.path, hit.anchor) for hit in hits)
        talk = Talk(request, chunks_beside, shows, clean, known)
        hits = _with_talk(hits, shown, talk, left)
    after = request.offset + len(hits)
    return Answered(
        tuple(hits),
        len(page) - len(hits),
        after if after < len(found) else None,
        frozenset(chunk.path for place in shown for chunk in (place.best.chunk, *place.also)),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What could be shown of a place, without secrets."""

    title: str
    text: str
    cost: int


def _told(page: Sequence[Place], most: int, clean: Callable[[str], str]) -> list[_Told]:
    """Return what could be shown of the places, as many as a budget may hold and one more.

    A title is cleaned with its text: it may announce what the text holds.
    """
    told: list[_Told] = []
    least = 0
    for place in page:
        title, _, text = clean(f"{place.best.chunk.title}\n{place.text}").partition("\n")
        told.append(_Told(title, text, tokens.count(text)))
        least += min(told[-1].cost, LEAST_TOKENS)
        if least > most:
            break
    return told


def shares(costs: Sequence[int], most: int) -> list[int]:
    """Return how many tokens of a budget each hit gets, best first; of those that fit.

    None gets more than it needs. Where the budget is short, a better hit gets more than a worse
    one, but none gets so much that others, which need little, are cut for it.
    """
    taken = 1
    while (
        taken < len(costs) and sum(min(cost, LEAST_TOKENS) for cost in costs[: taken + 1]) <= most
    ):
        taken += 1
    given = _levelled(costs[:taken], most)
    left = most - sum(given)
    if taken < len(costs) and left >= MIN_CLIP_TOKENS:
        given.append(min(left, costs[taken]))
    return given


def _levelled(costs: Sequence[int], most: int) -> list[int]:
    """Return the shares of hits that all get some: what one does not need goes to the others."""
    if sum(costs) <= most:
        return list(costs)
    given = [min(cost, LEAST_TOKENS, most) for cost in costs]
    wanting = [at for at, cost in enumerate(costs) if cost > given[at]]
    left = most - sum(given)
    while wanting and left > 0:
        weights = {at: 1.0 + 1.0 / (1.0 + at) for at in wanting}
        total = sum(weights.values())
        parts = {at: int(left * weight / total) for at, weight in weights.items()}
        full = [at for at in wanting if costs[at] - given[at] <= parts[at]]
        if not full:
            for at, part in parts.items():
                given[at] += part
            break
        for at in full:
            left -= costs[at] - given[at]
            given[at] = costs[at]
        wanting = [at for at in wanting if at not in full]
    return given


@dataclass(frozen=True)
class _Sought:
    """A question and the languages of its answers; most hits are short, and ask for neither."""

    query: str
    languages: Collection[str]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of its words."""
        return sought(self.query, self.languages)


def _hit(place: Place, told: _Told, most: int, about: _Sought, why: tuple[Reason, ...]) -> Hit:
    best = place.best
    text = (
        told.text if told.cost <= most else passage(told.text, about.stems, best.chunk.lang, most)
    )
    hit = hit_of(best.chunk, told.title, text, place.score)
    also = dict.fromkeys(f"{chunk.path}{chunk.anchor}" for chunk in place.also)
    cut = text != told.text
    return replace(hit, parts=best.parts, truncated=cut, also=tuple(also), why=why)


def _with_talk(hits: Sequence[Hit], shown: Sequence[Place], talk: Talk, left: int) -> list[Hit]:
    """Return the hits, messages with what was said before and after, as far as the budget goes."""
    done = []
    for hit, place in zip(hits, shown, strict=True):
        if hit.kind != "message":
            done.append(hit)
            continue
        run = [one.chunk for one in place.run]
        before, after = talk.around_message(run, min(left, 2 * BESIDE_TOKENS))
        left -= tokens.count(before) + tokens.count(after)
        done.append(replace(hit, before=before, after=after))
    return done
