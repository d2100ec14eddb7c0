"""The vectors of the chunks: made in the background, kept in the database, in memory and in Chroma.

The cache in the database is the truth; the columns, which are searched, and Chroma are filled from
it, and a Chroma that fails is filled anew. What was embedded before is never embedded again. Until
a new embedder's vectors are there, words find.

Chroma is a folder that one process opens, or a server (`index.chroma_url`). A folder that was not
closed in good order is filled anew.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.heavy import importing
from vaultmind.index.columns import Columns, Floats
from vaultmind.index.db import SOME
from vaultmind.index.embed import EmbedderAway, embedded_text, learn_scale
from vaultmind.ports import Embedder

BATCH = 50
"""Vectors a write: Chroma holds the interpreter's lock for its whole length."""
TOKEN_VARIABLE = "VAULTMIND_CHROMA_TOKEN"
"""Environment variable that holds the token of a Chroma server."""
_PAGE = 5000
_M_PERTURB = -6
_IN_USE = "in-use"
"""A file that stands in Chroma's folder while it is open: after a crash the folder is not
trusted, since a damaged one may end the process that opens it."""


class StoreBroken(VaultMindError):
    """The vector store cannot be used; a fresh one can be filled from the cache."""


class ChromaStore:
    """One collection, of one embedder, in a folder of its own below `root`, or at a URL.

    `root/<when it was begun>/` is Chroma's folder: a fresh store gets another, since Chroma keeps
    a folder that failed in mind. On a server a vault's collection begins with a name of its own.
    """

    def __init__(self, root: Path, *, url: str = "") -> None:
        self._root, self._url = root, url
        self._client: Any = None
        self.collection: Any = None
        """None while it is closed."""
        digest = hashlib.sha256(str(root).encode()).hexdigest()[:12]
        self._prefix = f"vaultmind-{digest}-" if url else ""

    def open(self, embedder: str) -> None:
        """Open what holds an embedder's vectors; an empty store where it is damaged or missing.

        Raises what Chroma raises.
        """
        self.close()
        for folder in self._root.glob("*"):
            try:
                return self._connect(folder, embedder)
            except Exception as error:  # Chroma's native part raises what it likes
                log.warning("vectors in %s cannot be used: %s", folder, error)
                self.close()
                shutil.rmtree(folder, ignore_errors=True)
        self._connect(self._root / str(time.time_ns()), embedder)

    def destroy(self) -> None:
        """Remove all that is kept; there is no store until it is opened again."""
        if self._url:
            self._client = self._client or self._new_client("")
            self._drop_others("")
        self.close()
        shutil.rmtree(self._root, ignore_errors=True)

    def close(self) -> None:
        """Let go of Chroma's files."""
        if self._client is not None:
            with suppress(Exception):  # a broken client may fail to close as well
                self._client.close()
                for one in self._root.glob(f"*/{_IN_USE}"):
                    one.unlink()
        self._client = self.collection = None

    def add(self, names: Sequence[str], vectors: Floats) -> None:
        """Store a row a name, replacing what was there."""
        self.collection.upsert(ids=list(names), embeddings=vectors)

    def remove(self, names: Sequence[str]) -> None:
        """Remove what is stored under some names."""
        for at in range(0, len(names), _PAGE):
            self.collection.delete(ids=list(names[at : at + _PAGE]))

    def names(self) -> set[str]:
        """Return the names of all that is stored."""
        found = set[str]()
        while page := self.collection.get(include=[], limit=_PAGE, offset=len(found))["ids"]:
            found.update(page)
        return found

    def _connect(self, folder: Path, embedder: str) -> None:
        if not self._url:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _IN_USE).touch(exist_ok=False)  # it is there where a process was killed
        self._client = self._new_client(str(folder))
        name = f"{self._prefix}{embedder}"
        self._drop_others(name)
        self.collection = self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def _new_client(self, folder: str) -> Any:  # noqa: ANN401
        with importing():
            import chromadb
            from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if not self._url:
            return chromadb.PersistentClient(folder, settings=settings)
        token = os.environ.get(TOKEN_VARIABLE, "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return chromadb.HttpClient(host=self._url, headers=headers, settings=settings)

    def _drop_others(self, kept: str) -> None:
        for one in self._client.list_collections():
            if one.name.startswith(self._prefix) and one.name != kept:
                self._client.delete_collection(one.name)


def blank_freed_memory(is_on: bool) -> None:
    """Have the C library write over memory that is freed, or leave it alone again (glibc only).

    Chroma writes whole blocks of memory of which it has filled a part: vectors that were just
    erased would stand in the fresh file.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(_M_PERTURB, 0xFF if is_on else 0)


PAUSES = (0.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds after the first failure in a row, the second, and so on."""
ORPHANS = 20_000
"""Cached vectors that nothing needs are kept up to so many: a text often comes back."""
DROP_ORPHANS = "DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)"
_IDLE_SECONDS = 60.0
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""
_SPARE = "SELECT (SELECT count(*) FROM embeddings) - (SELECT count(*) FROM chunks)"
_KEYS = "SELECT text_hash FROM embeddings WHERE embedder = ? AND length(vector) = ?"
_SOME_VECTORS = """SELECT text_hash, vector FROM embeddings
    WHERE embedder = ? AND text_hash IN ({})"""
log = logging.getLogger(__name__)


class Vectors:
    """Embeds in a thread of its own. Implements ports.Nearest."""

    def __init__(
        self,
        columns: Columns,
        store: ChromaStore,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        self._columns, self._database, self._store = columns, columns.database, store
        self._open_embedder, self._on_step = open_embedder, on_step
        self.owns_embedder = True
        """Whether closing it closes the embedder too."""
        self._opened: Embedder | None = None
        self.embedder: Embedder | None = None
        """The one whose vectors are searched, while it answers."""
        self._storing = threading.Lock()
        self._stored: set[bytes] | None = None
        """What Chroma holds; None: it is to be opened and compared with the cache."""
        self._stopping = False
        self._failures = 0
        self._wanted, self._done = 0, -1
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)
        self.note = "Vectors are still being loaded: search by words only."
        """What a person should know about the vectors; empty when all is well."""
        self.ended = False
        """Whether there are no vectors: no embedder is set."""

    # --- asking --------------------------------------------------------------------------

    @property
    def embedder_id(self) -> str:
        """Return its id; empty when there is none."""
        return self.embedder.id if self.embedder else ""

    @property
    def settled(self) -> bool:
        """Return whether all that was known at the last wake has its vector, as far as can be."""
        return self.ended or self._done == self._wanted

    @property
    def loading(self) -> bool:
        """Tell whether an embedder is still to come."""
        return not self.embedder and self._done < 0

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to, to be embedded; empty when they stay here."""
        return str(getattr(self._opened, "sends_to", ""))

    def query_vector(self, query: str) -> Floats | None:
        """Return a question's vector, shape (dim,); None while vectors cannot be searched."""
        embedder = self.embedder
        try:
            return _vector_by(embedder.embed_query, query) if embedder else None
        except Exception as error:  # words still find
            self._note_failure(error)
            self.wake()
            return None

    # --- life ----------------------------------------------------------------------------

    def release(self) -> None:
        """Begin to load and to embed: the texts, which go first, are searchable or soon will be.

        A model that loads beside them would take half of the interpreter's time.
        """
        if self._thread.ident is None:
            self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Say that there are new chunks, or chunks less."""
        self._wanted += 1
        self._wake.set()

    def renew(self) -> None:
        """Throw Chroma's files away; new ones are filled from the cache in the background."""
        with self._storing:
            self._store.destroy()
            self._stored = None
        self.wake()

    def close(self) -> None:
        """Stop after the current batch and close the store.

        A thread that only loads, and has written nothing, is left behind: it ends by itself.
        """
        self._stopping = True
        self._wake.set()
        if self.owns_embedder and (close := getattr(self._opened, "close", None)):
            close()
        if self._thread.ident is not None:
            self._thread.join(None if self.embedder else _PATIENCE_SECONDS)
        self.embedder = None
        self._store.close()

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping and not self.ended:
            self._wake.clear()
            wanted, pause = self._wanted, _IDLE_SECONDS
            try:
                self._work(wanted)
                self._failures = 0
            except Exception as error:  # a model raises what it likes
                if self._stopping:
                    return
                self._note_failure(error)
                pause = PAUSES[min(self._failures, len(PAUSES) - 1)]
                self._failures += 1
            if pause:
                self._done = wanted
            self._on_step()
            if not self._wake.wait(pause):
                with self._storing:  # it holds 3 KB a vector, and nobody searches in it
                    self._store.close()

    def _note_failure(self, error: Exception) -> None:
        self.note = f"{error}"
        if not isinstance(error, IndexUnavailable | StoreBroken):
            self.embedder = None
            told = error if isinstance(error, EmbedderAway) else f"The embedder failed: {error}."
            self.note = f"{told} Search is by words only until it answers."
        log.warning("vectors: %s", self.note, exc_info=error)

    def _work(self, wanted: int) -> None:
        """Embed what lacks a vector, until there is news; then bring Chroma up to it."""
        embedder = self._opened = self._opened or self._open_embedder()
        if embedder is None:
            self.ended = True
            self.note = "No embedder is set (index.embedder = none): search by words only."
            return
        if not self.embedder:
            embedder.embed(["warm"])
            learn_scale(embedder)
        self._columns.follow()
        self._columns.take_vectors(embedder.id, embedder.dim)
        self.embedder = embedder
        self._on_step()
        waiting = self._columns.lacking()
        while waiting and not self._stopping and wanted == self._wanted:
            self._embed(embedder, waiting[:BATCH])
            waiting = waiting[BATCH:]
            self._on_step()
        with self._storing:
            try:
                self._fill_store(embedder)
            except IndexUnavailable:
                raise
            except Exception as error:  # Chroma's native part raises what it likes
                self._stored = None
                with suppress(Exception):  # what cannot be removed is told when it is begun anew
                    self._store.destroy()
                told = f"The vector store failed ({error}). It is being rebuilt from the cache."
                raise StoreBroken(told) from error
        self.note = ""

    def _embed(self, embedder: Embedder, rowids: Sequence[int]) -> None:
        """Give some chunks their vectors: in the cache, and from there in memory."""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT text_hash, kind, title, text FROM chunks c WHERE rowid {SOME}"
                " AND NOT EXISTS (SELECT 1 FROM embeddings e"
                " WHERE e.text_hash = c.text_hash AND e.embedder = ? AND length(e.vector) = ?)",
                (json.dumps(rowids), embedder.id, 4 * embedder.dim),
            )
            texts = {key: embedded_text(*chunk) for key, *chunk in rows}
        if texts:
            fresh = [
                (key, embedder.id, row.astype("<f4").tobytes(), key)
                for key, row in zip(texts, embedder.embed([*texts.values()]), strict=True)
            ]
            with self._database.write() as connection:
                connection.executemany(  # nothing of a chunk that was erased meanwhile
                    "INSERT OR REPLACE INTO embeddings SELECT ?, ?, ?"
                    " WHERE EXISTS (SELECT 1 FROM chunks WHERE text_hash = ?)",
                    fresh,
                )
        self._columns.read_vectors(rowids)

    def _fill_store(self, embedder: Embedder) -> None:
        """Bring Chroma to what the cache holds: at opening, after a loss, and of late."""
        with self._database.write() as connection:
            (spare,) = connection.execute(_SPARE).fetchone()
            if spare > ORPHANS:
                connection.execute(DROP_ORPHANS)
            found = connection.execute(_KEYS, (embedder.id, 4 * embedder.dim))
            cached = {key for (key,) in found}
        if self._stored is None or (self._stored != cached and not self._store.collection):
            self._store.open(embedder.id)
            self._stored = {bytes.fromhex(name) for name in self._store.names()}
        self._store.remove([key.hex() for key in self._stored - cached])
        self._stored &= cached
        left = sorted(cached - self._stored)
        for at in range(0, len(left), BATCH):
            if self._stopping:
                return
            some = left[at : at + BATCH]
            with self._database.read() as connection:
                read = connection.execute(
                    _SOME_VECTORS.format(",".join("?" * len(some))), (embedder.id, *some)
                )
                rows = dict(read.fetchall())
            if rows:
                vectors = np.frombuffer(b"".join(rows.values()), "<f4").reshape(len(rows), -1)
                self._store.add([key.hex() for key in rows], vectors)
                self._stored.update(rows)
        blank_freed_memory(False)


@lru_cache(maxsize=4)
def _vector_by(embed: Callable[[str], Floats], query: str) -> Floats:
    """Return a question's vector; the last are kept, since several ask it in turn."""
    return embed(query)
