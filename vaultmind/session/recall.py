"""Auto-RAG: the messages of one conversation in memory, searched by words and by meaning.

BM25 over stems and vectors, as arrays. An answer seldom repeats the words of its question, so a
message is also found by what stands around it: each counts a share of its neighbours' words and
meaning. On development conversations of LoCoMo that finds more than any other
step. One gate by relevance decides whether anything is shown.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vaultmind.index.columns import best, message_number, number_of
from vaultmind.index.words import Term, detect, fold, index_terms, query_terms, shortened
from vaultmind.plural import counted
from vaultmind.redact import mask
from vaultmind.session.parts import Dropped, Part, more_than
from vaultmind.session.sentences import CONTEXT_LANGUAGES, context_words, small_words
from vaultmind.tokens import clip, count
from vaultmind.types import Message

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vaultmind.ports import Closeness, Matrix

K1, B = 1.2, 0.75
MAX_TERMS, MAX_LANGUAGES = 24, 4
"""Words of a query that are looked for, the rarest; languages they are read in."""
EARNED = 2.3
"""What the words that a message shares with the query must weigh together, for it to be found by
words at all: one word that stands in less than a tenth of the messages weighs as much. Two words
have earned it, however common: a whole conversation may be about one thing."""
RRF_K, DEPTH = 60, 20
"""Reciprocal rank fusion; places of each list that are fused, unless more are asked for."""
MEANING_WEIGHT = 0.3
"""Of the list by meaning beside that by words: a small embedder ranks worse than words do."""
NEIGHBOURS = ((1, 0.5, 0.45), (2, 0.3, 0.3))
"""Distance, and the share of what a message holds that counts for the one so far after it and for
the one before it: an answer comes after its question."""
NAMED, ASKING = 0.5, 0.1
"""Added to a message of a speaker whom the query names, taken from one that ends in a question."""
RELEVANCE = 0.5
"""The best distance may be so much: 1 minus the relevance of the best message."""
POINTS_BACK, FEW_TERMS, FEW_WORDS = 0.6, 2, 12
"""Factor of the threshold for a short message with few telling words: it means what was said."""
BY_WORDS_ALONE = 0.4
"""Factor where there are no vectors: the words of a question are half of what it says."""
OTHERS = 0.5
"""Of the threshold that each further message, or one beside it, must have where few are shown."""
ONE_WORD = 0.75
"""Relevance that a query of a single telling word needs: it is often no question at all."""
GIVEN_ON = 0.65
"""Share of an old question's relevance that what was said after it gets: enough to be shown by
itself, and less than would keep lasting memory from being asked (`context.recall_gate`)."""
TOKENS_A_MESSAGE, DAY_TOKENS, MIN_CUT_TOKENS = 10, 10, 40
"""What a message costs at least; a line with a date at most; to what one is cut at least."""
LETTERS_UNTIL = "\u0600"
"""Before it stand the scripts whose lone letters are no words."""
EARLIER = "what was said earlier"
TOO_LARGE = 0.5
"""Share of the room to which a message is cut."""
MOST_UNANSWERED, MOST_OF_A_TURN = 3, 1000
"""Messages at the end that are taken for the question where none is named; messages of an answer
under way that are looked past."""
MOST_CHARACTERS = 300
"""A longer message says something besides its question."""
_EMOJI = re.compile(r"u(?:2[67]|1f[3-9a])[0-9a-f]{2}")
"""An emoji as `index.words` writes it."""
_WORD = re.compile(r"\w+")
_ASKS = re.compile(r"[?？؟][\s\"'»”’)\]*_~]*(?:\^[A-Za-z0-9-]+\s*)?$")


# --- words --------------------------------------------------------------------------------


def telling_terms(terms: Sequence[Term]) -> list[Term]:
    """Return the words that can say by themselves what a question is about.

    A lone letter, digit or emoji does not, nor several side by side as in `2+2`; of a script that
    has words: a single character of another may be one.
    """

    def is_lone(word: str) -> bool:
        return (len(word) == 1 and word < LETTERS_UNTIL) or bool(_EMOJI.fullmatch(word))

    kept = (one for one in terms if not (one.stop or one.plain in small_words()))
    return [one for one in kept if not is_lone(one.plain)]


@lru_cache(maxsize=2048)
def telling_stems(text: str) -> tuple[frozenset[str], ...]:
    """Return the single words of a text that tell something, each as its stems."""
    terms = telling_terms(query_terms(text[:MOST_CHARACTERS], CONTEXT_LANGUAGES))
    return tuple(frozenset(one.stems) for one in terms if one.plain)


def _new_words(text: str, query: str) -> tuple[frozenset[str], int]:
    """Return the stems of a query, and how many words of a text are none of them."""
    asked = frozenset[str]().union(*telling_stems(query))
    return asked, sum(asked.isdisjoint(one) for one in telling_stems(text))


def only_asks(text: str, query: str) -> bool:
    """Tell whether a text asks what a query asks, and says nothing: it is no answer.

    An old question has all the words of the new one, so it would stand above what answers it.
    """
    if len(text) > MOST_CHARACTERS or not _ASKS.search(text):
        return False
    asked, new = _new_words(text, query)
    return bool(asked) and new <= 1 and len(telling_stems(text)) > 2 * new


def says_something(text: str, query: str) -> bool:
    """Tell whether what was said after an old question may be its answer: more than its words."""
    return _new_words(text, query)[1] > 0 or any(map(str.isdigit, text))


def dated(said: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines, each given with its day, with a date where a day begins if there are several.

    A question of when is answered by them. A line without a day belongs to that before it.
    """
    several = len({day for day, _ in said if day}) > 1
    shown: list[str] = []
    before = ""
    for day, line in said:
        if several and day and day != before:
            before = day
            shown.append(f"— {day} —")
        shown.append(line)
    return shown


