"""Full text: BM25 over words, stems and titles. No query fails, and none must match whole."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from itertools import pairwise
from operator import itemgetter

from vaultmind.index.fulltext.alike import MAX_RESEMBLING, apart, stand_ins
from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.fulltext.rarity import chunks_with, telling_terms, worth
from vaultmind.index.fulltext.vocabulary import Vocabulary
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.where import Where
from vaultmind.index.words.identifiers import Identifier, exactness, identifiers, spaced
from vaultmind.index.words.language import detect
from vaultmind.index.words.terms import Term, index_terms, query_terms, shortened
from vaultmind.types import Chunk

WORDS_WEIGHT, STEMS_WEIGHT, TITLE_WEIGHT = 1.0, 1.0, 3.0
"""Weights of the columns. Single words are looked for by their stems (measured: counting the
word as typed once more ranks worse), phrases and scripts without spaces as typed."""
AHEAD = 2
"""How many times the wanted matches are ranked before they are filtered."""
RESEMBLING_WEIGHT = 0.5
"""Of what only resembles a word of the query: typos, compounds, parts."""
MAX_TERMS = 24
"""Terms of a query that are looked for, the rarest."""
MAX_POSTINGS = 3_000
"""Chunks of all terms together, 3 µs each; common words beyond are left out ..."""
ALWAYS = 2
"""... but for the rarest."""
COMMON_SHARE, COMMON_LEAST = 0.05, 20
"""A token in more chunks than this share (and number) never stands in for an unknown word."""
MAX_RESEMBLING_POSTINGS = 1_000
RARE_STOP_SHARE = 0.02
"""A stop word in less than this share of the chunks is a word like any other here."""
MAX_EXACT = 60
"""Best chunks that are looked through for identifiers to the letter."""
MAX_LANGUAGES = 6
MIN_LANGUAGE_SHARE = 0.005
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "hu", "et"})
KIN_WEIGHT = 0.3
"""Of what is of the same family as a word of the query, in ..."""
ROOTED_AT_ONCE = 20_000
"""New tokens whose roots are found before a start is over (0.2 s); of more, while searches go on
without those that are not there yet."""
KIN_BELOW = 20
"""Words in more chunks than so many have enough of their own."""
MOST_KIN, MAX_KIN_POSTINGS = 16, 300
CHANGING = frozenset({"pl", "ru"})
"""... languages whose words change inside: see `index/words/kin.py`."""
MAX_SAMPLE = 400
"""Letters of a query that its language is told by."""

_BATCH = 400
_HELD = """SELECT t.c0 || ' ' || t.c1 || ' ' || t.c2, c.lang FROM fts_content t
    LEFT JOIN chunks c ON c.rowid = t.id WHERE t.id = ?"""
_WEIGHTS = (WORDS_WEIGHT, STEMS_WEIGHT, TITLE_WEIGHT)
_ALL = "SELECT rowid, -bm25(fts, ?, ?, ?) FROM fts WHERE fts MATCH ?"
_BEST = """SELECT rowid, -bm25(fts, ?, ?, ?) AS score FROM fts
    WHERE fts MATCH ? ORDER BY score DESC LIMIT ?"""
_BEST_WHERE = """SELECT c.rowid, -bm25(fts, ?, ?, ?) AS score
    FROM fts JOIN chunks c ON c.rowid = fts.rowid
    WHERE fts MATCH ? AND {condition} ORDER BY score DESC LIMIT ?"""


@dataclass(frozen=True, slots=True)
class TextHit:
    """A chunk that matches. A higher score is better; scores of two queries do not compare."""

    rowid: int
    score: float
    exact: float = 0.0
    """How much of the query it holds to the letter (`index/words/identifiers.py`), from 0 to 1."""


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """What full text says to a query."""

    hits: list[TextHit]
    wanted: tuple[Wanted, ...]
    """The telling words of the query: what `coverage_of` measures a chunk by. Of a long one those
    that are known: no chunk holds most of a pasted page."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """Of every chunk that holds a word of the query, whatever filter it passes; where the words
    are common, of the best."""


class TextIndex:
    """The full-text table of the database, and the vocabulary that goes with it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._lock = threading.RLock()
        self._vocabulary: Vocabulary | None = None
        self._languages: Counter[str] = Counter()

    def add(self, rows: Iterable[tuple[int, Chunk]]) -> None:
        """Index chunks under the rowids they have in `chunks`, in the caller's transaction."""
        rows = list(rows)
        prepared = [(rowid, *columns(chunk)) for rowid, chunk in rows]
        with self.database.write() as connection:
            connection.executemany(
                "INSERT INTO fts (rowid, words, stems, title) VALUES (?, ?, ?, ?)", prepared
            )
        with self._lock:
            if self._vocabulary is None:
                return
            self._languages.update(chunk.lang for _, chunk in rows)
            for _, *texts in prepared:
                self._vocabulary.add(" ".join(texts).split())

    def remove(self, rowids: Iterable[int]) -> None:
        """Take chunks out, in the caller's transaction; unknown rowids are ignored.

        Those that are still in `chunks` are counted out there.
        """
        gone = [(rowid,) for rowid in rowids]
        held: list[tuple[str, str | None]] = []
        with self.database.write() as connection:
            for rowid in gone:
                held += connection.execute(_HELD, rowid).fetchall()
            connection.executemany("DELETE FROM fts WHERE rowid = ?", gone)
        with self._lock:
            if self._vocabulary is None:
                return
            self._languages.subtract(lang for _, lang in held if lang is not None)
            for said, _ in held:
                self._vocabulary.remove(said.split())

    def reset(self) -> None:
        """Forget what is kept in memory: the database was started anew or filled elsewhere."""
        with self._lock:
            self._vocabulary = None

    def tidy(self) -> None:
        """Merge what many small writes left behind: searches take 40 % less time after it."""
        with self.database.write() as connection:
            connection.execute("INSERT INTO fts (fts) VALUES ('optimize')")

    def warm(self) -> None:
        """Load the vocabulary now, so that the first search need not."""
        vocabulary, langs = self._ready()
        if CHANGING.isdisjoint(langs):
            return
        if vocabulary.unrooted <= ROOTED_AT_ONCE:
            vocabulary.warm()
        else:
            threading.Thread(target=vocabulary.warm, name="roots", daemon=True).start()

    def search(self, query: str, where: Where, limit: int) -> list[TextHit]:
        """Return the best chunks for any query, best first; none where no word is known."""
        return self.answer(query, where, limit).hits

    def answer(self, query: str, where: Where, limit: int) -> TextAnswer:
        """Return the same, and what of the query a hit can be measured by."""
        vocabulary, langs = self._ready()
        query = shortened(query)
        terms = query_terms(query, langs)
        if not terms or limit < 1:
            return TextAnswer([], ())
        known = self._chosen(terms, vocabulary)
        in_titles = all(term.stop for term in known)
        numbers = spaced(query, vocabulary.count, self._stands)
        known += [Term(tokens) for tokens in dict.fromkeys(numbers.values())]
        scores: dict[int, float] = {}
        plain: Mapping[int, float] = {}
        expressions = [_expression(term, in_titles) for term in known]
        common = self._are_common(known, vocabulary)
        if len(known) > 1 and common:
            plain = self._match(" AND ".join(expressions), where, limit, 1.0, scores)
        if expressions and len(scores) < limit:
            scores.clear()
            whole = not common
            plain = self._match(" OR ".join(expressions), where, limit, 1.0, scores, whole=whole)
        resembling = self._resembling(terms, vocabulary, langs, everything=not scores)
        kin = {} if CHANGING.isdisjoint(langs) else self._kin(terms, vocabulary, query)
        for alike, weight in ((resembling, RESEMBLING_WEIGHT), (kin, KIN_WEIGHT)):
            tokens = dict.fromkeys(token for found in alike.values() for token in found)
            if tokens:
                expression = " OR ".join(f'"{token}"' for token in tokens)
                self._match(expression, where, limit, weight, scores)
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        chunks = self._languages.total()
        hits = [TextHit(rowid, score) for rowid, score in ranked]
        if exact := identifiers(query):
            hits = self._exact_first(hits, exact)
        telling = telling_terms(terms)
        if len(telling) > MAX_TERMS:
            few = [term for term in known if not term.stop and len(term.words) <= 1]
            telling = few[:MAX_TERMS] or telling[:MAX_TERMS]
        wanted = (
            Wanted(
                worth(chunks_with(term, vocabulary), chunks),
                numbers.get(term.plain, term.words),
                () if term.plain in numbers else term.stems,
                (*resembling.get(term, ()), *kin.get(term, ())),
            )
            for term in telling
        )
        return TextAnswer(hits, tuple(wanted), plain)

    def _are_common(self, terms: Sequence[Term], vocabulary: Vocabulary) -> bool:
        """Tell whether so many chunks hold one of the terms that ranking all takes too long.

        Enough of them hold all the terms, as a rule, and no other ranks before those.
        """
        return sum(chunks_with(term, vocabulary) for term in terms) > MAX_POSTINGS

    def _match(
        self,
        expression: str,
        where: Where,
        limit: int,
        weight: float,
        scores: dict[int, float],
        *,
        whole: bool = False,
    ) -> Mapping[int, float]:
        """Add the best matches of an FTS5 expression to the scores; return what it found.

        Looking up every match in `chunks` costs more than ranking them, so the best are
        filtered after ranking, and all before it only where that leaves too few. `whole`: all
        matches are returned, not the best alone.
        """
        with self.database.read() as connection:
            if whole:
                found = dict(connection.execute(_ALL, (*_WEIGHTS, expression)).fetchall())
                best = nlargest(limit * AHEAD, found.items(), key=itemgetter(1))
            else:
                best = connection.execute(_BEST, (*_WEIGHTS, expression, limit * AHEAD)).fetchall()
                found = dict(best)
            kept = _passing(connection, [rowid for rowid, _ in best], where)
            ranked = [(rowid, rank) for rowid, rank in best if rowid in kept][:limit]
            if len(ranked) < limit and len(best) == limit * AHEAD:
                condition, values = where.sql()
                statement = _BEST_WHERE.format(condition=condition)
                ranked = connection.execute(
                    statement, (*_WEIGHTS, expression, *values, limit)
                ).fetchall()
        for rowid, rank in ranked:
            scores[rowid] = scores.get(rowid, 0.0) + weight * rank
        return found

    def _exact_first(
        self, hits: Sequence[TextHit], wanted: tuple[Identifier, ...]
    ) -> list[TextHit]:
        """Return hits with those before that hold an identifier of the query to the letter.

        One adds to the score as much of the best score as it has of the words of the query.
        """
        looked_at = [hit.rowid for hit in hits[:MAX_EXACT]]
        marks = ", ".join("?" * len(looked_at))
        with self.database.read() as connection:
            rows = connection.execute(
                f"SELECT rowid, title || char(10) || text FROM chunks WHERE rowid IN ({marks})",
                looked_at,
            ).fetchall()
        exact = {rowid: exactness(wanted, text) for rowid, text in rows}
        best = hits[0].score if hits else 0.0
        held = [
            replace(hit, score=hit.score + share * best, exact=share)
            if (share := exact.get(hit.rowid, 0.0))
            else hit
            for hit in hits
        ]
        return sorted(held, key=lambda hit: (-hit.score, hit.rowid))

    def _stands(self, tokens: Sequence[str]) -> bool:
        """Tell whether any chunk holds some tokens side by side."""
        phrase = f'"{" ".join(tokens)}"'
        with self.database.read() as connection:
            statement = "SELECT 1 FROM fts WHERE fts MATCH ? LIMIT 1"
            return connection.execute(statement, (phrase,)).fetchone() is not None

    def _ready(self) -> tuple[Vocabulary, tuple[str, ...]]:
        """Return the vocabulary and the languages that the index holds, commonest first."""
        with self._lock:
            if self._vocabulary is None:
                with self.database.read() as connection:
                    self._vocabulary = Vocabulary.load(connection)
                    rows = connection.execute("SELECT lang, count(*) FROM chunks GROUP BY lang")
                    self._languages = Counter(dict(rows.fetchall()))
            least = self._languages.total() * MIN_LANGUAGE_SHARE
            common = self._languages.most_common(MAX_LANGUAGES)
            return self._vocabulary, tuple(lang for lang, n in common if lang and n >= least)

    def _chosen(self, terms: Sequence[Term], vocabulary: Vocabulary) -> list[Term]:
        """Return the terms to look for: known ones, rarest first, stop words only if need be."""
        counts = {term: chunks_with(term, vocabulary) for term in terms}
        known = sorted((term for term in terms if counts[term]), key=lambda term: counts[term])
        rare = max(1.0, RARE_STOP_SHARE * self._languages.total())
        telling = [term for term in known if not term.stop or counts[term] <= rare] or known
        always = ALWAYS if any(not term.stop for term in telling) else 1
        chosen: list[Term] = []
        postings = 0
        for term in telling[:MAX_TERMS]:
            postings += counts[term]
            if postings <= MAX_POSTINGS or len(chosen) < always:
                chosen.append(term)
        return chosen

    def _resembling(
        self, terms: Sequence[Term], vocabulary: Vocabulary, langs: Sequence[str], everything: bool
    ) -> dict[Term, list[str]]:
        """Return tokens that stand in for unknown words, and compounds of known ones.

        `everything` looks for stand-ins of all words: the known ones found nothing here.
        """
        plain = [term for term in terms if term.plain and not term.stop][:MAX_TERMS]
        found: dict[Term, list[str]] = {term: [] for term in plain}
        for first, second in pairwise(plain):
            if first.plain + second.plain in vocabulary:
                found[first].append(first.plain + second.plain)
                found[second].append(first.plain + second.plain)
        compounding = not COMPOUNDING.isdisjoint(langs)
        for term in plain:
            if everything or not chunks_with(term, vocabulary):
                found[term] += stand_ins(term, vocabulary)
            elif compounding:
                found[term] += vocabulary.containing(term.plain, MAX_RESEMBLING)
        return self._affordable(found, vocabulary, MAX_RESEMBLING_POSTINGS)

    def _kin(
        self, terms: Sequence[Term], vocabulary: Vocabulary, query: str
    ) -> dict[Term, list[str]]:
        """Return tokens of the families of words, in languages that change a word's inside."""
        plain = [
            term
            for term in terms
            if term.plain and not term.stop and chunks_with(term, vocabulary) <= KIN_BELOW
        ][:MAX_TERMS]
        found = {term: apart(term, vocabulary.kin(term.plain, MOST_KIN)) for term in plain}
        if not any(found.values()):
            return {}
        spoken = detect(query[:MAX_SAMPLE])
        if spoken and spoken not in CHANGING:
            return {}
        return self._affordable(found, vocabulary, MAX_KIN_POSTINGS)

    def _affordable(
        self, found: dict[Term, list[str]], vocabulary: Vocabulary, most_postings: int
    ) -> dict[Term, list[str]]:
        """Return the tokens that are not too common, as long as they are not too many together."""
        most = max(COMMON_LEAST, COMMON_SHARE * self._languages.total())
        left = most_postings
        kept: dict[str, bool] = {}
        for token in dict.fromkeys(token for tokens in found.values() for token in tokens):
            count = vocabulary.count(token)
            kept[token] = count <= min(most, left)
            left -= count if kept[token] else 0
        return {term: [one for one in tokens if kept[one]] for term, tokens in found.items()}


