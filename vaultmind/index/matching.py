"""What a query finds by its words: which chunks hold them, what BM25 makes of it, and stand-ins."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.columns import Columns, Flags, Floats, Ints, best
from vaultmind.index.db import SOME
from vaultmind.index.words import Term, detect, query_terms, skeleton
from vaultmind.language.words import letters_shared

MAX_TERMS = 24
"""Terms of a query that are looked for, the rarest."""
RARE_STOP_SHARE = 0.02
"""A stop word in less than this share of the chunks is a word like any other here."""
RESEMBLING_WEIGHT, MAX_RESEMBLING, MAX_RESEMBLING_POSTINGS = 0.5, 6, 1_000
"""What counts that only resembles a word of the query (typos, compounds, parts), how many tokens
are looked for in place of one word, and the chunks of all such tokens."""
COMMON_SHARE, COMMON_LEAST = 0.05, 20
"""A token in more chunks than this share (and number) never stands in for an unknown word."""
KIN_WEIGHT, MAX_KIN, MAX_KIN_POSTINGS = 0.3, 6, 300
"""The same of what is of the same family as a word of the query."""
KIN_BELOW = 20
"""Words in more chunks than so many have enough of their own."""
CHANGING = frozenset({"pl", "ru"})
"""Languages whose words change inside."""
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu", "et"})
MAX_EXACT = 60
"""Best chunks that are looked through for identifiers to the letter."""
WHOLE, RESEMBLING_SHARE = 10, 7
"""Tenths of a word that a chunk holds which has it, or only what resembles it."""
_Tokens = dict[Term, list[str]]


@dataclass(frozen=True, slots=True)
class Match:
    """What the words of a query find among all chunks."""

    wanted: tuple[Term, ...]
    """The telling words. Of a long query those that are known: no chunk holds most of a page."""
    weights: Floats
    """What each of them says: the rarer the more, in a vault of any size."""
    text: NDArray[np.uint8]
    """Tenths of each telling word that each chunk's text holds, words by chunks; what resembles a
    word may stand in the title, too."""
    title: Flags
    """The same of its title, headings and tags."""
    plain: Floats
    """BM25 of the query's own words in each chunk."""
    scores: Floats
    """The same with stand-ins and exact identifiers, of what passes the filter."""
    found: Ints
    """The best of it."""
    exact: Mapping[int, float]
    """Share of the query that an identifier is which a chunk has to the letter."""


