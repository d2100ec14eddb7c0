"""From ranked candidates to an answer: which become hits, and how much of each is shown. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from vaultmind import tokens
from vaultmind.index.db import hit_of
from vaultmind.index.words import fold, query_terms, stems
from vaultmind.types import Chunk, Hit, Reason, SearchRequest

LEAST_TOKENS = 120
"""A hit is cut to no less while there are more; what does not fit so is on the next page."""
BESIDE_TOKENS, LEAST_BESIDE = 40, 12
"""Of what was said before and after a message, each; less of it says nothing."""
MOST_NAME = 40
_WORD = re.compile(r"\w+")

Around = Callable[[Chunk], Sequence[Chunk]]
"""Returns the chunks around one in its file, in order, itself among them."""


@dataclass(slots=True)
class Ranked:
    """A candidate that may be shown and is good enough, in its place among the others."""

    chunk: Chunk
    cost: int
    """Tokens of its text."""
    score: float
    """How much of the query it answers: see `search`."""
    parts: dict[str, float]
    reasons: Callable[[], tuple[Reason, ...]]
    also: list[Chunk] = field(default_factory=list)
    """Where else the same stands."""


class Answered(NamedTuple):
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
    around: Around,
    shows: Callable[[Chunk], bool],
) -> Answered:
    """Return one page of hits with texts of at most `request.max_tokens` together.

    `ranked`, best first, is the same for every page; it is read only as far as a page needs.
    """
    found = places(ranked, request)
    page = found[request.offset : request.offset + request.limit]
    costs = [place.cost for place in page]
    given = shares(costs, request.max_tokens)
    shown, left = page[: len(given)], request.max_tokens - sum(given)
    about = sought(request.query, {place.chunk.lang for place in shown})
    hits = []
    for place, cost, most in zip(shown, costs, given, strict=False):
        chunk = place.chunk
        also = tuple(dict.fromkeys(f"{one.path}{one.anchor}" for one in place.also))
        text = passage(chunk.text, about, chunk.lang, most, cost)
        told = {"parts": place.parts, "truncated": cost > most, "also": also}
        hits.append(hit_of(chunk, text, place.score, why=place.reasons(), **told))
    known = {(hit.path, hit.anchor) for hit in hits}

    def is_seen(chunk: Chunk) -> bool:
        """Tell whether a message may be shown beside another, and is not shown anyway."""
        return (chunk.path, chunk.anchor) not in known and shows(chunk)

    for at, place in enumerate(() if request.apart else shown):
        if (chunk := place.chunk).kind == "message":
            most = min(left // 2, BESIDE_TOKENS)
            near = around(chunk)
            before = _beside(chunk, near[::-1], most, is_seen)
            after = _beside(chunk, near, most, is_seen)
            left -= tokens.count(before) + tokens.count(after)
            hits[at] = replace(hits[at], before=before, after=after)
    end = request.offset + len(hits)
    named = (chunk.path for place in shown for chunk in (place.chunk, *place.also))
    following = end if end < len(found) else None
    return Answered(tuple(hits), len(page) - len(hits), following, frozenset(named))


def places(ranked: Iterable[Ranked], request: SearchRequest) -> list[Ranked]:
    """Return the places down to the end of the asked page, and the first of the next.

    What says the same word for word is one; what another agent knows, or a note of another day, is
    another thing all the same. A brain is a list: each fact of it is a hit, however many there are.
    """
    found: list[Ranked] = []
    said: dict[tuple[str, ...], Ranked] = {}
    counts: Counter[str] = Counter()
    for item in ranked:
        chunk = item.chunk
        if not request.apart:
            day = "" if chunk.kind in ("fact", "message") else chunk.time[:10]
            same = (chunk.kind, chunk.agent, day, *_WORD.findall(fold(chunk.text)))
            if same in said:
                said[same].also.append(chunk)
                continue
        if chunk.kind == "fact" or counts[chunk.path] < request.per_note:
            counts[chunk.path] += 1
            found.append(item)
            if len(found) > request.offset + request.limit:
                break
            if not request.apart:
                said[same] = item
    return found


def shares(costs: Sequence[int], most: int) -> list[int]:
    """Return how many tokens of a budget each hit gets, best first; of those that fit.

    None gets more than it needs, and none so much that others, which need little, are cut for it.
    """
    least = accumulate(min(cost, LEAST_TOKENS) for cost in costs)
    taken = max(1, sum(total <= most for total in least))
    given = [0] * len(costs[:taken])
    for done, at in enumerate(sorted(range(len(given)), key=lambda at: costs[at])):
        given[at] = min(costs[at], (most - sum(given)) // (len(given) - done))
    return given


def _beside(
    chunk: Chunk, near: Sequence[Chunk], most: int, is_seen: Callable[[Chunk], bool]
) -> str:
    """Return the beginning of what is said next to a message, and by whom, within so many tokens.

    `near` is what stands around it, from one end to the other. Empty where it may not be shown.
    """
    at = next((n for n, one in enumerate(near) if one.id == chunk.id), len(near))
    side = next((one for one in near[at + 1 :] if one.anchor != chunk.anchor), None)
    if most < LEAST_BESIDE or not side or side.role not in ("user", "assistant"):
        return ""
    who = " ".join(side.speaker.split())[:MOST_NAME] or side.role
    said = f"{who}: {' '.join(side.text.split())}"
    return tokens.clip(said, most) if is_seen(side) else ""


# --- the part of a text that a question is about ------------------------------------------

MARK = "…"
_OPENING = re.compile(r"(?:(?<=[.!?…])[\"'»”)\]]*\s+|(?<!\n)\n+|[。！？]+)(?=\S)")


def sought(query: str, languages: Collection[str]) -> frozenset[str]:
    """Return the stems of a question's words in the languages of the texts that may hold them."""
    terms = query_terms(query, sorted({"en", *languages}))
    return frozenset(stem for term in terms if not term.stop for stem in term.stems)


def passage(text: str, about: Collection[str], lang: str, most: int, cost: int = 0) -> str:
    """Return at most so many tokens of a text: where most of what is sought stands together.

    It begins with a sentence or a line, in one that is too long with a word that is sought; of
    several that do as well with the last that leaves enough to show. `…` stands where something
    is left out. Where nothing that is sought stands in it, its beginning is returned. `cost` is
    that of the text where it is known.
    """
    cost = cost or tokens.count(text)
    if cost <= most:
        return text
    window = len(text) * most // cost
    firsts = {stem[0] for stem in about}  # a stem begins as its word does, but for "went"
    words = [one for one in _WORD.finditer(text) if fold(one[0][0]) in firsts]
    stemmed = ((one.start(), stem) for one in words for stem in stems(one[0], lang))
    found = [one for one in stemmed if one[1] in about]
    opens = {0, *(match.end() for match in _OPENING.finditer(text))}

    def worth(start: int) -> tuple[int, int, bool, bool, int]:
        held = [stem for at, stem in found if start <= at < start + window]
        to_last = abs(len(text) - window - start)
        return len(set(held)), len(held), start == 0, start in opens, -to_last

    start = max(sorted(opens.union(at for at, _ in found)), key=worth)
    shown = f"{MARK} {text[start:]}" if start else text
    return tokens.clip(shown, most, mark=f" {MARK}")
