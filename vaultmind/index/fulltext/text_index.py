"""Full text: BM25 over words, stems and titles. No query fails, and none must match whole."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vaultmind.heavy import importing
from vaultmind.index.fulltext.alike import CHANGING, Alike
from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.fulltext.phrase import Phrase
from vaultmind.index.fulltext.rarity import chunks_with, telling_terms, worth
from vaultmind.index.fulltext.vocabulary import Vocabulary
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.found import passing
from vaultmind.index.storage.where import Where
from vaultmind.index.words.identifiers import Identifier, exactness, identifiers, spaced
from vaultmind.index.words.terms import Term, index_terms, query_terms, shortened
from vaultmind.types import Chunk

if TYPE_CHECKING:  # numpy loads when a search comes
    from vaultmind.index.fulltext.bm25 import Bm25, Held

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
RARE_STOP_SHARE = 0.02
"""A stop word in less than this share of the chunks is a word like any other here."""
MAX_EXACT = 60
"""Best chunks that are looked through for identifiers to the letter."""
MAX_LANGUAGES = 6
MIN_LANGUAGE_SHARE = 0.005
KIN_WEIGHT = 0.3
"""Of what is of the same family as a word of the query."""
ROOTED_AT_ONCE = 20_000
"""New tokens whose roots are found before a start is over (0.2 s); of more, while searches go on
without those that are not there yet."""

_HELD = """SELECT t.c0 || ' ' || t.c1 || ' ' || t.c2, c.lang FROM fts_content t
    LEFT JOIN chunks c ON c.rowid = t.id WHERE t.id = ?"""
_WEIGHTS = (WORDS_WEIGHT, STEMS_WEIGHT, TITLE_WEIGHT)


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
        self._bm25: Bm25 | None = None

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
            if self._bm25 is not None:
                self._bm25.forget()

    def tidy(self) -> None:
        """Merge what many small writes left behind: searches take 40 % less time after it."""
        with self.database.write() as connection:
            connection.execute("INSERT INTO fts (fts) VALUES ('optimize')")

    def warm(self) -> None:
        """Load the vocabulary now, so that the first search need not."""
        vocabulary, langs = self._ready()
        self._scores().warm()
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
        phrases = [_phrases(term, in_titles, vocabulary) for term in known]
        plain, best = self._best(phrases, where, limit, common=self._are_common(known, vocabulary))
        scores = dict(best)
        about = Alike(vocabulary, langs, self._languages.total())
        alike = about.resembling(terms, everything=not scores)
        kin = about.kin(terms, query)
        for found, weight in ((alike, RESEMBLING_WEIGHT), (kin, KIN_WEIGHT)):
            tokens = dict.fromkeys(token for some in found.values() for token in some)
            if tokens:
                expression = " OR ".join(f'"{token}"' for token in tokens)
                for rowid, score in self._best([[Phrase(expression)]], where, limit)[1]:
                    scores[rowid] = scores.get(rowid, 0.0) + weight * score
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
                (*alike.get(term, ()), *kin.get(term, ())),
            )
            for term in telling
        )
        return TextAnswer(hits, tuple(wanted), plain)

    def _are_common(self, terms: Sequence[Term], vocabulary: Vocabulary) -> bool:
        """Tell whether so many chunks hold one of the terms that ranking all takes too long.

        Enough of them hold all the terms, as a rule, and no other ranks before those.
        """
        return sum(chunks_with(term, vocabulary) for term in terms) > MAX_POSTINGS

    def _best(
        self, terms: Sequence[Sequence[Phrase]], where: Where, limit: int, *, common: bool = False
    ) -> tuple[Mapping[int, float], list[tuple[int, float]]]:
        """Return the scores of what holds any phrase of the terms, and the best that pass a filter.

        Of `common` terms what holds them all comes first, where that is enough, and only the best
        are told. Looking up every match in `chunks` costs more than ranking them, so the best are
        filtered after ranking, and all only where that leaves too few.
        """
        from vaultmind.index.fulltext.bm25 import added, best_of, in_all

        held = self._scores().of([phrase for phrases in terms for phrase in phrases])
        parts = [added(held[phrase] for phrase in phrases) for phrases in terms]
        best: list[tuple[int, float]] = []
        if len(parts) > 1 and common:
            found = in_all(parts)
            best = self._passing_best(found, where, limit)
        if len(best) < limit:
            found = added(parts)
            best = self._passing_best(found, where, limit)
        told = best_of(found, limit * AHEAD) if common else zip(*found.as_lists(), strict=True)
        return dict(told), best

    def _passing_best(self, held: Held, where: Where, limit: int) -> list[tuple[int, float]]:
        """Return the best chunks that pass a filter, best first."""
        from vaultmind.index.fulltext.bm25 import best_of

        best = best_of(held, limit * AHEAD)
        with self.database.read() as connection:
            kept = passing(connection, [rowid for rowid, _ in best], where)
            if len(kept) < limit and len(best) < len(held.rowids):
                best = best_of(held, len(held.rowids))
                kept = passing(connection, [rowid for rowid, _ in best], where)
        return [one for one in best if one[0] in kept][:limit]

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
        vocabulary = self._vocabulary
        if vocabulary is None:
            vocabulary = self._loaded()
        with self._lock:
            least = self._languages.total() * MIN_LANGUAGE_SHARE
            common = self._languages.most_common(MAX_LANGUAGES)
            return vocabulary, tuple(lang for lang, n in common if lang and n >= least)

    def _loaded(self) -> Vocabulary:
        """Read the vocabulary between two writes: the chunks of one that is under way would be
        neither in it nor counted to it.
        """
        with self.database.between_writes(), self._lock:
            if self._vocabulary is None:
                with self.database.read() as connection:
                    self._vocabulary = Vocabulary.load(connection)
                    rows = connection.execute("SELECT lang, count(*) FROM chunks GROUP BY lang")
                    self._languages = Counter(dict(rows.fetchall()))
            return self._vocabulary

    def _scores(self) -> Bm25:
        if self._bm25 is None:
            with importing():
                from vaultmind.index.fulltext.bm25 import Bm25

            with self._lock:
                self._bm25 = self._bm25 or Bm25(self.database, _WEIGHTS)
        return self._bm25

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


def columns(chunk: Chunk) -> tuple[str, str, str]:
    """Return a chunk's text for the columns `words`, `stems` and `title`."""
    words, stems = index_terms(chunk.text, chunk.lang)
    folders = chunk.path.rpartition("/")[0].replace("/", " ") if chunk.kind == "note" else ""
    name_words, name_stems = index_terms(" ".join((chunk.title, *chunk.tags, folders)), chunk.lang)
    extra = set(name_stems.split()).difference(name_words.split())
    return words, stems, " ".join((name_words, *sorted(extra)))


def _phrases(term: Term, stop_in_title: bool, vocabulary: Vocabulary) -> list[Phrase]:
    """Return what a term is looked for as: by its stems, or as typed.

    Tokens are letters and digits. A stop word in a title (`# Why`) says nothing about it, unless
    nothing else is asked for.
    """
    in_title = stop_in_title or not term.stop
    title = " title" if in_title else ""
    if not term.stems:
        return [Phrase(f'{{words{title}}} : "{" ".join(term.words)}"')]
    return [
        Phrase(f'{{stems{title}}} : "{stem}"', stem if _is_whole(stem) else "", in_title)
        for stem in term.stems
        if stem in vocabulary or not _is_whole(stem)
    ]


def _is_whole(token: str) -> bool:
    """Tell whether full text holds a token as it is: it cuts at what is no letter or digit."""
    return token.isalnum() and token == token.lower()
