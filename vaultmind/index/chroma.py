"""Vectors in Chroma: a derived copy of what the database caches, thrown away when in doubt.

Chroma is a folder that one process opens, or a server (`index.chroma_url`). A folder is looked at
in a throw-away process first, since a damaged one can end the process that opens it.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vaultmind.errors import VaultMindError
from vaultmind.heavy import importing

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

BATCH = 50
"""Vectors a write: Chroma holds the interpreter's lock for its whole length."""
TOKEN_VARIABLE = "VAULTMIND_CHROMA_TOKEN"
"""Environment variable that holds the token of a Chroma server."""
_PROBE_SECONDS = 30.0
_LIST_PAGE = 5000
_M_PERTURB = -6
_PROBE = """
import sys
try:
    import chromadb_rust_bindings as native
    place = ("default_tenant", "default_database")
    files = native.SqliteDBConfig(hash_type=native.MigrationHash.MD5,
        migration_mode=native.MigrationMode.Apply, url=sys.argv[1] + "/chroma.sqlite3")
    chroma = native.Bindings(allow_reset=False, sqlite_db_config=files, persist_path=sys.argv[1],
        hnsw_cache_size=64)
    for held in chroma.list_collections(None, None, *place):
        last = max(0, chroma.count(str(held.id), *place) - 8)
        for offset in {0, last}:
            some = chroma.get(str(held.id), None, None, 8, offset, None, ["embeddings"], *place)
            if not some.embeddings:
                continue
            found = chroma.query(str(held.id), None, some.embeddings, 10, None, None,
                ["distances"], *place).distances
            if 2 * sum(not row or min(row) > 1e-3 for row in found) > len(found):
                sys.exit(held.name + ": stored vectors are not found")
except (ImportError, AttributeError, TypeError):
    pass  # another version of Chroma's native part: it is opened without a look
"""
"""Asks Chroma's native part whether most of the first and the newest vectors find themselves."""

log = logging.getLogger(__name__)


class StoreBroken(VaultMindError):
    """The vector store cannot be used; a fresh one can be filled from the cache."""


def collection_of(kind: str, agent: str) -> str:
    """Return the name of the collection that holds a kind of chunk of an agent."""
    return f"{kind}-{agent}" if agent else kind


