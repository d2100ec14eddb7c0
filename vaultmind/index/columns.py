"""What a search must know of every chunk, in memory: columns of numbers, one place a chunk.

Built from `index.db` at opening, and again for the files that were written since. A filter is a
mask, BM25 a sum over postings, closeness in meaning a product. A chunk that changed gets a new
place; the old one is dead until everything is read again.

Tokens are numbered (`terms`). Of a chunk there are three runs of them: the words as typed, their
stems, and those of its title, tags and folders. Postings stand in segments, one for each time that
something was read; small ones are merged.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import threading
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.db import NEVER, SOME, Database
from vaultmind.index.linked import shape_of
from vaultmind.index.words import words
from vaultmind.types import KINDS, Kind

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Postings = NDArray[Any]
"""Which chunks hold a term, and how often: as typed, as a stem, in the title; see `_POSTING`."""

TITLE_WEIGHT = 3
"""What a word in a title counts for, beside one in the text."""
K1, B = 1.2, 0.75
LEAST_RARITY = 1e-6
"""Of a word that more than half of the chunks hold."""
COARSE, MOST_EXACT = 128, 800
"""Numbers of each vector that are compared first, and how many chunks are then compared by all."""
MAX_LANGUAGES, MIN_LANGUAGE_SHARE = 6, 0.005
_SMALL, _MOST_SMALL = 8_000, 12
"""Chunks below which a segment is small, and how many such there may be."""
_SPARE_DEAD, _LEVELS, _BATCH = 2_000, 127, 500
_NUMBERS = """words stems title file kind agent speaker lang day message letters cost flags embeds
    before after"""
_ROW = np.dtype([("rowid", "i8"), ("start", "i8"), *((name, "i4") for name in _NUMBERS.split())])
"""`start`, `words`, `stems`, `title`: where its tokens begin, and how many of each run follow.
`before` and `after`: the places of its neighbours in the file, -1 for none; a fact has none, since
what stands around it in a list says nothing about it."""
_READ = """SELECT c.path, c.tags, f.links, f.mtime_ns, c.rowid, c.time, c.kind, c.agent, c.speaker,
    c.lang, c.block, c.letters, c.cost, c.flags, c.embeds, c.text_hash, c.tokens
    FROM chunks c JOIN files f ON f.path = c.path {} ORDER BY c.path, c.ordinal"""
_VECTORS = f"""SELECT c.rowid, e.vector FROM chunks c JOIN embeddings e
    ON e.text_hash = c.text_hash AND e.embedder = ? AND length(e.vector) = ? WHERE c.rowid {SOME}"""
_RUNS = ("words", "stems", "titles")
_POSTING = np.dtype([("slot", "i4"), *((name, "u1") for name in _RUNS)], align=True)
_NOWHERE = np.zeros(0, dtype=_POSTING)
_FACT, _NOTE = KINDS.index("fact"), KINDS.index("note")
_NUMBERED = re.compile(r"m(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Where:
    """Which chunks may be found. Empty values do not restrict."""

    agents: tuple[str, ...] | None = None
    """Whose memory besides the notes; None for everyone's."""
    kinds: tuple[Kind, ...] = ()
    folder: str = ""
    tag: str = ""
    """Without `#`; its nested tags are meant too."""
    after: str = ""
    """ISO date, inclusive, as is `before`."""
    before: str = ""
    file: str = ""
    """The path of the only file that is searched."""
    running: str = ""
    """Path of a session that is left out, from its message `since` on if that is given."""
    since: str = ""


def message_number(block: str) -> int:
    """Return the number of a message's block id, `m7`: 7; 0 for one that has none."""
    match = _NUMBERED.fullmatch(block)
    return int(match[1]) if match else 0


class _Segment(NamedTuple):
    """Postings of some chunks: those of `terms[n]` from `starts[n]` to `starts[n + 1]`."""

    chunks: int
    terms: Ints
    starts: Ints
    postings: Postings

    def of(self, term: int) -> Postings:
        """Return the postings of a term."""
        at = int(self.terms.searchsorted(term))
        is_there = at < len(self.terms) and self.terms[at] == term
        return self.postings[self.starts[at] : self.starts[at + 1]] if is_there else _NOWHERE


