"""Vectors in Chroma, by the hash of their text: a copy of the database's cache, rebuilt in doubt.

Chroma is a folder that one process opens, or a server (`index.chroma_url`). A folder that was not
closed in good order is filled anew.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import shutil
import sys
import time
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
_PAGE = 5000
_M_PERTURB = -6
_IN_USE = "in-use"
"""A file that stands in Chroma's folder while it is open: after a crash the folder is not
trusted, since a damaged one may end the process that opens it."""

log = logging.getLogger(__name__)


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
        self._collection: Any = None
        digest = hashlib.sha256(str(root).encode()).hexdigest()[:12]
        self._prefix = f"vaultmind-{digest}-" if url else ""

    def open(self, embedder: str, *, fresh: bool = False) -> None:
        """Open what holds an embedder's vectors; an empty store where it is damaged or missing.

        `fresh` throws everything away. Raises StoreBroken.
        """
        self.close()
        if fresh:
            self.destroy()
        for one in self._root.glob(f"*/{_IN_USE}"):  # of a process that was killed
            shutil.rmtree(one.parent, ignore_errors=True)
        failure, held = "", [] if self._url else [*self._root.glob("*")]
        for folder in (*held, self._root / str(time.time_ns())):
            try:
                return self._connect(folder, embedder)
            except Exception as error:  # Chroma's native part raises what it likes
                failure = f"{error}"
                log.warning("vectors in %s cannot be used (%s)", self._url or folder, failure)
                self.close()
                shutil.rmtree(folder, ignore_errors=True)
        raise StoreBroken(f"Chroma cannot be opened in {self._url or self._root}: {failure}")

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
        self._client = self._collection = None

    def add(self, names: Sequence[str], vectors: Matrix) -> None:
        """Store a row a name, replacing what was there."""
        self._collection.upsert(ids=list(names), embeddings=vectors)

    def names(self) -> set[str]:
        """Return the names of all that is stored."""
        found = set[str]()
        while page := self._collection.get(include=[], limit=_PAGE, offset=len(found))["ids"]:
            found.update(page)
        return found

    def _connect(self, folder: Path, embedder: str) -> None:
        if not self._url:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _IN_USE).touch()
        self._client = self._new_client(str(folder))
        name = f"{self._prefix}{embedder}"
        self._drop_others(name)
        self._collection = self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def _new_client(self, folder: str) -> Any:  # noqa: ANN401
        with importing():
            import chromadb
            from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if not self._url:
            return chromadb.PersistentClient(folder, settings=settings)
        at, token = urlsplit(self._url), os.environ.get(TOKEN_VARIABLE, "")
        return chromadb.HttpClient(
            host=at.hostname or "",
            port=at.port or (443 if at.scheme == "https" else 8000),
            ssl=at.scheme == "https",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            settings=settings,
        )

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
