"""From ranked candidates to an answer: which become hits, and how much of each is shown. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from vaultmind import tokens
from vaultmind.index.db import hit_of
from vaultmind.index.where import message_number
from vaultmind.index.words.irregular import BASES
from vaultmind.index.words.terms import fold, query_terms, stems
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
_COPIED = ("note", "summary")
"""Kinds of which a few words may differ: of a fact or a message, any word makes it another."""

Around = Callable[[Chunk], Sequence[Chunk]]
"""Returns the chunks around one in its file, in order, itself among them."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate that may be shown and is good enough, in its place among the others."""

    chunk: Chunk
    score: float
    """How much of the query it answers: see `search`."""
    parts: dict[str, float] = field(default_factory=dict)
    row: int = 0
    """What its reasons are asked by."""


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
    around: Around,
    shows: Callable[[Chunk], bool],
    clean: Callable[[str], str],
    reasons: Callable[[Collection[int]], Sequence[tuple[Reason, ...]]] | None = None,
) -> Answered:
    """Return one page of hits with texts of at most `request.max_tokens` together.

    `ranked`, best first, is the same for every page; it is read only as far as a page needs.
    """
    found = places(ranked, request, around)
    page = found[request.offset : request.offset + request.limit]
    told: list[tuple[str, str, int]] = []
    least = 0
    for place in page:  # a title is cleaned with its text: it may announce what the text holds
        title, _, text = clean(f"{place.best.chunk.title}\n{place.text}").partition("\n")
        told.append((title, text, tokens.count(text)))
        least += min(told[-1][2], LEAST_TOKENS)
        if least > request.max_tokens:
            break
    given = shares([cost for *_, cost in told], request.max_tokens)
    shown = page[: len(given)]
    about: frozenset[str] = frozenset()
    if any(most < cost for most, (*_, cost) in zip(given, told, strict=False)):
        about = sought(request.query, {place.best.chunk.lang for place in shown})
    why = reasons([place.best.row for place in shown]) if reasons and shown else [()] * len(shown)
    left = request.max_tokens
    hits = []
    for place, (title, text, cost), most, because in zip(shown, told, given, why, strict=False):
        chunk = place.best.chunk
        part = text if cost <= most else passage(text, about, chunk.lang, most)
        left -= tokens.count(part) if part != text else cost
        also = dict.fromkeys(f"{one.path}{one.anchor}" for one in place.also)
        hit = hit_of(chunk, title, part, max(one.score for one in place.run))
        cut = part != text
        hits.append(
            replace(hit, parts=place.best.parts, truncated=cut, also=tuple(also), why=because)
        )
    talk = _Talk(request, around, shows, clean, {(hit.path, hit.anchor) for hit in hits})
    for at, place in enumerate(shown if not request.apart else ()):
        if hits[at].kind == "message":
            run = [one.chunk for one in place.run]
            before, after = talk.around_message(run, min(left, 2 * BESIDE_TOKENS))
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
    said: Wording
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
        said = Wording.of("" if request.apart else chunk.text)
        if not request.apart:
            copied = (place for place in found if _is_copy_of(chunk, said, place))
            if (place := next(copied, None)) is not None:
                place.also.append(chunk)
                continue
            complete = len(found) - len(found) % request.limit
            open_places = [one for one in found[complete:] if one.best.chunk.path == chunk.path]
            if open_places and _joins(item, said, open_places, around):
                continue
        if chunk.kind == "fact" or counts[chunk.path] < request.per_note:
            found.append(Place(item, [item], said))
            counts[chunk.path] += 1
            if len(found) > whole_pages:
                break
    return found


def _joins(item: Ranked, said: Wording, open_places: Sequence[Place], around: Around) -> bool:
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
        place.said |= said
        return True
    return False


# --- copies -------------------------------------------------------------------------------