class Matcher:
    """Looks for words in columns. Whoever uses it holds their lock."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._stand_ins = StandIns(columns)

    def match(self, query: str, mask: Flags, depth: int) -> Match:
        """Return what a query finds; the best `depth` of what passes a filter first."""
        columns = self._columns
        if self._stand_ins.terms is not columns.terms:
            self._stand_ins = StandIns(columns)
        counts = {term: self._count(term) for term in query_terms(query, columns.languages)}
        chosen = self._chosen(counts)
        plain = columns.bm25(chain.from_iterable(term.stems for term in chosen))
        passing = np.where(mask, plain, np.float32(0.0))
        alike = self._resembling(counts, everything=not passing.any())
        kin = self._kin(counts, query)
        for found, weight in ((alike, RESEMBLING_WEIGHT), (kin, KIN_WEIGHT)):
            tokens = dict.fromkeys(chain.from_iterable(found.values()))
            total = columns.bm25(tokens, typed=True)
            passing += weight * np.where(mask, total, np.float32(0.0))
        single = [term for term in counts if not term.stop]
        if len(single) > MAX_TERMS:
            single = [term for term in chosen if term in single] or single[:MAX_TERMS]
        wanted = tuple(single or counts)
        held = np.array([counts[term] for term in wanted], dtype=np.float32)
        weights = np.log1p(columns.living / (held + 1))
        exact = self._exact(query, passing)
        text, title = self._held(wanted, alike, kin)
        return Match(wanted, weights, text, title, plain, passing, best(passing, depth), exact)

    def _held(self, wanted: Sequence[Term], *found: _Tokens) -> tuple[NDArray[np.uint8], Flags]:
        text = np.zeros((len(wanted), self._columns.count), dtype=np.uint8)
        title = np.zeros(text.shape, dtype=np.bool_)
        for at, one in enumerate(wanted):
            for token in chain.from_iterable(some.get(one, ()) for some in found):
                text[at, self._columns.postings(token)["slot"]] = RESEMBLING_SHARE
            for token in {one.plain, *one.stems}:
                postings = self._columns.postings(token)
                inside = (postings["words"] > 0) | (postings["stems"] > 0)
                text[at, postings["slot"][inside]] = WHOLE
                title[at, postings["slot"][postings["titles"] > 0]] = True
        return text, title

    def _count(self, term: Term) -> int:
        """Return how many chunks a term is in."""
        return max(map(self._columns.held_by, (term.plain, *term.stems)))

    def _chosen(self, counts: Mapping[Term, int]) -> list[Term]:
        """Return the terms to look for: known ones, rarest first, stop words only if need be."""
        known = sorted((term for term in counts if counts[term]), key=lambda term: counts[term])
        rare = max(1.0, RARE_STOP_SHARE * self._columns.living)
        telling = [term for term in known if not term.stop or counts[term] <= rare] or known
        return telling[:MAX_TERMS]

    def _resembling(self, counts: Mapping[Term, int], *, everything: bool) -> _Tokens:
        """Return tokens that stand in for unknown words, and compounds of known ones.

        `everything` looks for stand-ins of all words: the known ones found nothing.
        """
        found: _Tokens = {}
        compounding = not COMPOUNDING.isdisjoint(self._columns.languages)
        for term in _plain(counts):
            if everything or not counts[term]:
                found[term] = self._in_place_of(term)
            elif compounding:
                found[term] = self._stand_ins.containing(term.plain, MAX_RESEMBLING)
        return self._affordable(found, MAX_RESEMBLING_POSTINGS)

    def _in_place_of(self, term: Term) -> list[str]:
        """Return tokens for a word that the index does not know."""
        word, stand_ins = term.plain, self._stand_ins
        tokens = stand_ins.near(word, MAX_RESEMBLING) or [
            token for stem in term.stems if stem != word for token in stand_ins.near(stem, 2)
        ]
        shortest = min((word, *term.stems), key=len)
        tokens += stand_ins.containing(shortest, MAX_RESEMBLING - len(tokens))
        return [token for token in tokens if token != word]

    def _kin(self, counts: Mapping[Term, int], query: str) -> _Tokens:
        """Return tokens of the families of words, in languages that change a word's inside."""
        spoken = CHANGING | {""}
        if CHANGING.isdisjoint(self._columns.languages) or detect(query) not in spoken:
            return {}
        few = [term for term in _plain(counts) if counts[term] <= KIN_BELOW]
        found = {term: self._stand_ins.kin(term.plain, MAX_KIN) for term in few}
        return self._affordable(found, MAX_KIN_POSTINGS)

    def _affordable(self, found: _Tokens, left: int) -> _Tokens:
        """Return tokens that are there, without those that are too common, or too many together."""
        most = max(COMMON_LEAST, COMMON_SHARE * self._columns.living)
        kept: set[str] = set()
        for token in dict.fromkeys(chain.from_iterable(found.values())):
            if 0 < (count := self._columns.held_by(token)) <= min(most, left):
                left -= count
                kept.add(token)
        return {term: [one for one in tokens if one in kept] for term, tokens in found.items()}

    def _exact(self, query: str, scores: Floats) -> dict[int, float]:
        """Put what holds an identifier of the query to the letter before the rest.

        One adds to the score as much of the best score as it has of the words of the query.
        """
        wanted = identifiers(query)
        if not wanted or not len(slots := best(scores, MAX_EXACT)):
            return {}
        slot_of = {int(self._columns.rows["rowid"][slot]): int(slot) for slot in slots}
        with self._columns.database.read() as connection:
            rows = connection.execute(
                f"SELECT rowid, title || char(10) || text FROM chunks WHERE rowid {SOME}",
                (json.dumps(list(slot_of)),),
            ).fetchall()
        found = {slot_of[rowid]: exactness(wanted, text) for rowid, text in rows}
        top = float(scores[slots[0]])
        for slot, share in found.items():
            scores[slot] += share * top
        return {slot: share for slot, share in found.items() if share}


def _plain(terms: Iterable[Term]) -> list[Term]:
    """Return the terms that are single telling words."""
    return [term for term in terms if term.plain and not term.stop][:MAX_TERMS]


MIN_TYPO, MIN_TWO_TYPOS = 4, 8
"""Shorter words are too close to too many others; of two errors, shorter than the second."""
SHORT = 5
"""Up to so many letters the first is taken as right, if anything has it: people mistype it
rarely."""
MIN_PART = 4
"""Shortest part of a compound that is looked for."""
MOST_CANDIDATES = 600
KIN_CONSONANTS = 3
"""Consonants that words of one family have in common at their beginning."""


