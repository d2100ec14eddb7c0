"""From ranked candidates to an answer: which become hits, and how much of each is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from vaultmind import tokens
from vaultmind.index.beside import Around, Talk
from vaultmind.index.found import hit_of
from vaultmind.index.passage import passage, sought
from vaultmind.index.places import Place, Ranked, places
from vaultmind.types import Chunk, Hit, SearchRequest

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


def answer(
    ranked: Iterable[Ranked],
    request: SearchRequest,
    chunks_beside: Around,
    shows: Callable[[Chunk], bool],
    clean: Callable[[str], str],
) -> Answered:
    """Return one page of hits with texts of at most `request.max_tokens` together.

    `ranked`, best first, is the same for every page; it is read only as far as a page needs.
    """
    found = places(ranked, request, chunks_beside)
    page = found[request.offset : request.offset + request.limit]
    texts = [clean(place.text) for place in page]
    given = shares([tokens.count(text) for text in texts], request.max_tokens)
    shown = page[: len(given)]
    about = sought(request.query, {place.best.chunk.lang for place in shown})
    hits = []
    for place, text, most in zip(shown, texts, given, strict=False):
        part = passage(text, about, place.best.chunk.lang, most)
        hits.append(_hit(place, part, clean, truncated=part != text))
    if not request.apart:
        left = request.max_tokens - sum(tokens.count(hit.text) for hit in hits)
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


def _hit(place: Place, text: str, clean: Callable[[str], str], *, truncated: bool) -> Hit:
    best = place.best
    hit = hit_of(best.chunk, clean(best.chunk.title), text, place.score)
    also = dict.fromkeys(f"{chunk.path}{chunk.anchor}" for chunk in place.also)
    return replace(hit, parts=best.parts, why=best.why, truncated=truncated, also=tuple(also))


def _with_talk(hits: Sequence[Hit], shown: Sequence[Place], talk: Talk, left: int) -> list[Hit]:
    """Return the hits, messages with what was said before and after, as far as the budget goes."""
    done = []
    for hit, place in zip(hits, shown, strict=True):
        said = ["", ""]
        if hit.kind == "message":
            said[0] = talk.before(place.run[0].chunk, min(left, BESIDE_TOKENS))
            left -= tokens.count(said[0])
            said[1] = talk.after(place.run[-1].chunk, min(left, BESIDE_TOKENS))
            left -= tokens.count(said[1])
        done.append(replace(hit, before=said[0], after=said[1]))
    return done
