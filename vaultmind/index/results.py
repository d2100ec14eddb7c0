"""From ranked candidates to an answer: which become hits, and how much of each is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind import tokens
from vaultmind.index.found import hit_of
from vaultmind.types import Chunk, Hit, Reason, SearchRequest

MIN_CLIP_TOKENS = 60
"""A hit is cut to what is left of the budget if that is so much; else it is left out."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate that may be shown and is good enough, in its place among the others."""

    chunk: Chunk
    score: float
    """How much of the query it answers: see `relevance`."""
    parts: dict[str, float] = field(default_factory=dict)
    why: tuple[Reason, ...] = ()


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
    chunks_beside: Callable[[Chunk], Sequence[Chunk]],
    shows: Callable[[Chunk], bool],
    clean: Callable[[str], str],
) -> Answered:
    """Return one page of hits with texts of at most `request.max_tokens` together.

    `ranked`, best first, is the same for every page; it is read only as far as a page needs.
    `chunks_beside` gives the chunks around one in its file, in order, itself among them.
    """
    places = _places(ranked, request)
    page = places[request.offset : request.offset + request.limit]
    hits: list[Hit] = []
    left = request.max_tokens
    for item in page:
        text = clean(item.chunk.text)
        cost = tokens.count(text)
        if cost > left and hits and left < MIN_CLIP_TOKENS:
            break
        shown = text if cost <= left else tokens.clip(text, left, mark="")
        hit = hit_of(item.chunk, clean(item.chunk.title), shown, item.score)
        hits.append(replace(hit, parts=item.parts, truncated=cost > left, why=item.why))
        left -= min(cost, left)
        if not left:
            break
    at = request.offset + len(hits)
    return Answered(
        tuple(hits),
        len(page) - len(hits),
        at if at < len(places) else None,
        frozenset(item.chunk.path for item in page),
    )


def _places(ranked: Iterable[Ranked], request: SearchRequest) -> list[Ranked]:
    """Return what is on the pages up to the asked one, and the first of the next."""
    chosen: list[Ranked] = []
    per_note: Counter[str] = Counter()
    for item in ranked:
        path = item.chunk.path
        if per_note[path] < request.per_note:
            chosen.append(item)
            per_note[path] += 1
            if len(chosen) > request.offset + request.limit:
                break
    return chosen