class StandIns:
    """Looks for terms among all that columns have, a list that only grows."""

    def __init__(self, columns: Columns) -> None:
        self.terms, self._count = columns.terms, columns.held_by
        self._forward: list[str] = []
        self._backward: list[str] = []
        self._families: defaultdict[str, list[str]] = defaultdict(list)

    def near(self, word: str, most: int) -> list[str]:
        """Return terms one or, for long words, two typing errors away, nearest first."""
        size = len(word)
        if size < MIN_TYPO:
            return []
        allowed = 2 if size >= MIN_TWO_TYPOS else 1
        cut = size // (allowed + 1)
        lengths = range(size - allowed, size + allowed + 1)
        swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
        found = []
        letters = set(word)
        for term in {*self._around(word[:cut], word[-cut:], lengths), swapped} - {word}:
            others = len(letters.symmetric_difference(term))  # an edit makes two at most
            distance = edits(word, term, allowed) if others <= 2 * allowed else allowed + 1
            if distance <= allowed and (count := self._count(term)):
                begins = term[0] == word[0] or term[:2] == word[1::-1]
                found.append((begins, distance, term[0] != word[0], -count, term))
        if size < SHORT or (size == SHORT and any(begins for begins, *_ in found)):
            found = [one for one in found if one[0]]
        return [term for *_, term in sorted(found, key=lambda one: one[1:])[:most]]

    def containing(self, part: str, most: int) -> list[str]:
        """Return longer terms that start or end with a part, the shortest first."""
        if len(part) < MIN_PART:
            return []
        terms = sorted(set(self._around(part, part, range(len(part) + 1, 64))), key=len)
        return [term for term in terms if self._count(term)][:most]

    def kin(self, word: str, most: int) -> list[str]:
        """Return terms with the consonants that a word begins with, the likest first.

        Polish and Russian change a word's inside from case to case and aspect to aspect (`książka,
        książek`; `молоток, молотка`; `zamówić, zamawiać`), which stems leave apart.
        """
        self._read_new()
        begin = skeleton(word)[:KIN_CONSONANTS]
        family = self._families.get(begin, []) if len(begin) == KIN_CONSONANTS else []
        family = [term for term in family if term != word and self._count(term)]
        alike = {term: letters_shared(word, term) for term in family}
        near = [one for one in alike if alike[one] >= max(3, min(len(word), len(one)) / 2)]
        return sorted(near, key=lambda term: (-alike[term], term))[:most]

    def _read_new(self) -> None:
        """Take in the terms that came since."""
        if fresh := self.terms[len(self._forward) :]:
            self._forward = sorted(self._forward + fresh)
            self._backward = sorted(self._backward + [term[::-1] for term in fresh])
            for term in fresh:
                self._families[skeleton(term)[:KIN_CONSONANTS]].append(term)

    def _around(self, head: str, tail: str, lengths: range) -> Iterator[str]:
        """Yield terms of some lengths that start with a head or end with a tail."""
        self._read_new()
        yield from _within(self._forward, head, lengths)
        yield from (term[::-1] for term in _within(self._backward, tail[::-1], lengths))


def _within(held: Sequence[str], head: str, lengths: range) -> Iterator[str]:
    first, last = bisect_left(held, head), bisect_left(held, f"{head}\U0010ffff")
    return islice((one for one in held[first:last] if len(one) in lengths), MOST_CANDIDATES)


def edits(a: str, b: str, most: int) -> int:
    """Return the edits (insert, delete, change, swap of neighbours) from a to b.

    Where they are more than `most`, a number above it.
    """
    if not most:
        return int(a != b)
    same = letters_shared(a, b)
    a, b = a[same:], b[same:]
    if not a or not b:
        return len(a) + len(b)
    ways = [edits(a[1:], b, most - 1), edits(a, b[1:], most - 1), edits(a[1:], b[1:], most - 1)]
    if a[:2] == b[1::-1]:
        ways.append(edits(a[2:], b[2:], most - 1))
    return 1 + min(ways)


MAX_IDENTIFIERS = 8
"""Of a query that are looked for to the letter."""
MAX_LENGTH = 200
WITHIN = 0.5
"""What a text gets that holds an identifier only as a part of a longer one."""

_OPENING, _CLOSING = "([{<'\"`«„“”", ")]}>'\"`»“”.,;:!?…"
_JOINED = re.compile(r"[\w\s'’ʼ]")
"""Letters that do not make an identifier."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_ALONE = r"(?<![\w\-/\\.@:#]){}(?![\-/\\.@:#]*[^\W_])"
_WITHIN = r"(?<![^\W_]){}(?![^\W_])"
"""Where an identifier stands by itself, and where it is a part of a longer one."""


def identifiers(query: str) -> dict[str, float]:
    """Return what of a query is more than words, with the share of its words that it has."""
    names: dict[str, float] = {}
    words = len(_WORD.findall(query.casefold()))
    for piece in query.split():
        name = piece.lstrip(_OPENING).rstrip(_CLOSING).casefold()
        is_more = _JOINED.sub("", name) or "_" in name.strip("_") or _CAMEL.search(piece)
        if is_more and len(name) <= MAX_LENGTH and _WORD.search(name):
            names[name] = len(_WORD.findall(name)) / words
    return dict(islice(names.items(), MAX_IDENTIFIERS))


def exactness(wanted: Mapping[str, float], text: str) -> float:
    """Return how much of a query a text holds to the letter, from 0 to 1."""
    folded, held = text.casefold(), 0.0
    for name, share in wanted.items():
        if re.search(_ALONE.format(re.escape(name)), folded):
            held += share
        elif re.search(_WITHIN.format(re.escape(name)), folded):
            held += WITHIN * share
    return min(1.0, held)