def _passing(connection: sqlite3.Connection, rowids: Sequence[int], where: Where) -> set[int]:
    """Return those of some chunks that pass a filter."""
    if where == Where():
        return set(rowids)
    condition, values = where.sql()
    passing: set[int] = set()
    for at in range(0, len(rowids), _BATCH):
        some = rowids[at : at + _BATCH]
        marks = ", ".join("?" * len(some))
        statement = f"SELECT c.rowid FROM chunks c WHERE c.rowid IN ({marks}) AND {condition}"
        passing.update(row[0] for row in connection.execute(statement, (*some, *values)))
    return passing


def columns(chunk: Chunk) -> tuple[str, str, str]:
    """Return a chunk's text for the columns `words`, `stems` and `title`."""
    words, stems = index_terms(chunk.text, chunk.lang)
    name_words, name_stems = index_terms(" ".join((chunk.title, *chunk.tags)), chunk.lang)
    extra = set(name_stems.split()).difference(name_words.split())
    return words, stems, " ".join((name_words, *sorted(extra)))


def _expression(term: Term, stop_in_title: bool) -> str:
    """Return a term as an FTS5 expression. Tokens are letters and digits alone.

    A stop word in a title (`# Why`) says nothing about it, unless nothing else is asked for.
    """
    title = " title" if stop_in_title or not term.stop else ""
    if term.stems:
        stems = " OR ".join(f'"{stem}"' for stem in term.stems)
        return f"{{stems{title}}} : ({stems})"
    return f'{{words{title}}} : "{" ".join(term.words)}"'
