"""Every chunk's vector: made in the background, cached by its text, kept in Chroma.

The database is the truth: a chunk is WAITING until Chroma has its vector, what Chroma must delete
stands in `vector_deletes`, and every step can be done twice. `embeddings` caches vectors by text:
a lost Chroma folder costs no embedding. Another embedder than before begins anew: until its vectors
are there, words find.
"""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.errors import VaultMindError
from vaultmind.index.chroma import BATCH, ChromaStore, blank_freed_memory, collection_of
from vaultmind.index.db import EMBEDDED, WAITING, Database
from vaultmind.index.embed import EmbedderAway, embedded_text, learn_scale
from vaultmind.ports import Embedder
from vaultmind.types import Kind

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

RETRY_SECONDS = (0.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""Pauses after the first failure in a row, the second, and so on."""
BLOAT_FLOOR, BLOAT_SHARE = 1000, 0.5
"""The store is made anew when more was deleted than the floor and than this share of what it holds:
Chroma never uses a place again."""
NO_SPACE = "No space is left on the disk of the state folder: free some."
_IN_USE, _DELETED = "embedder", "vectors_deleted"
"""Keys of the database: id of the embedder that made the vectors, and how many were deleted."""
_IDLE_SECONDS = 60.0
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""
_WORDS_ONLY = "Search goes by words only; it is tried again."
_FULL = re.compile(r"disk is full|no space left|not enough space|quota exceeded", re.IGNORECASE)
_FULL_BELOW = 100_000
"""Bytes free: with less a store fails in other words too, since it cannot begin a file."""
_ORPHANS = 20_000
"""Cached vectors that nothing needs are kept up to so many: a text often comes back."""
_FEW = 200
"""Messages that are asked for by name; of more than that the whole session is looked through."""
_DELETES = 500
_ORDER: tuple[Kind, ...] = ("fact", "summary", "episode", "message", "note")
"""Memory gets its vectors first."""

log = logging.getLogger(__name__)


class EmbedderFailed(VaultMindError):
    """The embedder cannot be used; search does without vectors."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk that waits for its vector."""

    id: str
    kind: str
    agent: str
    text_hash: bytes
    title: str
    text: str


class Vectors:
    """Implements ports.Nearest. `open_embedder` and the store do their loading in a thread."""

    def __init__(
        self,
        database: Database,
        store: ChromaStore,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        self._database = database
        self._store = store
        self._open_embedder = open_embedder
        self._on_step = on_step
        self.owns_embedder = True
        """Whether closing it closes the embedder too."""
        self._opened: Embedder | None = None
        self._serving: Embedder | None = None
        """The embedder whose vectors are searched."""
        self._away = ""
        """Why the embedder does not answer; empty while it does."""
        self._ready = self._lost = self._renewing = self._stopping = False
        self._blanking = False
        """Whether freed memory is written over, until the fresh vectors are in their files."""
        self._loading = True
        self._failures, self._retry_at = 0, 0.0
        self._gate = threading.Lock()
        self._wanted, self._done = 0, -1
        self._wake, self._released, self._renewed = (threading.Event() for _ in range(3))
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self.note = "Vectors are still being loaded: search by words only."
        """What a person should know about the vectors; empty when all is well."""
        self.ended = False
        """Whether there will be no vectors (any more) in this process."""

    # --- asking --------------------------------------------------------------------------

    @property
    def embedder(self) -> Embedder | None:
        """Return the one in use, once it is loaded and while it answers."""
        return None if self._away else self._serving

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder whose vectors are searched; empty when there is none."""
        return self._serving.id if self._serving else ""

    @property
    def answering(self) -> str:
        """Return the same, empty too while it is away or its vectors cannot be searched."""
        return self._serving.id if self._serving and self._ready and not self._away else ""

    @property
    def settled(self) -> bool:
        """Return whether all that was known at the last wake has its vector, or never will."""
        return self.ended or self._done == self._wanted

    @property
    def loading(self) -> bool:
        """Tell whether an embedder is still to come."""
        return not (self.ended or self._serving or self._away)

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to, to be embedded; empty when they stay here."""
        return str(getattr(self._opened, "sends_to", ""))

    def query_vector(self, query: str) -> Matrix | None:
        """Return a question's vector; None while there is none."""
        embedder = self.embedder
        if embedder is None or not self._ready:
            return None
        try:
            return embedder.embed_query(query)
        except EmbedderAway as error:
            log.warning("a question could not be embedded: %s", error)
            self._rest_embedder(error)
        except Exception:  # a model raises what it likes; words still find
            log.exception("a question could not be embedded")
        return None

    def nearest(
        self, query: str, collections: Sequence[str], limit: int
    ) -> list[tuple[str, float]] | None:
        """Return (chunk id, cosine distance), nearest first; None while that cannot be told."""
        vector = self.query_vector(query)
        if vector is None or (self._serving and self._serving.dim not in (0, len(vector))):
            return None
        try:
            found = [hit for name in collections for hit in self._store.query(name, vector, limit)]
        except Exception:  # Chroma's native part raises what it likes; words still find
            if self._ready:
                log.exception("vectors could not be searched")
                self.distrust()
            return None
        return sorted(found, key=lambda hit: (hit[1], hit[0]))[:limit]

    # --- life ----------------------------------------------------------------------------

    def start(self) -> None:
        """Make the thread ready; it loads when it is released."""
        self._thread.start()

    def release(self) -> None:
        """Begin to load and to embed: the texts, which go first, are searchable or soon will be.

        A model that loads beside them would take half of the interpreter's time.
        """
        self._released.set()
        self.wake()

    def wake(self) -> None:
        """Say that there are new chunks, or chunks less."""
        self._wanted += 1
        self._wake.set()

    def distrust(self) -> None:
        """Make the thread throw the store away and fill a fresh one from the cache."""
        self._lost = True
        self.wake()

    def renew(self, seconds: float) -> str:
        """Throw the store's files away and fill new ones from the cache, in the background.

        Returns once the old ones are gone, or why they are not, in words.
        """
        if not self.ended and self._thread.ident is not None:
            self._renewed.clear()
            self._renewing = True
            self.wake()
            deadline = time.monotonic() + seconds
            while not self.ended and not self._renewed.wait(0.05):
                if time.monotonic() > deadline:
                    return "the old vectors are still there: they go when the store is loaded"
            if not self.ended:
                return ""
        self._store.destroy()
        return ""

    def close(self) -> None:
        """Stop after the current batch and close the store.

        A thread that only loads, and has written nothing, is left behind: it ends by itself.
        """
        with self._gate:
            self._stopping, loading = True, self._loading
        self._wake.set()
        self._released.set()
        if self.owns_embedder and (close := getattr(self._opened, "close", None)):
            close()
        if loading:
            self._store.abandon()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE_SECONDS if loading else None)
        self._ready = False
        self._store.close()

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._released.wait()
            while not self._stopping and not self.ended:
                self._wake.clear()
                pause = self._round()
                self._on_step()
                self._wake.wait(pause)
        except Exception as error:  # the thread's last word; search goes on with words
            log.exception("vectors are given up")
            self._give_up(f"Vectors are not available ({error}): search by words only.")

    def _round(self) -> float:
        """Do all there is to do; return how long to rest. What fails is done again later."""
        wanted = self._wanted
        if self._renewing:
            self._retry_at = 0.0
        pause = self._retry_at - time.monotonic()
        if pause > 0:
            self._done = wanted
            return pause
        try:
            self._work()
        except EmbedderFailed:
            raise
        except Exception as error:  # Chroma's native part raises what it likes
            if not self._stopping:
                self._note_failure(error)
            pause = max(0.0, self._retry_at - time.monotonic())
        else:
            pause = _IDLE_SECONDS
            if not self.ended:
                self._failures, self.note = 0, ""
        if pause:
            self._done = wanted
        return pause

    def _note_failure(self, error: Exception) -> None:
        folder = self._database.path.parent
        if isinstance(error, EmbedderAway):
            self._rest_embedder(error)
        elif isinstance(error, sqlite3.Error):
            log.error("the index database failed the vectors", exc_info=error)
            rest = "New vectors wait." if self.answering else _WORDS_ONLY
            self._rest(f"{why(error, folder, 'The index database failed')} {rest}")
        else:
            log.error("the vector store failed", exc_info=error)
            self._ready, self._lost = False, True
            self._rest(f"{why(error, folder, 'The vector store failed')} {_WORDS_ONLY}")

    def _rest_embedder(self, error: EmbedderAway) -> None:
        """Note that the embedder does not answer; the thread asks it again."""
        self._away = str(error)
        self._rest(f"{error} Search goes by words only; it is asked again.")
        self._wake.set()

    def _rest(self, note: str) -> None:
        self.note = note
        pause = RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS) - 1)]
        self._failures += 1
        self._retry_at = time.monotonic() + pause

    def _work(self) -> None:
        if self._renewing and self._serving is None:
            self._store.destroy()
            self._begin_anew()
        if self._serving is None:
            self._load()
        elif self._away:
            self._serving.embed(["warm"])
            self._away = ""
        if self._lost or self._renewing:
            self._ready = False
            self._lost = False
            self._begin_anew(self._store.reset)
        self._ready = self._serving is not None
        while not self._stopping and not self.ended and self._step():
            self._on_step()
        if self._blanking:
            blank_freed_memory(False)
            self._blanking = False
        if self.answering:
            self._prune()

    def _step(self) -> bool:
        """Do one piece of work; return whether there was any."""
        if self._renewing or self._lost:
            self._begin_anew(self._store.reset)
            return True
        return self._delete_some() or self._embed_some()

    def _give_up(self, note: str) -> None:
        self._ready, self.ended, self.note = False, True, note
        self._on_step()

    def _load(self) -> None:
        """Load the embedder while the store is probed, which is another process's work."""
        if self._opened is None:
            self._opened = self._open_embedder()
        embedder = self._opened
        if embedder is None:
            self._give_up("No embedder is set (index.embedder = none): search by words only.")
            return
        self._store.begin()
        try:
            embedder.embed(["warm"])
            with self._gate:
                self._loading = False
                if self._stopping:
                    return
            learn_scale(self._database, embedder)
        except (EmbedderAway, sqlite3.Error):
            raise
        except Exception as error:  # a model raises what it likes
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {error}") from error
        self._store.open()
        previous = self._database.get(_IN_USE)
        if previous != embedder.id and (previous or self._store.collections()):
            log.info("the vectors of %s make room for those of %s", previous, embedder.id)
            self._begin_anew(self._store.reset)
        self._database.set(_IN_USE, embedder.id)
        self._compare()
        self._serving, self._away = embedder, ""

    def _begin_anew(self, empty: Callable[[], None] = lambda: None) -> None:
        """Empty the store: all chunks wait again, and their vectors come out of the cache."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE chunks SET embedded = ? WHERE embedded = ?", (WAITING, EMBEDDED)
            )
            connection.execute("DELETE FROM vector_deletes")
        if self._renewing:
            self._blanking = True
            blank_freed_memory(True)
        empty()
        self._database.set(_DELETED, "0")
        self._lost = self._renewing = False
        self._renewed.set()

    def _compare(self) -> None:
        """Make database and store agree on which chunks have vectors, after whatever happened."""
        expected: dict[str, set[str]] = defaultdict(set)
        with self._database.read() as connection:
            for name, kind, agent in connection.execute(
                "SELECT id, kind, agent FROM chunks WHERE embedded = ?", (EMBEDDED,)
            ):
                expected[collection_of(kind, agent)].add(name)
        for collection in {*expected, *self._store.collections()}:
            held = self._store.ids(collection)
            missing = [(name,) for name in expected[collection] - held]
            surplus = [(name, collection) for name in held - expected[collection]]
            with self._database.write() as connection:
                connection.executemany("UPDATE chunks SET embedded = 0 WHERE id = ?", missing)
                connection.executemany(
                    "INSERT OR IGNORE INTO vector_deletes (id, collection) VALUES (?, ?)", surplus
                )

    def _delete_some(self) -> bool:
        """Take some vectors out that belong to no chunk; tell if there were any."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, collection FROM vector_deletes LIMIT ?", (_DELETES,)
            ).fetchall()
        if not rows:
            return False
        groups: dict[str, list[str]] = defaultdict(list)
        for name, collection in rows:
            groups[collection].append(name)
        for collection, names in groups.items():
            self._store.delete(collection, names)
        with self._database.write() as connection:
            connection.executemany(
                "DELETE FROM vector_deletes WHERE id = ? AND collection = ?", rows
            )
        deleted = int(self._database.get(_DELETED) or 0) + len(rows)
        self._database.set(_DELETED, str(deleted))
        held = sum(self._store.count(name) for name in self._store.collections())
        if deleted > max(BLOAT_FLOOR, BLOAT_SHARE * held):
            log.info("the vectors are made anew: too much was deleted")
            self._lost = True
        return True

    def _embed_some(self) -> bool:
        """Give some chunks that wait their vector; tell whether there were any."""
        embedder, pieces = self.embedder, self._waiting()
        if embedder is None or not pieces:
            return False
        vectors = self._made(embedder, pieces)
        groups: dict[str, list[int]] = defaultdict(list)
        for place, piece in enumerate(pieces):
            groups[collection_of(piece.kind, piece.agent)].append(place)
        for collection, places in groups.items():
            self._store.upsert(collection, [pieces[place].id for place in places], vectors[places])
        done = [(EMBEDDED, piece.id, piece.text_hash) for piece in pieces]
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE chunks SET embedded = ? WHERE id = ? AND text_hash = ?", done
            )
        self._failures = 0
        return True

    def _waiting(self) -> list[Piece]:
        """Return some of the chunks that wait for a vector."""
        with self._database.read() as connection:
            for kind in _ORDER:
                rows = connection.execute(
                    "SELECT id, kind, agent, text_hash, title, text FROM chunks"
                    " WHERE embedded = 0 AND kind = ? LIMIT ?",
                    (kind, BATCH),
                ).fetchall()
                if rows:
                    return [Piece(*row) for row in rows]
        return []

    def _made(self, embedder: Embedder, pieces: Sequence[Piece]) -> Matrix:
        """Return a row a piece, from the cache or made and put there."""
        import numpy as np

        hashes = [piece.text_hash for piece in pieces]
        with self._database.read() as connection:
            known: dict[bytes, bytes] = dict(
                connection.execute(
                    "SELECT text_hash, vector FROM embeddings"
                    f" WHERE embedder = ? AND text_hash IN ({_marks(hashes)})",
                    (embedder.id, *hashes),
                ).fetchall()
            )
        lacking = {p.text_hash: p for p in pieces if p.text_hash not in known}
        try:
            texts = [embedded_text(p.title, p.text) for p in lacking.values()]
            made: Sequence[Matrix] | Matrix = embedder.embed(texts) if texts else ()
        except EmbedderAway:
            raise
        except Exception as error:  # a model raises what it likes
            raise EmbedderFailed(f"the embedder {embedder.id} failed: {error}") from error
        fresh = {h: row.astype("<f4").tobytes() for h, row in zip(lacking, made, strict=True)}
        with self._database.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)",
                [(text_hash, embedder.id, raw) for text_hash, raw in fresh.items()],
            )
        known |= fresh
        rows = [np.frombuffer(known[text_hash], dtype="<f4") for text_hash in hashes]
        return np.asarray(np.stack(rows), dtype=np.float32)

    def _prune(self) -> None:
        """Forget cached vectors that nothing needs, once there are many of them."""
        with self._database.read() as connection:
            (held,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
            (chunks,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        if held - chunks > max(_ORPHANS, chunks):
            with self._database.write() as connection:
                connection.execute(
                    "DELETE FROM embeddings WHERE embedder != ?"
                    " OR text_hash NOT IN (SELECT text_hash FROM chunks)",
                    (self.embedder_id,),
                )


class MessageVectors:
    """The vectors of a session's messages, read from the cache. Implements ports.MessageVectors.

    What the index has embedded is used again, and what it has not is left out. Any thread.
    """

    def __init__(self, database: Database, vectors: Vectors, wait: Callable[[float], bool]) -> None:
        """Take as `wait` what waits for all vectors, at most so many seconds."""
        self._database = database
        self._vectors = vectors
        self._wait = wait

    @property
    def embedder_id(self) -> str:
        """Return the id of the embedder in use; empty while there is none."""
        return self._vectors.embedder_id

    @property
    def embedder(self) -> Embedder | None:
        """Return what embeds a question, once it is loaded: it keeps the vector of the last."""
        return self._vectors.embedder

    @property
    def vector_state(self) -> object:
        """Return what differs when there may be vectors that were not there before."""
        return self._database.version, self._vectors.embedder_id

    def wait_for_vectors(self, timeout_seconds: float) -> bool:
        """Return once all that is known now has its vector or never will; False on a timeout."""
        return self._wait(timeout_seconds)

    def message_vectors(self, path: str, wanted: Collection[str]) -> dict[str, Matrix]:
        """Return the vectors of messages of a session's file, by block id (or own id without)."""
        pieces: dict[str, list[bytes]] = defaultdict(list)
        if not wanted or not self.embedder_id:
            return {}
        statement = (
            "SELECT c.block, c.message, e.vector FROM chunks c JOIN embeddings e"
            " ON e.text_hash = c.text_hash AND e.embedder = ? WHERE c.path = ? AND c.embedded = ?"
        )
        values: tuple[str | int, ...] = (self.embedder_id, path, EMBEDDED)
        if len(wanted) <= _FEW:
            names = _marks(wanted)
            statement += f" AND (c.block IN ({names}) OR (c.block = '' AND c.message IN ({names})))"
            values = (*values, *wanted, *wanted)
        with self._database.read() as connection:
            for block, own, raw in connection.execute(statement, values):
                if (name := block or own) in wanted:
                    pieces[name].append(raw)
        return {name: _mean(raws) for name, raws in pieces.items()}


def why(error: Exception, folder: Path, what: str) -> str:
    """Return as a sentence why something failed, and what to do about it if that is known."""
    said = " ".join(f"{error}".split()).rstrip(".") or type(error).__name__
    try:
        is_full = shutil.disk_usage(folder).free < _FULL_BELOW
    except OSError:
        is_full = False
    return NO_SPACE if is_full or _FULL.search(said) else f"{what} ({said})."


def _mean(raws: list[bytes]) -> Matrix:
    """Return the direction that some vectors have together."""
    import numpy as np

    rows = [np.frombuffer(raw, dtype="<f4") for raw in raws]
    if len(rows) == 1:
        return np.asarray(rows[0], dtype=np.float32)
    total = np.sum(rows, axis=0, dtype=np.float32)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9), dtype=np.float32)


def _marks(items: Collection[object]) -> str:
    """Return the question marks of an SQL list."""
    return ",".join("?" * len(items))
