"""From ranked candidates to an answer: which become hits, and how much of each is shown. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from vaultmind import tokens
from vaultmind.index.db import hit_of
from vaultmind.index.where import message_number
from vaultmind.index.words.terms import fold, query_terms, stems
from vaultmind.redact import mask
from vaultmind.types import Chunk, Hit, Reason, SearchRequest

MOST_JOINED = 4
"""Chunks that are shown as one hit."""
LEAST_TOKENS = 120
"""A hit is cut to no less while there are more; what does not fit so is on the next page."""
MIN_CLIP_TOKENS = 60
"""The last hit is cut to what is left of the budget if that is so much."""
BESIDE_TOKENS, LEAST_BESIDE = 40, 12
"""Of what was said before and after a message, each; less of it says nothing."""
MOST_NAME = 40
_SPOKEN = ("user", "assistant")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
"""Scripts without spaces are compared by their characters."""

Around = Callable[[Chunk], Sequence[Chunk]]
"""Returns the chunks around one in its file, in order, itself among them."""


class Ranked(NamedTuple):
    """A candidate that may be shown and is good enough, in its place among the others."""

    chunk: Chunk
    score: float
    """How much of the query it answers: see `search`."""
    parts: dict[str, float]
    reasons: Callable[[], tuple[Reason, ...]]


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
    found = places(ranked, request, around)
    page = found[request.offset : request.offset + request.limit]
    told: list[tuple[str, str, int]] = []
    for place in page:  # a title is cleaned with its text: it may announce what the text holds
        title, _, text = mask(f"{place.best.chunk.title}\n{place.text}").text.partition("\n")
        told.append((title, text, tokens.count(text)))
        if sum(min(cost, LEAST_TOKENS) for *_, cost in told) > request.max_tokens:
            break
    given = shares([cost for *_, cost in told], request.max_tokens)
    shown = page[: len(given)]
    about: frozenset[str] = frozenset()
    if any(most < cost for most, (*_, cost) in zip(given, told, strict=False)):
        about = sought(request.query, {place.best.chunk.lang for place in shown})
    left = request.max_tokens
    hits = []
    for place, (title, text, cost), most in zip(shown, told, given, strict=False):
        best = place.best
        part = text if cost <= most else passage(text, about, best.chunk.lang, most)
        left -= tokens.count(part)
        hit = hit_of(best.chunk, title, part, max(one.score for one in place.run))
        also = tuple(dict.fromkeys(f"{one.path}{one.anchor}" for one in place.also))
        cut, why = part != text, best.reasons()
        hits.append(replace(hit, parts=best.parts, truncated=cut, also=also, why=why))
    known = {(hit.path, hit.anchor) for hit in hits}

    def is_seen(chunk: Chunk) -> bool:
        """Tell whether a message may be shown beside another, and is not shown anyway."""
        is_new = (chunk.path, chunk.anchor) not in known
        return is_new and is_within(chunk, request) and shows(chunk)

    for at, place in enumerate(shown if not request.apart else ()):
        if hits[at].kind == "message":
            most = min(left // 2, BESIDE_TOKENS)
            before = _beside(place.run[0].chunk, -1, most, around, is_seen)
            after = _beside(place.run[-1].chunk, 1, most, around, is_seen)
            left -= tokens.count(before) + tokens.count(after)
            hits[at] = replace(hits[at], before=before, after=after)
    end = request.offset + len(hits)
    named = (chunk.path for place in shown for chunk in (place.best.chunk, *place.also))
    following = end if end < len(found) else None
    return Answered(tuple(hits), len(page) - len(hits), following, frozenset(named))


def shares(costs: Sequence[int], most: int) -> list[int]:
    """Return how many tokens of a budget each hit gets, best first; of those that fit.

    None gets more than it needs, and none so much that others, which need little, are cut for it.
    """
    taken = 1
    while (
        taken < len(costs) and sum(min(cost, LEAST_TOKENS) for cost in costs[: taken + 1]) <= most
    ):
        taken += 1
    given = [0] * len(costs[:taken])
    left = most
    by_cost = sorted(range(len(given)), key=lambda at: costs[at])
    for done, at in enumerate(by_cost):
        given[at] = min(costs[at], left // (len(given) - done))
        left -= given[at]
    if taken < len(costs) and left >= MIN_CLIP_TOKENS:
        given.append(min(left, costs[taken]))
    return given


# --- places -------------------------------------------------------------------------------


@dataclass(slots=True)
class Place:
    """What becomes one hit: a run of chunks, and where else the same stands."""

    best: Ranked
    run: list[Ranked]
    """In the order of the file."""
    words: list[str]
    also: list[Chunk] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return all of it, as it stands in the file."""
        first, *rest = (one.chunk for one in self.run)
        text, at = first.text, first.end
        for chunk in rest:
            text += ("\n" if chunk.start - at <= 1 else "\n\n") + chunk.text
            at = chunk.end
        return text

    def is_copied_by(self, chunk: Chunk, words: list[str]) -> bool:
        """Tell whether a chunk says the same, word for word.

        What another agent knows, or a note of another day, is another thing all the same.
        """
        best = self.best.chunk
        if words != self.words or (chunk.kind, chunk.agent) != (best.kind, best.agent):
            return False
        return chunk.kind in ("fact", "message") or chunk.time[:10] in ("", best.time[:10])