SHINGLE = 3
"""Words that are compared as one."""
LEAST_WORDS = 12
"""A shorter text is a copy only if it has the very same words."""
LEAST_EDITED = 25
"""Of a shorter one every word must stand in the other text: one else is another thing said."""
CONTAINED = 0.7
"""Share of a copy's shingles that the other text has, at least."""
NEW_WORDS = 0.06
"""Share of a longer copy's different words that the other text does not have, at most."""
_NEGATIONS = """
    no not never none without cannot dont doesnt didnt isnt arent wasnt werent wont cant couldnt
    shouldnt wouldnt nie nigdy bez zaden zadna не ни нет никогда без nicht kein keine keinen ohne
    nunca jamas sin pas jamais sans aucun aucune
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Folded, of six languages."""
_COMPARED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
"""Scripts without spaces are compared by their characters."""
_APOSTROPHES = re.compile("['’ʼ]")
_DIGIT = re.compile(r"\d")
_INSIDE = re.compile(r"(?<=[\w,;] )[^\W\d_]\w*")
"""A word that does not begin a sentence."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as it is compared with others."""

    text: str
    words: tuple[str, ...]
    """Folded, in order, without marks."""

    @classmethod
    def of(cls, text: str) -> Wording:
        """Return how a text is worded."""
        return cls(text, tuple(_COMPARED.findall(_APOSTROPHES.sub("", fold(text)))))

    def __or__(self, other: Wording) -> Wording:
        """Return the wording of two texts that are shown as one."""
        return Wording(f"{self.text}\n\n{other.text}", self.words + other.words)


def is_copy(one: Wording, other: Wording) -> bool:
    """Tell whether a text says nothing that another does not say as well.

    A copy may lack something or have a few words of its own: a typing error put right, a heading
    renamed. A number, a name or a negation that the other text does not have makes it none, however
    alike the rest is.
    """
    if one.words == other.words:
        return True
    different = set(one.words)
    new = different.difference(other.words)
    most = NEW_WORDS * len(different) if len(one.words) >= LEAST_EDITED else 0
    if len(one.words) < LEAST_WORDS or len(new) > most:
        return False
    own, others = (
        Counter(word for word in said.words if word in NEGATIONS or _DIGIT.search(word))
        for said in (one, other)
    )
    names = {fold(name) for name in _INSIDE.findall(one.text) if name[0].isupper()}
    if own - others or not new.isdisjoint(names):
        return False
    runs, held = (
        set(zip(*(said.words[at:] for at in range(SHINGLE)), strict=False)) for said in (one, other)
    )
    return len(runs & held) >= CONTAINED * len(runs)


def _is_copy_of(chunk: Chunk, said: Wording, place: Place) -> bool:
    """Tell whether a chunk says the same as a place.

    What another agent knows, or a note of another day, is another thing, though it be worded alike.
    """
    best = place.best.chunk
    if (chunk.kind, chunk.agent) != (best.kind, best.agent):
        return False
    if chunk.kind not in _COPIED:
        return said.words == place.said.words
    return len({chunk.time[:10], best.time[:10]} - {""}) <= 1 and is_copy(said, place.said)


# --- what was said before and after a message ---------------------------------------------