# --- the index ----------------------------------------------------------------------------


def key_of(message: Message) -> str:
    """Return what a message is called everywhere: its own id, else its block id."""
    return message.id or message.block


class Answer(NamedTuple):
    """What a search found."""

    hits: Sequence[tuple[int, float]] = ()
    """The number of each message in the conversation, best first, and the best relevance of it and
    the messages beside it: an answer belongs to its question."""
    telling: int = 0
    """Words of the query that say what it is about."""
    best: float = 0.0
    """The best relevance of one message, from 0 to 1; 1 minus it is the distance."""


@lru_cache(maxsize=256)
def _names(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text)))


@lru_cache(maxsize=20_000)
def _stems(text: str, usual: str) -> tuple[str, Counter[str]]:
    """Return the language of a message, and how often each of its stems stands in it."""
    language = detect(text, usual)
    return language, Counter(index_terms(text, language)[1].split())


_ROW = np.dtype([*((name, "?") for name in ("said", "asks", "embeds")), ("number", "i4")])
"""Of a message: whether it may be found (tools' and the system's only stand between others), asks,
and is long enough to mean something; the number of its block id."""
_POSTING = np.dtype([("stem", "i4"), ("at", "i4"), ("often", "f4")])


@dataclass(frozen=True, slots=True)
class SegmentIndex:
    """Messages in order, and what a search needs of them in arrays: each message is read once."""

    held: Sequence[Message] = ()
    keys: Sequence[str] = ()
    languages: Sequence[str] = ()
    rows: NDArray[Any] = field(default_factory=lambda: np.zeros(0, _ROW))
    postings: NDArray[Any] = field(default_factory=lambda: np.zeros(0, _POSTING))
    numbers: dict[str, int] = field(default_factory=dict)
    """Of stems: the same in an index and in those that it grows into."""

    def updated(self, messages: Sequence[Message], least_tokens: int = 0) -> SegmentIndex:
        """Return an index of messages; those that stand in this one from the first on are kept.

        One of fewer than `least_tokens` tokens is not looked for by its meaning.
        """
        pairs = enumerate(zip(self.held, messages, strict=False))
        fewer = min(len(self.held), len(messages))
        same = next((at for at, (old, new) in pairs if old != new), fewer)
        languages, rows, postings = [*self.languages[:same]], list[Any](), list[Any]()
        often = Counter(languages)
        for at, one in enumerate(messages[same:], same):
            is_said, language, found = one.role in ("user", "assistant"), "", Counter[str]()
            if is_said:
                usual = max(filter(None, often), key=often.__getitem__, default="")
                language, found = _stems(one.text, usual)
            often[language] += 1
            languages.append(language)
            postings += [(number_of(self.numbers, stem), at, n) for stem, n in found.items()]
            asks = bool(_ASKS.search(one.text[-MOST_CHARACTERS:]))
            embeds = is_said and count(one.text) >= least_tokens
            rows.append((is_said, asks, embeds, message_number(one.block)))
        return SegmentIndex(
            messages,
            [*self.keys[:same], *map(key_of, messages[same:])],
            languages,
            np.append(self.rows[:same], np.array(rows, _ROW)),
            np.append(self.postings[self.postings["at"] < same], np.array(postings, _POSTING)),
            self.numbers,
        )

    def search(
        self,
        text: str,
        near: Closeness | None = None,
        without: Collection[str] = (),
        depth: int = DEPTH,
    ) -> Answer:
        """Return the best messages by words and meaning, fused by ranks.

        `near` says how near they are in meaning. Those `without` need not be found: they are in
        the window.
        """
        spoken = Counter(filter(None, self.languages)).most_common(MAX_LANGUAGES)
        terms = query_terms(text, [one for one, _ in spoken])
        terms = [one for one in terms if one.stems and not one.stop]
        names = {one: _names(one) for one in {message.speaker for message in self.held}}
        every = frozenset[str]().union(*names.values())
        named = every & _names(text) if len(every) > 1 else frozenset[str]()
        about = [term for term in terms if term.plain not in named] or terms
        telling = len(telling_terms(about))
        if not (telling and self.held):
            return Answer()
        said, asks = self.rows["said"], self.rows["asks"]
        score, covered = self._by_words(about)
        meaning = self._by_meaning(near)
        by_name = {one: NAMED * len(words & named) for one, words in names.items()}
        extra = np.array([by_name[one.speaker] for one in self.held], np.float32)
        extra -= np.float32(ASKING) * asks
        own = (1 - (1 - covered) * (1 - meaning)) * said
        open_ = said & np.array([key not in without for key in self.keys])
        for at in np.flatnonzero(asks & (score > 0)).tolist():
            if only_asks(self.held[at].text, text):
                reply = self.held[at + 1] if said[at + 1 : at + 2].any() else None
                if reply and says_something(reply.text, text):
                    own[at + 1] = max(own[at + 1], GIVEN_ON * own[at])
                own[at], open_[at] = 0.0, False
        fused = np.zeros(len(said), np.float32)
        for found, share in ((score * said, 1.0), (meaning * said, MEANING_WEIGHT)):
            spread = found.copy()
            for distance, after, before in NEIGHBOURS:
                spread[distance:] += after * found[:-distance]
                spread[:-distance] += before * found[distance:]
            spread += extra * (spread > 0)
            order = best(spread * open_, depth)
            fused[order] += share / (RRF_K + 1 + np.arange(len(order)))
        around = np.maximum(own, np.maximum(np.append(0, own[:-1]), np.append(own[1:], 0)))
        hits = [(at, float(around[at])) for at in best(fused, 2 * depth).tolist()]
        return Answer(hits, telling, float(own[open_].max(initial=0.0)))

    def _by_meaning(self, near: Closeness | None) -> Matrix:
        """Return the closeness in meaning of each message, from 0 to 1; of pieces the nearest."""
        told = self.rows["number"] * self.rows["embeds"]
        numbers, places = np.unique(told, return_inverse=True)
        values = np.zeros(len(numbers), np.float32)
        if near:
            inside = np.isin(near[0], numbers[numbers > 0])
            np.maximum.at(values, np.searchsorted(numbers, near[0][inside]), near[1][inside])
        meaning: Matrix = values[places]
        return meaning

    def _by_words(self, terms: Sequence[Term]) -> tuple[Matrix, Matrix]:
        """Return BM25 of each message divided by its best, and its share of the telling words.

        The rare ones count most; 0 where what a message holds is too common to mean anything.
        """
        size = len(self.rows)
        lengths = np.bincount(self.postings["at"], self.postings["often"], size)
        norm = np.float32(K1) * (1 - B + B * lengths / max(1.0, float(lengths.mean())))
        telling = {one.plain for one in telling_terms(terms)}
        stems = [[self.numbers.get(stem, -1) for stem in one.stems] for one in terms]
        rows = self.postings[np.isin(self.postings["stem"], [*chain.from_iterable(stems)])]
        found: list[tuple[float, str, Matrix]] = []
        for term, some in zip(terms, stems, strict=True):
            often = np.zeros(size, np.float32)
            of_it = rows[np.isin(rows["stem"], some)]
            np.maximum.at(often, of_it["at"], of_it["often"])
            there = int(np.count_nonzero(often))
            found.append((math.log(1 + (size - there + 0.5) / (there + 0.5)), term.plain, often))
        score, held = np.zeros(size, np.float32), np.zeros(size, np.float32)
        shared, total = np.zeros(size, np.int16), 0.0
        for weight, word, often in sorted(found, key=lambda one: one[0])[-MAX_TERMS:]:
            score += weight * often * (K1 + 1) / (often + norm)
            if word in telling:
                held += weight * (often > 0)
                shared += often > 0
                total += weight
        earned = (held >= EARNED) | (shared > 1)
        best_ = float(score.max(initial=0.0)) or 1.0
        return score / best_, np.where(earned, held / (total or 1.0), np.float32(0))