def places(ranked: Iterable[Ranked], request: SearchRequest, around: Around) -> list[Place]:
    """Return the places down to the end of the asked page, and the first of the next.

    A page that is complete does not change any more, whatever comes after it: what would have
    joined one of its places is a place of its own further down. So every page is the same whichever
    was asked for, and nothing falls between two of them. A brain is a list: each fact of it is a
    hit of its own, however many there are.
    """
    end = request.offset + request.limit
    whole_pages = -(-end // request.limit) * request.limit
    found: list[Place] = []
    counts: Counter[str] = Counter()
    for item in ranked:
        chunk = item.chunk
        words = [] if request.apart else _WORD.findall(fold(chunk.text))
        if not request.apart:
            copied = (place for place in found if place.is_copied_by(chunk, words))
            if (place := next(copied, None)) is not None:
                place.also.append(chunk)
                continue
            complete = len(found) - len(found) % request.limit
            open_places = [one for one in found[complete:] if one.best.chunk.path == chunk.path]
            if open_places and _joins(item, words, open_places, around):
                continue
        if chunk.kind == "fact" or counts[chunk.path] < request.per_note:
            found.append(Place(item, [item], words))
            counts[chunk.path] += 1
            if len(found) > whole_pages:
                break
    return found


def _joins(item: Ranked, words: list[str], open_places: Sequence[Place], around: Around) -> bool:
    """Join a candidate to a place that it stands right beside; tell whether there was one.

    Not in a brain or on a canvas; of a conversation only parts of a message, and of an episode
    likewise: between two decisions of it stands what was done, line by line.
    """
    chunk = item.chunk
    if chunk.kind == "fact" or not chunk.path.endswith(".md"):
        return False
    ids = [one.id for one in around(chunk)]
    at = ids.index(chunk.id) if chunk.id in ids else len(ids) + 1
    for place in open_places:
        apart = chunk.kind in ("message", "episode") and chunk.anchor != place.best.chunk.anchor
        if apart or len(place.run) >= MOST_JOINED:
            continue
        if place.run[-1].chunk.id in ids[max(0, at - 1) : at]:
            place.run = [*place.run, item]
        elif place.run[0].chunk.id in ids[at + 1 : at + 2]:
            place.run = [item, *place.run]
        else:
            continue
        place.words = place.words + words
        return True
    return False


# --- what was said before and after a message ---------------------------------------------


def is_within(chunk: Chunk, request: SearchRequest) -> bool:
    """Tell whether a message is of the time that is asked for, and not of what is running."""
    day = chunk.time[:10]
    if (request.after and day < request.after[:10]) or (
        request.before and day > request.before[:10]
    ):
        return False
    number = message_number(chunk.anchor.removeprefix("#^"))
    return chunk.path != request.running or 0 < number < message_number(request.since)


def _beside(
    chunk: Chunk, step: int, most: int, around: Around, is_seen: Callable[[Chunk], bool]
) -> str:
    """Return the end of what was said before a message (-1), or the beginning of what came next.

    On one line with who said it, within so many tokens; empty where it may not be shown.
    """
    near = list(around(chunk))[::step]
    at = next((n for n, one in enumerate(near) if one.id == chunk.id), len(near))
    side = [one for one in near[at + 1 :] if one.anchor != chunk.anchor and one.role in _SPOKEN]
    pieces = [one for one in side if one.anchor == side[0].anchor][::step]
    if most < LEAST_BESIDE or not pieces or not all(map(is_seen, pieces)):
        return ""
    who = " ".join(pieces[0].speaker.split())[:MOST_NAME] or pieces[0].role
    text = " ".join("\n".join(piece.text for piece in pieces).split())
    said = mask(f"{who}: {text}").text
    lead = said[: len(who) + 2] if said.startswith(f"{who}: ") else ""
    room = most - tokens.count(lead) - 1  # the sum of two is rounded twice
    return lead + (ending if step < 0 else tokens.clip)(said[len(lead) :], room)


# --- the part of a text that a question is about ------------------------------------------

MARK = "…"
LEAST_MARKED = 12
"""Tokens below which no mark is spent on saying that something is missing."""
LEAD = 0.25
"""Share of a passage that stands before the first word sought, where there is a choice."""
MOST_LETTERS = 4000
"""Of a question, that are looked for."""
MOST_STARTS, MOST_MATCHES = 80, 200
SPARE = 0.97
"""Of a budget that a window is measured for by its letters; the exact cut comes after."""
_SOUGHT = re.compile(r"\w+")
_WORD_START = re.compile(r"(?<!\S)\S")
_OPENING = re.compile(r"(?:(?<=[.!?…])[\"'»”)\]]*\s+|(?<!\n)\n+|[。！？]+)(?=\S)")


def sought(query: str, languages: Collection[str]) -> frozenset[str]:
    """Return the stems of a question's words in the languages of the texts that may hold them."""
    terms = query_terms(query[:MOST_LETTERS], sorted({"en", *languages}))
    return frozenset(stem for term in terms if not term.stop for stem in term.stems)


def passage(text: str, about: Collection[str], lang: str, most_tokens: int) -> str:
    """Return at most so many tokens of a text: where most of what is sought stands together.

    `…` stands where something is left out. Where nothing that is sought stands in it, its
    beginning is returned.
    """
    cost = tokens.count(text)
    if cost <= most_tokens:
        return text
    if most_tokens < LEAST_MARKED:
        return tokens.clip(text, most_tokens, mark="")
    start = _window_start(text, about, lang, int(len(text) * most_tokens / cost * SPARE))
    before = f"{MARK} " if start else ""
    room = most_tokens
    while room:
        room -= 1  # two sums are rounded, then one
        shown = before + tokens.clip(text[start:], room, mark=f" {MARK}")
        if tokens.count(shown) <= most_tokens:
            return shown
    return ""


def ending(text: str, most_tokens: int) -> str:
    """Return at most so many tokens of a text from its end, with a mark where it was cut."""
    cost = tokens.count(text)
    if cost <= most_tokens:
        return text
    start = _word_start(text, len(text) - int(len(text) * most_tokens / cost * SPARE))
    while start < len(text) and tokens.count(f"{MARK} {text[start:]}") > most_tokens:
        start = _word_start(text, start + 1)
    return f"{MARK} {text[start:]}" if start < len(text) else ""


def _window_start(text: str, about: Collection[str], lang: str, window: int) -> int:
    """Return where the window of so many letters with most of what is sought begins."""
    found: list[tuple[int, str]] = []
    for match in _SOUGHT.finditer(text):
        found += [(match.start(), stem) for stem in stems(match[0], lang) if stem in about][:1]
        if len(found) >= MOST_MATCHES:
            break
    if not found:
        return 0
    last = _word_start(text, len(text) - window)
    opens = [0, *(match.end() for match in _OPENING.finditer(text))]
    led = [_word_start(text, at - int(window * LEAD)) for at, _ in found]
    starts = sorted({min(start, last) for start in (*opens, *led)})
    starts = starts[:: -(-len(starts) // MOST_STARTS)]

    def worth(start: int) -> tuple[int, int, bool, bool, float]:
        first, after = (bisect_left(found, (at, "")) for at in (start, start + window))
        held = [stem for _, stem in found[first:after]]
        lead = abs(found[first][0] - start - window * LEAD) if held else window * LEAD
        return len(set(held)), len(held), start == 0, start in opens or start == last, -lead

    return max(starts, key=worth)


def _word_start(text: str, at: int) -> int:
    """Return where a word begins at or soon after a place; the place itself where none does."""
    match = _WORD_START.search(text, max(0, at), max(0, at) + 60)
    return match.start() if match else max(0, at)