@dataclass(frozen=True, slots=True)
class _Talk:
    """What was said around messages, as far as it may be shown."""

    request: SearchRequest
    around: Around
    shows: Callable[[Chunk], bool]
    clean: Callable[[str], str]
    known: Collection[tuple[str, str]]
    """(path, anchor) of what is shown anyway."""

    def around_message(self, run: Sequence[Chunk], most: int) -> tuple[str, str]:
        """Return the end of what was said before a message, and the beginning of what came next.

        Each with who said it, within so many tokens together, half of them each at most. `run` are
        the chunks of the message.
        """
        if most // 2 < LEAST_BESIDE:
            return "", ""
        told = []
        for end, step, cut in ((run[0], -1, ending), (run[-1], 1, tokens.clip)):
            near = list(self.around(end))
            at = next((n for n, one in enumerate(near) if one.id == end.id), len(near))
            side = near[:at][::-1] if step < 0 else near[at + 1 :]
            side = [one for one in side if one.anchor != end.anchor and one.role in _SPOKEN]
            pieces = [one for one in side if one.anchor == side[0].anchor][::step]
            told.append(self._said(pieces, most // 2, cut))
        return told[0], told[1]

    def _said(self, pieces: Sequence[Chunk], most: int, cut: Callable[[str, int], str]) -> str:
        """Return a message on one line; empty where it may not be shown."""
        if not pieces or not all(map(self._may_be_seen, pieces)):
            return ""
        who = " ".join(pieces[0].speaker.split())[:MOST_NAME] or pieces[0].role
        text = " ".join("\n".join(piece.text for piece in pieces).split())
        said = self.clean(f"{who}: {text}")
        lead = said[: len(who) + 2] if said.startswith(f"{who}: ") else ""
        room = most - tokens.count(lead) - 1  # the sum of two is rounded twice
        return lead + cut(said[len(lead) :], room)

    def _may_be_seen(self, chunk: Chunk) -> bool:
        """Tell whether it may be shown, is of the time asked for, and is not seen anyway."""
        asked, day = self.request, chunk.time[:10]
        if (asked.after and day < asked.after[:10]) or (asked.before and day > asked.before[:10]):
            return False
        if chunk.path == asked.running:
            number = message_number(chunk.anchor.removeprefix("#^"))
            if not 0 < number < message_number(asked.since):
                return False
        return (chunk.path, chunk.anchor) not in self.known and self.shows(chunk)


# --- the part of a text that a question is about ------------------------------------------

MARK = "…"
LEAST_MARKED = 12
"""Tokens below which no mark is spent on saying that something is missing."""
LEAD = 0.25
"""Share of a passage that stands before the first word sought, where there is a choice."""
MOST_LETTERS = 4000
"""Of a question, that are looked for."""
MOST_STARTS, MOST_MATCHES, LONG_WORD = 80, 200, 60
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
    room = most_tokens - tokens.count(before)
    shown = tokens.clip(text[start:], room, mark=f" {MARK}")
    while room and tokens.count(before + shown) > most_tokens:  # two sums are rounded, then one
        room -= 1
        shown = tokens.clip(text[start:], room, mark=f" {MARK}")
    return before + shown


def ending(text: str, most_tokens: int) -> str:
    """Return at most so many tokens of a text from its end, with a mark where it was cut."""
    cost = tokens.count(text)
    if cost <= most_tokens:
        return text
    before = f"{MARK} "
    start = _word_start(text, len(text) - int(len(text) * most_tokens / cost * SPARE))
    while start < len(text) and tokens.count(before + text[start:]) > most_tokens:
        start = _word_start(text, start + 1)
    return before + text[start:] if start < len(text) else ""


def _window_start(text: str, about: Collection[str], lang: str, window: int) -> int:
    """Return where the best window of so many letters begins."""
    found = _sought_in(text, about, lang)
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


def _sought_in(text: str, about: Collection[str], lang: str) -> list[tuple[int, str]]:
    """Return where what is sought stands, and what of it, in order."""
    found: list[tuple[int, str]] = []
    firsts = {stem[:1] for stem in about}
    for match in _SOUGHT.finditer(text):
        word = match[0]
        if fold(word[0])[:1] in firsts or word.lower() in BASES:  # to stem each would take a while
            found += [(match.start(), stem) for stem in stems(word, lang) if stem in about][:1]
        if len(found) >= MOST_MATCHES:
            break
    folded = fold(text)
    if not found and len(folded) == len(text):  # scripts without spaces
        places = ((folded.find(stem), stem) for stem in about if len(stem) > 1)
        found = sorted(one for one in places if one[0] >= 0)
    return found


def _word_start(text: str, at: int) -> int:
    """Return where a word begins at or soon after a place; the place itself where none does."""
    match = _WORD_START.search(text, max(0, at), max(0, at) + LONG_WORD)
    return match.start() if match else max(0, at)