# --- what is shown ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is looked for, where, and what of it may be shown."""

    text: str
    """The user's messages that wait for an answer."""
    tokens: int
    top_k: int | None
    """Messages at most; None: as many as fit."""
    window: frozenset[str] = frozenset()
    """Keys of the messages that are shown anyway."""
    language: str = "en"
    relevance: float = RELEVANCE
    """The greatest distance of the best match, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is shown, and why, or why nothing is."""

    best: float = 0.0
    """The relevance of the best match, shown or not."""
    part: Part | None = None
    dropped: tuple[Dropped, ...] = ()


def recall(index: SegmentIndex, request: RecallRequest, near: Closeness | None = None) -> Recalled:
    """Return what was said earlier about the pending messages, within the room.

    Without their closeness in meaning, words alone decide. A short message with few telling words
    points at what was said: less will do.
    """
    text, top_k = request.text.strip(), request.top_k
    depth = DEPTH if top_k else max(DEPTH, request.tokens // TOKENS_A_MESSAGE)
    answer = index.search(text, near, request.window, depth)
    least = (1.0 - request.relevance) * (1.0 if near else BY_WORDS_ALONE)
    if answer.telling == 1:
        least = max(least, ONE_WORD)
    elif answer.telling <= FEW_TERMS and len(text.split()) <= FEW_WORDS:
        least *= POINTS_BACK
    reason = "" if answer.telling else "nothing in it to look for"
    if answer.telling and answer.best < least:
        reason = (
            f"the best match is at distance {1 - answer.best:.2f}, more than {1 - least:.2f}"
            f" (auto_rag.relevance is {request.relevance:.2f})"
        )
    if reason:
        return Recalled(answer.best, dropped=(Dropped(EARLIER, reason),))
    hits = [at for at, around in answer.hits if not top_k or around >= OTHERS * least]
    part, left_out = _part([(at, index.held[at]) for at in hits], request, answer.best)
    if not left_out:
        return Recalled(answer.best, part)
    reason = more_than(request.tokens, "auto_rag.max_tokens")
    if part and top_k and len(hits) - left_out == top_k:
        reason = f"only the best {top_k} are shown (raise auto_rag.top_k)"
    what = counted(left_out, "fainter match", "fainter matches") if part else EARLIER
    return Recalled(answer.best, part, (Dropped(what, reason),))


def _part(
    hits: Sequence[tuple[int, Message]], request: RecallRequest, best: float
) -> tuple[Part | None, int]:
    """Return as many of the best as there is room for, in the order they were said; and how many
    are left out.
    """
    said = context_words(request.language)
    left = request.tokens - count(f"{said['earlier']}\n")
    lines: list[tuple[int, str, str, str]] = []
    """The place, day and line of each, and its key where it is whole."""
    for place, one in hits:
        if len(lines) == request.top_k:
            break
        day, days = one.time[:10], {day for _, day, *_ in lines}
        dates = DAY_TOKENS * (1 + (len(days) == 1)) if days and day not in days else 0
        link = f"[[#^{one.block}]]" if one.block else ""
        who = " ".join(filter(None, (said.get(one.role, one.role), one.speaker, link)))
        line, key = f"{who}: {one.text.strip()}", key_of(one)
        cost = count(f"{line}\n") + dates
        if cost > left:
            if not request.top_k or left - dates < MIN_CUT_TOKENS:
                continue
            line, cost, key = clip(line, left - dates - 1), left, ""
        lines.append((place, day, line, key))
        left -= cost
    lines.sort()
    text = "\n".join([said["earlier"], *dated([(day, line) for _, day, line, _ in lines])])
    keys = tuple(key for *_, key in lines if key)
    why = f"best match at distance {1 - best:.2f}"
    part = Part("earlier", text, count(text), (), keys, why) if lines else None
    return part, len(hits) - len(lines)


# --- what waits for an answer, and the last messages --------------------------------------


class Waiting(NamedTuple):
    """What waits for an answer, and the conversation before it."""

    texts: tuple[str, ...]
    before: Sequence[Message]
    keys: tuple[str, ...]
    """Of those that are written down in the conversation already."""

    @property
    def query(self) -> str:
        """Return what is looked for."""
        return shortened("\n".join(self.texts).strip())


class Entry(NamedTuple):
    """A message as it is shown; one that was cut has no key."""

    text: str
    key: str
    day: str


class Picked(NamedTuple):
    """The newest messages that fit a room, oldest first."""

    entries: Sequence[Entry] = ()
    older: int = 0
    """Messages before the first of them."""

    @property
    def keys(self) -> frozenset[str]:
        """Return which messages stand there whole."""
        return frozenset(entry.key for entry in self.entries if entry.key)


def waiting(messages: Sequence[Message], pending: Sequence[str]) -> Waiting:
    """Return what waits: what the caller says, else what the user said last, unanswered.

    What is pending may be written down already: it then stands at the end of the conversation, or
    before what the assistant has said and done about it so far.
    """
    texts = tuple(text.strip() for text in pending if text.strip())
    at, most = len(messages), len(texts) or MOST_UNANSWERED
    oldest = max(0, at - MOST_OF_A_TURN) if texts else at
    while at > oldest and messages[at - 1].role != "user":
        at -= 1
    first = at
    while first and at - first < most and messages[first - 1].role == "user":
        said = messages[first - 1].text.strip()
        if not said or (texts and not any(_is_logged(text, said) for text in texts)):
            break
        first -= 1
    logged = messages[first:at]
    texts = texts or tuple(message.text.strip() for message in logged)
    return Waiting(texts, [*messages[:first], *messages[at:]], tuple(map(key_of, logged)))


def _is_logged(text: str, said: str) -> bool:
    """Tell whether a text is what was written down, where secrets are masked."""
    alike = 2 * len(said) > len(text) > len(said) // 2
    return text == said or (alike and mask(text).text.strip() == said)


def pick(
    messages: Sequence[Message], room: int, words: dict[str, str], most: int, out: Collection[str]
) -> Picked:
    """Return the newest messages that fit, other than those left `out`."""
    entries = list[Entry]()
    left, at, oldest = room, len(messages), max(0, len(messages) - most)
    while at > oldest:
        one = messages[at - 1]
        if key_of(one) not in out:
            entry = _shown(one, words, int(TOO_LARGE * room))
            days = {other.day for other in entries}
            dates = DAY_TOKENS * (1 + (len(days) == 1)) if days and entry.day not in days else 0
            left -= count(f"{entry.text}\n") + dates
            if left < 0:
                break
            entries.append(entry)
        at -= 1
    return Picked(entries[::-1], at)


def _shown(message: Message, words: dict[str, str], most: int) -> Entry:
    """Return a message as it is shown, in so many tokens at most."""
    said = message.text.strip()
    who = " ".join(filter(None, (words.get(message.role, message.role), message.speaker)))
    text = f"{who}: {said}"
    fits = count(text) <= most
    return Entry(text if fits else clip(text, most), key_of(message) * fits, message.time[:10])
