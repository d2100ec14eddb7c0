"""Vectors in Chroma: a derived copy of what the database caches, thrown away when in doubt.

One process only opens the folder; it is probed in a throw-away process before, since a
damaged one can end the process that opens it.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vaultmind.errors import VaultMindError
from vaultmind.heavy import importing
from vaultmind.index.vectors import probe
from vaultmind.ports import VectorStore

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

BATCH = 50
"""Vectors a write: Chroma holds the interpreter's lock for its whole length."""
BLOAT_FLOOR = 100
BLOAT_SHARE = 0.5
"""A collection is rebuilt when more was deleted than the floor and than this share of it."""
_PROBE_SECONDS = 30.0
_LIST_PAGE = 5000
_NAMES = "names.json"

log = logging.getLogger(__name__)

Fill = Callable[[], Iterable[tuple[Sequence[str], "Matrix"]]]
"""Gives the ids and vectors of a collection in batches, for a rebuild."""


class StoreBroken(VaultMindError):
    """The vector store cannot be used; a fresh one can be filled from the cache."""


class OwnedStore(VectorStore, Protocol):
    """A store whose life and folder belong to the index."""

    def prepare(self) -> None:
        """Load what is to be loaded and look at what is on disk; write nothing."""
        ...

    def abandon(self) -> None:
        """End a preparation that another thread is at."""
        ...

    def open(self) -> None:
        """Open what is on disk, or start fresh when it is damaged. Raises StoreBroken."""
        ...

    def reset(self) -> None:
        """Throw everything away and open a fresh, empty store."""
        ...

    def destroy(self) -> None:
        """Remove all that is on disk; there is no store until it is opened again."""
        ...

    def bloated(self) -> tuple[str, ...]:
        """Return the collections in which too much was deleted."""
        ...

    def rebuild(self, collection: str, fill: Fill) -> None:
        """Fill a new collection and put it in the old one's place, which serves until then."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


def collection_of(kind: str, agent: str) -> str:
    """Return the name of the collection that holds a kind of chunk of an agent."""
    return f"{kind}-{agent}" if agent else kind


class ChromaStore:
    """Implements OwnedStore with Chroma in a folder of its own below `root`.

    `root/<n>/` is Chroma's folder, the highest n counts; a reset begins the next one.
    `root/<n>/names.json` says which of Chroma's collections stands for a name, how many ids were
    deleted from it: every swap is one replacement of that file.
    `probe` looks at the folder in a throw-away process before it is opened.
    """

    def __init__(self, root: Path, *, probe: bool = True) -> None:
        self._root = root
        self._probe = probe
        self._lock = threading.RLock()
        self._client: Any = None
        self._damage: str | None = None
        self._probing: subprocess.Popen[str] | None = None
        self._folder = root
        self._begun = 0
        self._names: dict[str, tuple[str, int]] = {}
        """By name: Chroma's name, and how many ids were deleted there."""
        self._collections: dict[str, Any] = {}

    def prepare(self) -> None:
        """Probe the newest folder and import Chroma."""
        newest = max(self._numbers(), default=0)
        probed = newest and self._probe
        self._damage = _probed(self._root / str(newest), self._started) if probed else ""
        with importing():
            import chromadb  # noqa: F401

    def abandon(self) -> None:
        """Kill the probe that another thread waits for."""
        if self._probing is not None:
            self._probing.kill()

    def open(self) -> None:
        """Open the newest folder; begin a fresh one when it is damaged or missing."""
        if self._damage is None:
            self.prepare()
        with self._lock:
            newest = max(self._numbers(), default=0)
            self._folder = self._root / str(newest)
            reason, self._damage = self._damage or "", None
            if newest and not reason:
                try:
                    self._connect()
                    return
                except Exception as error:  # Chroma's native part raises what it likes
                    reason = f"{type(error).__name__}: {error}"
            if newest:
                log.warning("vectors in %s are damaged (%s): rebuilding", self._folder, reason)
            self.reset()

    def reset(self) -> None:
        """Throw everything away and open a fresh, empty store."""
        with self._lock:
            self.close()
            self._begun = max(self._begun, *self._numbers(), 0) + 1  # Chroma knows what failed
            self._folder = self._root / str(self._begun)
            try:
                self._folder.mkdir(parents=True)
                self._connect()
            except Exception as error:  # Chroma's native part raises what it likes
                self.close()
                shutil.rmtree(self._folder, ignore_errors=True)
                raise StoreBroken(f"Chroma cannot be opened in {self._folder}: {error}") from error

    def destroy(self) -> None:
        """Remove all that is on disk; there is no store until it is opened again."""
        with self._lock:
            self.close()
            shutil.rmtree(self._root, ignore_errors=True)

    def close(self) -> None:
        """Let go of Chroma's files."""
        with self._lock:
            if self._client is not None:
                with suppress(Exception):  # a broken client may fail to close as well
                    self._client.close()
            self._client, self._collections, self._names = None, {}, {}

    def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors under ids, replacing what was there."""
        with self._lock:
            held = self._collection(collection) or self._make(collection)
            for start in range(0, len(ids), BATCH):
                part = slice(start, start + BATCH)
                held.upsert(ids=list(ids[part]), embeddings=vectors[part])

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are ignored."""
        with self._lock:
            held = self._collection(collection)
            if held is None or not ids:
                return
            for start in range(0, len(ids), BATCH):
                held.delete(ids=list(ids[start : start + BATCH]))
            real, deleted = self._names[collection]
            self._save({**self._names, collection: (real, deleted + len(ids))})

    def query(self, collection: str, vector: Matrix, limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine distance), nearest first; empty for an unknown collection."""
        held = self._collection(collection)
        if held is None or limit <= 0:
            return []
        found = held.query(
            query_embeddings=vector.reshape(1, -1), n_results=limit, include=["distances"]
        )
        return list(zip(found["ids"][0], map(float, found["distances"][0]), strict=True))

    def count(self, collection: str) -> int:
        """Return how many vectors a collection holds."""
        held = self._collection(collection)
        return int(held.count()) if held is not None else 0

    def ids(self, collection: str) -> set[str]:
        """Return every id of a collection."""
        held = self._collection(collection)
        return set(_all_ids(held)) if held is not None else set()

    def collections(self) -> tuple[str, ...]:
        """Return the names of all collections."""
        return tuple(sorted(self._names))

    def drop(self, collection: str) -> None:
        """Remove a collection and its folder on disk."""
        with self._lock:
            if collection in self._names:
                self._save({one: held for one, held in self._names.items() if one != collection})
                self._collections.pop(collection, None)
                self._sweep()

    def bloated(self) -> tuple[str, ...]:
        """Return the collections in which too much was deleted: its places are never reused."""
        with self._lock:
            return tuple(
                name
                for name, (_, deleted) in self._names.items()
                if deleted > max(BLOAT_FLOOR, BLOAT_SHARE * self.count(name))
            )

    def rebuild(self, collection: str, fill: Fill) -> None:
        """Fill a new collection and put it in the old one's place, which serves until then."""
        real = self._unused(collection)
        fresh = self._create(real)
        for ids, vectors in fill():
            fresh.upsert(ids=list(ids), embeddings=vectors)
        with self._lock:
            self._save({**self._names, collection: (real, 0)})
            self._collections[collection] = fresh
            self._sweep()

    def _started(self, probing: subprocess.Popen[str]) -> None:
        self._probing = probing

    def _connect(self) -> None:
        with importing():
            import chromadb
            from chromadb.config import Settings

        self._client = chromadb.PersistentClient(
            str(self._folder), settings=Settings(anonymized_telemetry=False)
        )
        self._names = _read_names(self._folder / _NAMES)
        self._sweep()
        for number in self._numbers():
            if str(number) != self._folder.name:
                shutil.rmtree(self._root / str(number), ignore_errors=True)

    def _sweep(self) -> None:
        """Remove Chroma's collections that no name stands for, and folders left behind."""
        wanted = {real for real, _ in self._names.values()}
        for held in self._client.list_collections():
            if held.name not in wanted:
                self._client.delete_collection(held.name)
        try:
            with closing(sqlite3.connect(self._folder / "chroma.sqlite3")) as connection:
                segments = {str(row[0]) for row in connection.execute("SELECT id FROM segments")}
        except sqlite3.Error as error:
            raise StoreBroken(f"Chroma's own tables cannot be read: {error}") from error
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder.name not in segments:
                shutil.rmtree(folder, ignore_errors=True)

    def _collection(self, name: str) -> Any:  # noqa: ANN401
        """Return Chroma's collection for a name; None when there is none."""
        if self._client is None:
            raise StoreBroken("The vector store is not open.")
        held = self._collections.get(name)
        if held is None and name in self._names:
            with self._lock:
                real, _ = self._names[name]
                held = self._client.get_collection(real, embedding_function=None)
                self._collections[name] = held
        return held

    def _make(self, name: str) -> Any:  # noqa: ANN401
        real = self._unused(name)
        held = self._create(real)
        self._save({**self._names, name: (real, 0)})
        self._collections[name] = held
        return held

    def _create(self, real: str) -> Any:  # noqa: ANN401
        return self._client.get_or_create_collection(
            real, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def _unused(self, name: str) -> str:
        """Return a name of Chroma's that no collection has yet."""
        real, _ = self._names.get(name, ("0", 0))
        return f"{name}.{int(real.rpartition('.')[2]) + 1}"

    def _save(self, names: dict[str, tuple[str, int]]) -> None:
        """Put other names into the file, at once and whole."""
        temporary = self._folder / "names.tmp"
        temporary.write_text(json.dumps(names), "utf-8")
        temporary.replace(self._folder / _NAMES)
        self._names = names

    def _numbers(self) -> list[int]:
        if not self._root.is_dir():
            return []
        names = (entry.name for entry in self._root.iterdir() if entry.is_dir())
        return [int(name) for name in names if re.fullmatch(r"\d+", name)]


def _read_names(file: Path) -> dict[str, tuple[str, int]]:
    """Return what a file says; nothing where there is no file."""
    with suppress(FileNotFoundError):
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return {name: (str(real), int(deleted)) for name, (real, deleted) in told.items()}
    return {}


def _all_ids(held: Any) -> Iterator[str]:  # noqa: ANN401
    offset = 0
    while page := held.get(include=[], limit=_LIST_PAGE, offset=offset)["ids"]:
        yield from page
        offset += len(page)


def _probed(folder: Path, started: Callable[[subprocess.Popen[str]], None]) -> str:
    """Return what is wrong with a Chroma folder, or nothing, at no risk to this process."""
    command = [sys.executable, "-P", probe.__file__, str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        started(process)
        try:
            _, said = process.communicate(timeout=_PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"no answer within {_PROBE_SECONDS:g} s"
    if process.returncode == 0:
        return ""
    last = said.strip().splitlines()[-1:] or [""]
    if process.returncode == probe.UNKNOWN:
        log.warning("vectors in %s are opened without a look at them first: %s", folder, last[0])
        return ""
    return last[0] or f"the probe ended with {process.returncode}"