class ChromaStore:
    """Implements ports.VectorStore with Chroma in a folder of its own below `root`, or at a URL.

    `root/<n>/` is Chroma's folder, the highest n counts; a reset begins the next one. On a server
    the collections of a vault begin with a name of its own.
    """

    def __init__(self, root: Path, *, url: str = "", probe: bool = True) -> None:
        self._root = root
        self._url = url
        self._probe = probe
        self._lock = threading.RLock()
        self._client: Any = None
        self._probing: subprocess.Popen[str] | None = None
        self._begun = 0
        self._collections: dict[str, Any] = {}
        self._prefix = f"vaultmind-{_digest(root)}-" if url else ""

    def begin(self) -> None:
        """Begin to look at the newest folder in a process of its own; `open` waits for it."""
        newest = max(self._numbers(), default=0)
        if newest and self._probe and self._probing is None:
            command = [sys.executable, "-P", "-c", _PROBE, str(self._root / str(newest))]
            self._probing = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )

    def abandon(self) -> None:
        """Kill the probe that another thread waits for."""
        if self._probing is not None:
            self._probing.kill()

    def open(self) -> None:
        """Open the newest folder; begin a fresh one when it is damaged or missing."""
        damage = self._found_damage()
        with self._lock:
            newest = max(self._numbers(), default=0)
            if self._url or (newest and not damage):
                try:
                    self._connect(newest)
                    return
                except Exception as error:  # Chroma's native part raises what it likes
                    if self._url:
                        raise StoreBroken(f"Chroma at {self._url} fails: {error}") from error
                    damage = f"{type(error).__name__}: {error}"
            if newest:
                log.warning("vectors in %s are damaged (%s): rebuilding", self._root, damage)
            self.reset()

    def reset(self) -> None:
        """Throw everything away and open a fresh, empty store."""
        with self._lock:
            if self._url:
                self.destroy()
                self._connect(0)
                return
            self.close()
            self._begun = max(self._begun, *self._numbers(), 0) + 1  # Chroma knows what failed
            folder = self._root / str(self._begun)
            try:
                folder.mkdir(parents=True)
                self._connect(self._begun)
            except Exception as error:  # Chroma's native part raises what it likes
                self.close()
                shutil.rmtree(folder, ignore_errors=True)
                raise StoreBroken(f"Chroma cannot be opened in {folder}: {error}") from error

    def destroy(self) -> None:
        """Remove all that is kept; there is no store until it is opened again."""
        with self._lock:
            if self._url:
                if self._client is None:
                    self._connect(0)
                for name in self.collections():
                    self._client.delete_collection(f"{self._prefix}{name}.v1")
            self.close()
            shutil.rmtree(self._root, ignore_errors=True)

    def close(self) -> None:
        """Let go of Chroma's files."""
        with self._lock:
            if self._client is not None:
                with suppress(Exception):  # a broken client may fail to close as well
                    self._client.close()
            self._client, self._collections = None, {}

    def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        """Store vectors under ids, replacing what was there."""
        with self._lock:
            held = self._collections.get(collection) or self._make(collection)
            for start in range(0, len(ids), BATCH):
                part = slice(start, start + BATCH)
                held.upsert(ids=list(ids[part]), embeddings=vectors[part])

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Remove ids; unknown ones are ignored."""
        with self._lock:
            held = self._held(collection)
            for start in range(0, len(ids) if held else 0, BATCH):
                held.delete(ids=list(ids[start : start + BATCH]))

    def query(self, collection: str, vector: Matrix, limit: int) -> list[tuple[str, float]]:
        """Return (id, cosine distance), nearest first; empty for an unknown collection."""
        held = self._held(collection)
        if held is None or limit <= 0:
            return []
        found = held.query(
            query_embeddings=vector.reshape(1, -1), n_results=limit, include=["distances"]
        )
        return list(zip(found["ids"][0], map(float, found["distances"][0]), strict=True))

    def count(self, collection: str) -> int:
        """Return how many vectors a collection holds."""
        held = self._held(collection)
        return int(held.count()) if held is not None else 0

    def ids(self, collection: str) -> set[str]:
        """Return every id of a collection."""
        held, found = self._held(collection), set[str]()
        while held is not None:
            page = held.get(include=[], limit=_LIST_PAGE, offset=len(found))["ids"]
            if not page:
                break
            found.update(page)
        return found

    def collections(self) -> tuple[str, ...]:
        """Return the names of all collections."""
        return tuple(sorted(self._collections))

    def _found_damage(self) -> str:
        """Return what the probe says is wrong with the folder, or nothing."""
        self.begin()
        probing, self._probing = self._probing, None
        if probing is None:
            return ""
        with probing:
            try:
                _, said = probing.communicate(timeout=_PROBE_SECONDS)
            except subprocess.TimeoutExpired:
                probing.kill()
                return f"no answer within {_PROBE_SECONDS:g} s"
        if not probing.returncode:
            return ""
        return [*said.strip().splitlines(), f"the probe ended with {probing.returncode}"][-1]

    def _connect(self, number: int) -> None:
        with importing():
            import chromadb
            from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if self._url:
            at, token = urlsplit(self._url), os.environ.get(TOKEN_VARIABLE, "")
            self._client = chromadb.HttpClient(
                host=at.hostname or "",
                port=at.port or (443 if at.scheme == "https" else 8000),
                ssl=at.scheme == "https",
                headers={"Authorization": f"Bearer {token}"} if token else {},
                settings=settings,
            )
        else:
            folder = self._root / str(number)
            self._client = chromadb.PersistentClient(str(folder), settings=settings)
        held = [one.name for one in self._client.list_collections()]
        names = [name.removeprefix(self._prefix) for name in held if name.startswith(self._prefix)]
        self._collections = {
            name.rpartition(".")[0]: self._client.get_collection(
                self._prefix + name, embedding_function=None
            )
            for name in names
        }
        for one in self._numbers():
            if one != number:
                shutil.rmtree(self._root / str(one), ignore_errors=True)

    def _held(self, name: str) -> Any:  # noqa: ANN401
        """Return Chroma's collection of a name; None when there is none."""
        if self._client is None:
            raise StoreBroken("The vector store is not open.")
        return self._collections.get(name)

    def _make(self, name: str) -> Any:  # noqa: ANN401
        if self._client is None:
            raise StoreBroken("The vector store is not open.")
        self._collections[name] = self._client.get_or_create_collection(
            f"{self._prefix}{name}.v1",
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
        )
        return self._collections[name]

    def _numbers(self) -> list[int]:
        if not self._root.is_dir():
            return []
        names = (entry.name for entry in self._root.iterdir() if entry.is_dir())
        return [int(name) for name in names if re.fullmatch(r"\d+", name)]


def blank_freed_memory(is_on: bool) -> None:
    """Have the C library write over memory that is freed, or leave it alone again (glibc only).

    Chroma writes whole blocks of memory of which it has filled a part: vectors that were just
    erased would stand in the fresh file.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(_M_PERTURB, 0xFF if is_on else 0)


def _digest(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:12]
