"""The vectors of the chunks: made in the background, kept in the database, in memory and in Chroma.

The cache in the database is the truth; the columns, which are searched, and Chroma are filled from
it, and a Chroma that fails is filled anew. What was embedded before is never embedded again. Until
a new embedder's vectors are there, words find.

Chroma is a folder or a server (`index.chroma_url`). Once there was no news for a minute, a process
of its own brings it up to date (see `chroma`) and ends: it takes 150 MB and a second's work.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from subprocess import DEVNULL, PIPE

from vaultmind.config.mapped import let_go
from vaultmind.errors import IndexUnavailable
from vaultmind.index.columns import Columns, Floats
from vaultmind.index.db import SOME
from vaultmind.index.embed import EmbedderAway, embedded_text, learn_scale
from vaultmind.ports import Embedder

BATCH = 50
"""Texts embedded between two looks at what is new."""


PAUSES = (0.0, 15.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds after the first failure in a row, the second, and so on."""
ORPHANS = 20_000
"""Cached vectors that nothing needs are kept up to so many: a text often comes back."""
DROP_ORPHANS = "DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)"
QUIET_SECONDS = 60.0
"""How long nothing was new when Chroma is brought up to date."""
_PATIENCE_SECONDS = 0.3
"""How long a close waits for a thread that is loading."""
_SPARE = "SELECT (SELECT count(*) FROM embeddings) - (SELECT count(*) FROM chunks)"
_STORER = f"{Path(__file__).with_name('chroma.py')}"
_turn = threading.Lock()
"""Of several indexes one at a time fills its Chroma; the others look again in a minute."""
log = logging.getLogger(__name__)


class Vectors:
    """Embeds in a thread of its own. Implements ports.Nearest."""

    def __init__(
        self,
        columns: Columns,
        root: Path,
        url: str,
        open_embedder: Callable[[], Embedder | None],
        on_step: Callable[[], None],
    ) -> None:
        """Take where Chroma keeps its folders, or the address of its server."""
        self._columns, self._database, self._root, self._url = columns, columns.database, root, url
        self._open_embedder, self._on_step = open_embedder, on_step
        self.owns_embedder = True
        """Whether closing it closes the embedder too."""
        self._opened: Embedder | None = None
        self.embedder: Embedder | None = None
        """The one whose vectors are searched, while it answers."""
        self._storing = threading.Lock()
        self._storer: subprocess.Popen[str] | None = None
        self._stopping = False
        self._failures = 0
        self._wanted, self._done, self._stored = 0, -1, -1
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
        self._end_storer()
        with self._storing:
            if self._url:
                self._run_storer("", 0)
            shutil.rmtree(self._root, ignore_errors=True)
        self.wake()

    def close(self) -> None:
        """Stop after the current batch.

        A thread that only loads, and has written nothing, is left behind: it ends by itself.
        """
        self._stopping = True
        self._wake.set()
        self._end_storer()
        if self.owns_embedder and (close := getattr(self._opened, "close", None)):
            close()
        if self._thread.ident is not None:
            self._thread.join(None if self.embedder else _PATIENCE_SECONDS)
        self.embedder = None

    # --- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        is_quiet = False
        while not self._stopping and not self.ended:
            self._wake.clear()
            wanted, pause = self._wanted, QUIET_SECONDS
            try:
                self._work(wanted)
                is_due = is_quiet and self._stored != wanted
                if is_due and self.embedder and _turn.acquire(blocking=False):
                    try:
                        self._fill_store(self.embedder, wanted)
                    finally:
                        _turn.release()
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
            let_go()
            is_quiet = not self._wake.wait(pause)

    def _note_failure(self, error: Exception) -> None:
        self.note = f"{error}"
        if not isinstance(error, IndexUnavailable):
            self.embedder = None
            told = error if isinstance(error, EmbedderAway) else f"The embedder failed: {error}."
            self.note = f"{told} Search is by words only until it answers."
        log.warning("vectors: %s", self.note, exc_info=error)

    def _work(self, wanted: int) -> None:
        """Embed what lacks a vector, until there is news."""
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

    def _fill_store(self, embedder: Embedder, wanted: int) -> None:
        """Bring Chroma to what the cache holds."""
        with self._storing:
            with self._database.write() as connection:
                (spare,) = connection.execute(_SPARE).fetchone()
                if spare > ORPHANS:
                    connection.execute(DROP_ORPHANS)
            try:
                self._run_storer(embedder.id, 4 * embedder.dim)
            except (IndexUnavailable, OSError) as error:
                shutil.rmtree(self._root, ignore_errors=True)
                told = f"The vector store failed ({error}). It is being rebuilt from the cache."
                raise IndexUnavailable(told) from error
            self._stored = wanted

    def _run_storer(self, embedder: str, size: int) -> None:
        """Have a process fill Chroma with an embedder's vectors; of none: empty a server's.

        Raises IndexUnavailable.
        """
        orders = {"root": f"{self._root}", "url": self._url, "database": f"{self._database.path}"}
        given = json.dumps(orders | {"embedder": embedder, "size": size})
        command = [sys.executable, "-P", _STORER, given]
        with subprocess.Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, text=True) as child:
            self._storer = child
            assert child.stderr is not None
            told = child.stderr.read().strip().rpartition("\n")[2]
        if child.returncode:
            raise IndexUnavailable(told or f"its process ended with {child.returncode}")

    def _end_storer(self) -> None:
        """Have a process that fills Chroma end soon: its input is over."""
        if self._storer and self._storer.stdin:
            self._storer.stdin.close()


@lru_cache(maxsize=4)
def _vector_by(embed: Callable[[str], Floats], query: str) -> Floats:
    """Return a question's vector; the last are kept, since several ask it in turn."""
    return embed(query)