class Columns:
    """Columns over one database. Whoever reads them holds `lock` from `follow` on."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.lock = threading.RLock()
        self.embedder, self._width = "", 0
        self._clear()

    def _clear(self) -> None:
        self._mark = NEVER
        self.living = self.count = 0
        """How many chunks there are, and places so far, dead ones among them."""
        self.languages: tuple[str, ...] = ()
        """Those of the index, commonest first."""
        self.rows: NDArray[Any] = np.zeros(1_024, dtype=_ROW)
        self.alive: Flags = np.zeros(1_024, dtype=np.bool_)
        self._embedded: Flags = np.zeros(0, dtype=np.bool_)
        """Which chunks have a vector, or will."""
        self.norm: Floats = np.zeros(0, dtype=np.float32)
        """What BM25 divides by, from the length of each chunk."""
        self.times: list[str] = []
        self.hashes: list[bytes] = []
        """Of each chunk's text, the key of its vector."""
        self._slot_of: dict[int, int] = {}
        self._tokens: NDArray[np.int32] = np.zeros(65_536, dtype=np.int32)
        self._token_count = self._dead = 0
        self._segments: list[_Segment] = []
        self.postings = lru_cache(maxsize=256)(self._postings)
        """Returns which chunks hold a term."""
        self.terms: list[str] = []
        """By number."""
        self.term_ids: defaultdict[str, int] = defaultdict()
        self.term_ids.default_factory = self.term_ids.__len__
        self._held: NDArray[np.int32] = np.zeros(1_024, dtype=np.int32)
        """How many chunks hold each term."""
        self.langs: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.agents: dict[str, int] = {}
        self.files: dict[str, int] = {}
        self._slots: list[list[int]] = []
        """The places of each file's chunks, in order."""
        self._tags: list[str] = []
        self.links: list[int] = []
        """How many links each file has."""
        self.names: list[str] = []
        """The words of each file's name, a space around each."""
        self.is_code: list[bool] = []
        """Whether each file is one of code."""
        self._forget_vectors()

    def _forget_vectors(self) -> None:
        room, width = len(self.rows), self._width
        self._coarse: Floats = np.zeros((room, min(COARSE, width)), dtype=np.float32)
        self._fine: NDArray[np.int8] = np.zeros((room, width), dtype=np.int8)
        self._scales: Floats = np.zeros(room, dtype=np.float32)
        self.has_vector: Flags = np.zeros(room, dtype=np.bool_)

    # --- keeping up ----------------------------------------------------------------------

    def follow(self) -> None:
        """Read what was written since the last time."""
        version, paths = self.database.journal.since(self._mark)
        if version == self._mark:
            return
        with self.database.read() as connection, self.lock:
            if version <= self._mark:
                return
            if paths is None or self._dead > max(_SPARE_DEAD, self.count // 2):
                self._clear()
                paths = None
            try:
                self._read_chunks(connection, paths)
            except sqlite3.Error:
                self._clear()
                raise
            self._publish()
            self._mark = version
        if paths is None and self.embedder:
            self.read_vectors(self.lacking())

    def _read_chunks(self, connection: sqlite3.Connection, paths: Collection[str] | None) -> None:
        """Read the chunks of some files, or of all."""
        old: set[int] = set()
        for file in map(self._file, paths or ()):
            old.update(self._slots[file])
            self._slots[file] = []
        some = () if paths is None else (json.dumps(sorted(paths)),)
        rows = connection.execute(_READ.format(f"WHERE c.path {SOME}" if some else ""), some)
        fresh: list[int] = []
        for path, group in groupby(rows, key=itemgetter(0)):
            old.difference_update(self._read_file(self._file(path), [*group], fresh))
            if len(fresh) >= _SMALL:
                self._index(fresh)
                fresh = []
        for slot in old:
            del self._slot_of[int(self.rows["rowid"][slot])]
            self.alive[slot] = False
            tokens, *_ = self._runs(np.array([slot]))
            self._held[np.unique(tokens)] -= 1
        self._dead += len(old)
        if fresh:
            self._index(fresh)
        small = [one for one in self._segments if one.chunks < _SMALL]
        if len(small) > _MOST_SMALL:
            self._segments = [one for one in self._segments if one.chunks >= _SMALL]
            merged = np.unique(np.concatenate([one.postings["slot"] for one in small]))
            self._index(merged[self.alive[merged]].tolist(), again=True)

    def _read_file(self, file: int, group: Sequence[Any], fresh: list[int]) -> list[int]:
        """Take one file's rows; return their places, and add new ones to `fresh`."""
        slots = self._slots[file]
        _, self._tags[file], self.links[file], mtime_ns, *_ = group[0]
        changed = date.fromtimestamp(mtime_ns / 1e9).isoformat()
        for _, _, _, _, rowid, time, *told in group:
            slot = self._slot_of.get(rowid, -1)
            if slot < 0:
                slot = self._new(file, rowid, *told)
                self.times.append(time)
                fresh.append(slot)
            self.rows["day"][slot] = _day_number((time or changed)[:10])
            slots.append(slot)
        at = np.array(slots, dtype=np.int64)
        is_list = self.rows["kind"][at[0]] == _FACT
        self.rows["before"][at] = -1 if is_list else np.append(-1, at[:-1])
        self.rows["after"][at] = -1 if is_list else np.append(at[1:], -1)
        return slots

    def _new(self, file: int, rowid: int, *told: Any) -> int:  # noqa: ANN401
        """Give a chunk a place: `told` is the rest of its row in _READ."""
        kind, agent, speaker, lang, block, *sizes, text_hash, tokens = told
        runs = [
            array("i", map(self.term_ids.__getitem__, run.split())) for run in tokens.split("\n")
        ]
        slot, start = self.count, self._token_count
        self.count += 1
        self._token_count += sum(map(len, runs))
        self.rows = _grown(self.rows, self.count)
        self.alive = _grown(self.alive, self.count)
        self._tokens = _grown(self._tokens, self._token_count)
        self._tokens[start : self._token_count] = np.concatenate(runs)
        names = (self.agents, agent), (self.speakers, speaker), (self.langs, lang)
        numbers = (known.setdefault(name, len(known)) for known, name in names)
        length = map(len, runs)
        self.rows[slot] = (
            *(rowid, start, *length, file, KINDS.index(kind), *numbers, 0),
            *(message_number(block), *sizes, -1, -1),
        )
        self._slot_of[rowid] = slot
        self.hashes.append(text_hash)
        self.alive[slot] = True
        return slot

    def _index(self, slots: Sequence[int], *, again: bool = False) -> None:
        """Add a segment of chunks; `again`: their terms are counted already."""
        self.terms.extend(islice(self.term_ids, len(self.terms), None))
        self._held = _grown(self._held, len(self.terms))
        at = np.array(slots, dtype=np.int64)
        tokens, run, owner = self._runs(at)
        keys, which = np.unique(tokens.astype(np.int64) << 32 | at[owner], return_inverse=True)
        postings = np.zeros(len(keys), dtype=_POSTING)
        postings["slot"] = keys & 0xFFFFFFFF
        for at_run, name in enumerate(_RUNS):
            counts = np.bincount(which[run == at_run], minlength=len(keys))
            postings[name] = np.minimum(counts, 255)
        terms, starts = np.unique(keys >> 32, return_index=True)
        starts = np.append(starts, len(keys))
        self._segments.append(_Segment(len(at), terms, starts, postings))
        if not again:
            self._held[terms] += np.diff(starts).astype(np.int32)

    def _runs(self, slots: Ints) -> tuple[NDArray[np.int32], Ints, Ints]:
        """Return the tokens of chunks one after the other, with the run and chunk of each."""
        rows = self.rows[slots]
        sizes = np.stack([rows["words"], rows["stems"], rows["title"]], axis=1).astype(np.int64)
        whole = sizes.sum(axis=1)
        owner = np.repeat(np.arange(len(slots)), whole)
        before = np.repeat(np.cumsum(whole) - whole, whole)
        at = np.arange(len(owner)) - before + np.repeat(rows["start"], whole)
        run = np.repeat(np.tile(np.arange(3), len(slots)), sizes.ravel())
        return self._tokens[at], run, owner

    def _file(self, path: str) -> int:
        number = self.files.setdefault(path, len(self.files))
        if number == len(self._slots):
            self._slots.append([])
            self._tags.append("")
            self.links.append(0)
            self.names.append(f" {' '.join(words(PurePath(path).stem))} ")
            self.is_code.append(shape_of(path) == "code")
        return number

    def _publish(self) -> None:
        self.postings.cache_clear()
        rows = self.rows[: self.count]
        lengths = (rows["words"] + rows["stems"] + rows["title"]).astype(np.float32)
        living = self.alive[: self.count]
        self._embedded = living & (rows["embeds"] > 0)
        self.living = int(living.sum())
        mean = max(1.0, float(lengths[living].mean())) if self.living else 1.0
        self.norm = np.asarray(K1 * (1.0 - B + B * lengths / mean), dtype=np.float32)
        names, counts = list(self.langs), np.bincount(rows["lang"][living])
        common = sorted(range(len(counts)), key=lambda at: -counts[at])[:MAX_LANGUAGES]
        least = max(1, self.living * MIN_LANGUAGE_SHARE)
        self.languages = tuple(names[at] for at in common if names[at] and counts[at] >= least)
        for name in ("_coarse", "_fine", "_scales", "has_vector"):
            setattr(self, name, _grown(getattr(self, name), self.count))

    # --- vectors -------------------------------------------------------------------------

    def take_vectors(self, embedder: str, width: int) -> None:
        """Read the vectors of an embedder that are there now, of chunks that have none yet."""
        with self.lock:
            if (embedder, width) != (self.embedder, self._width):
                self.embedder, self._width = embedder, width
                self._forget_vectors()
        self.read_vectors(self.lacking())

    def lacking(self) -> list[int]:
        """Return the chunks that still want a vector, by rowid; memory comes first."""
        with self.lock:
            rows = self.rows[: self.count]
            slots = np.flatnonzero(self._embedded & ~self.has_vector[: len(self._embedded)])
            slots = slots[np.argsort(rows["kind"][slots] == _NOTE, kind="stable")]
            return list(rows["rowid"][slots].tolist())

    def vector_counts(self) -> tuple[int, int]:
        """Return how many chunks have a vector, and how many have one or will."""
        with self.lock:
            has = self._embedded & self.has_vector[: len(self._embedded)]
            return int(np.count_nonzero(has)), int(np.count_nonzero(self._embedded))

    def read_vectors(self, rowids: Sequence[int]) -> None:
        """Read the cached vectors of some chunks, of those that have one."""
        for start in range(0, len(rowids), _BATCH):
            some = (self.embedder, 4 * self._width, json.dumps(rowids[start : start + _BATCH]))
            with self.database.read() as connection, self.lock:
                rows = connection.execute(_VECTORS, some).fetchall()
                raw = {rowid: vector for rowid, vector in rows if rowid in self._slot_of}
                at, numbers = self.slots_of(raw), np.frombuffer(b"".join(raw.values()), np.float32)
                vectors = numbers.reshape(len(at), self._width)
                largest = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-9))
                self._scales[at] = largest / np.float32(_LEVELS)
                self._fine[at] = np.rint(vectors / self._scales[at][:, None]).astype(np.int8)
                self._coarse[at] = vectors[:, :COARSE]
                self.has_vector[at] = True

    def vectors(self, slots: Ints) -> Floats:
        """Return a row a chunk, of zeros where there is no vector."""
        found: Floats = self._fine[slots].astype(np.float32) * self._scales[slots][:, None]
        return found

    def nearest(self, vector: Floats, mask: Flags, count: int) -> Ints:
        """Return the chunks nearest in meaning among some, nearest first."""
        above = 2.0 + self._coarse[: self.count] @ vector[:COARSE]  # no cosine is below -1
        slots = best(above * (mask & self.has_vector[: self.count]), MOST_EXACT)
        cosines = self._fine[slots].astype(np.float32) @ vector * self._scales[slots]
        order = np.argsort(-cosines, kind="stable")
        return slots[order[:count]]

    # --- words ---------------------------------------------------------------------------

    def held_by(self, term: str) -> int:
        """Return how many chunks hold a term."""
        number = self.term_ids.get(term, -1)
        return int(self._held[number]) if number >= 0 else 0

    def _postings(self, term: str) -> Postings:
        number = self.term_ids.get(term, -1)
        some = [held for one in self._segments if len(held := one.of(number))] or [_NOWHERE]
        found = np.concatenate(some) if len(some) > 1 else some[0]
        return np.compress(self.alive[found["slot"]], found) if self._dead else found

    def bm25(self, terms: Iterable[str], *, typed: bool = False) -> Floats:
        """Return what BM25 gives each chunk for some stems.

        `typed`: what holds one as typed counts, too.
        """
        total = np.zeros(self.count, dtype=np.float32)
        some = [self.postings(term) for term in terms] or [_NOWHERE]
        postings = np.concatenate(some) if len(some) > 1 else some[0]
        often = postings["stems"] + TITLE_WEIGHT * postings["titles"].astype(np.float32)
        if typed:
            often += postings["words"]
        held = often > 0
        term = np.repeat(np.arange(len(some)), [*map(len, some)])[held]
        slots, often = postings["slot"][held], often[held]
        holding = np.bincount(term, minlength=len(some)).tolist()
        odds = [(max(self.living - many, 0) + 0.5) / (many + 0.5) for many in holding]
        rarity = np.array([max(LEAST_RARITY, math.log(one)) for one in odds], np.float32)[term]
        np.add.at(total, slots, rarity * often * (K1 + 1.0) / (often + self.norm[slots]))
        return total

    # --- filters -------------------------------------------------------------------------

    def mask(self, where: Where) -> Flags:
        """Return which chunks pass a filter."""
        rows = self.rows[: self.count]
        found: Flags = self.alive[: self.count].copy()
        if where.agents is not None:
            known = [self.agents.get(one, -1) for one in ("", *where.agents)]
            found &= np.isin(rows["agent"], known)
        if where.kinds:
            found &= np.isin(rows["kind"], [KINDS.index(one) for one in where.kinds])
        if where.folder:
            inside = [path.startswith(f"{where.folder}/") for path in self.files]
            found &= np.array(inside, dtype=np.bool_)[rows["file"]]
        if where.file:
            found &= rows["file"] == self.files.get(where.file, -1)
        if tag := where.tag.casefold():
            has = [f" {tag} " in tags or f" {tag}/" in tags for tags in self._tags]
            found &= np.array(has, dtype=np.bool_)[rows["file"]]
        if where.after:
            found &= rows["day"] >= _day_number(where.after)
        if where.before:
            found &= rows["day"] <= _day_number(where.before)
        if where.running:
            of_it = rows["file"] == self.files.get(where.running, -1)
            number = message_number(where.since)
            older = (rows["message"] > 0) & (rows["message"] < number)
            found &= ~of_it | older
        return found

    def latest(self, where: Where, count: int) -> Ints:
        """Return the latest chunks with a time of their own that pass a filter."""
        slots, time_of = np.flatnonzero(self.mask(where)).tolist(), self.times.__getitem__
        timed = sorted(filter(time_of, slots), key=time_of, reverse=True)
        return np.array(timed[:count], dtype=np.int64)

    def beside(self, side: Literal["before", "after"], slots: Ints) -> Ints:
        """Return the place before or after each in its file, -1 where there is none."""
        return np.where(slots < 0, -1, self.rows[side][slots]).astype(np.int64)

    def slots_of(self, rowids: Iterable[int]) -> Ints:
        """Return the places of those chunks that there are, by rowid."""
        found = (self._slot_of.get(rowid, -1) for rowid in rowids)
        return np.array([slot for slot in found if slot >= 0], dtype=np.int64)


def best(scores: Floats, count: int) -> Ints:
    """Return the places of the best positive scores, best first; of equals the first."""
    slots = np.flatnonzero(scores > 0)
    if 0 < count < len(slots):
        positive = scores[slots]
        slots = slots[positive >= np.partition(positive, -count)[-count]]
    return slots[np.argsort(-scores[slots], kind="stable")[:count]]


def _grown(held: NDArray[Any], least: int) -> NDArray[Any]:
    """Return an array of at least so many places."""
    if least <= len(held):
        return held
    new = np.zeros((max(least, len(held) + len(held) // 8), *held.shape[1:]), dtype=held.dtype)
    new[: len(held)] = held
    return new


def _day_number(day: str) -> int:
    return int("".join(filter(str.isdecimal, day)) or 0)
