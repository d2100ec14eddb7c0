"""A real vault with a real index, brought up to date by hand, for tests of the read side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fakes import HashEmbedder, OpenToAll
from vaultmind.app import local_now
from vaultmind.index.chroma import names, opened
from vaultmind.index.columns import Columns, Where
from vaultmind.index.db import Database
from vaultmind.index.fetch import Fetch
from vaultmind.index.folder import VaultFolder
from vaultmind.index.matching import Matcher
from vaultmind.index.outlet import Outlet
from vaultmind.index.search import Finder, Search
from vaultmind.index.sync import Sync
from vaultmind.index.vectors import Vectors
from vaultmind.ports import Embedder
from vaultmind.types import IndexState
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


class Hidden:
    """Implements ports.Forgotten over a set."""

    def __init__(self) -> None:
        self.names: set[tuple[str, str, str]] = set()

    def hides(self, agent: str, session: str, message: str) -> bool:
        return (agent, session, message) in self.names

    def hider(self, agent: str) -> Callable[[str, str], bool]:
        return partial(self.hides, agent)


class Meaning:
    """Implements ports.Nearest over what gives a question's vector."""

    embedder_id = "use"

    def __init__(self, query_vector: Callable[[str], Matrix | None]) -> None:
        self.query_vector = query_vector


class Vault:
    """Files on disk and their index. Implements ports.FileIndexer."""

    def __init__(self, root: Path) -> None:
        self.paths = VaultPaths(root / "vault")
        self.paths.root.mkdir()
        ground = VaultFolder(self.paths, (), 8_000_000)
        self.database = Database(root / "state" / "index.db")
        self.columns = Columns(self.database)
        self.hidden, self.vectors = Hidden(), Meaning(lambda query: None)
        self.sync = Sync(self.database, ground)
        self.rights = OpenToAll()
        self.outlet = Outlet(ground, self.hidden, self.rights)
        folder = self.paths.root / self.paths.memory_dir
        self.finder = Finder(self.columns, self.vectors, folder, local_now)
        self.raw = Search(self.finder, self.outlet, self, self.state)
        self.search = self.raw.search
        self.fetch = Fetch(self.database, self.outlet).fetch

    def close(self) -> None:
        """Let go of files."""
        self.database.close()

    def write(self, path: str, text: str) -> None:
        """Write a file without indexing it; its stamp differs from any before."""
        file = self.paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.write_text(text, "utf-8", newline="")
        if file.stat().st_mtime_ns == before:
            os.utime(file, ns=(before + 1, before + 1))

    def put(self, path: str, text: str) -> None:
        """Write a file and index it."""
        self.write(path, text)
        self.refresh([path])

    def refresh(self, paths: Iterable[str], patience: float = -1) -> None:
        self.sync.refresh(paths)

    mark = refresh

    def state(self) -> IndexState:
        return IndexState("ready", files=10, indexed=3)

    def with_meaning(self, asked: str = "") -> Finder:
        """Give every chunk the vector of a small embedder; return what finds by it.

        Every question means what is `asked`, or else what it says.
        """
        embedder = HashEmbedder()
        with self.database.write() as connection:
            rows = connection.execute("SELECT text_hash, text FROM chunks").fetchall()
            made = embedder.embed([text for _, text in rows])
            connection.executemany(
                "INSERT OR IGNORE INTO embeddings VALUES (?, 'use', ?)",
                [(key, row.tobytes()) for (key, _), row in zip(rows, made, strict=True)],
            )
        self.columns.follow()
        self.columns.take_vectors("use", embedder.dim)
        meaning = Meaning(lambda query: embedder.embed_query(asked or query))
        folder = self.paths.root / self.paths.memory_dir
        return Finder(self.columns, meaning, folder, local_now)

    def ids(self, path: str) -> list[str]:
        """Return the ids of a file's chunks."""
        with self.database.read() as connection:
            statement = "SELECT id FROM chunks WHERE path = ? ORDER BY ordinal"
            return [row[0] for row in connection.execute(statement, (path,))]


class Desk(Vault):
    """A vault, its database, and embedding threads that come and go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root, self.chroma = self.paths.root, folder / "chroma"
        self.embedder = HashEmbedder()
        self.running: list[Vectors] = []

    def start(self, embedder: Embedder | None = None) -> Vectors:
        given = self.chroma, "", lambda: embedder or self.embedder, lambda: None
        made = Vectors(self.columns, *given)
        self.running.append(made)
        made.release()
        return made

    def close(self) -> None:
        for embedding in self.running:
            embedding.close()
        super().close()

    def indexed(self) -> set[str]:
        with self.database.read() as connection:
            rows = connection.execute("SELECT path FROM files WHERE severity != 'skipped'")
            return {path for (path,) in rows}

    def find(self, query: str) -> set[str]:
        self.columns.follow()
        found = Matcher(self.columns).match(query, self.columns.mask(Where()), 50).found
        files = list(self.columns.files)
        return {files[file] for file in self.columns.rows["file"][found]}

    def nearest(self, embedding: Vectors, query: str) -> set[str]:
        """Return the path that is the nearest to a question, once all vectors are there."""
        vector = embedding.query_vector(query)
        self.columns.follow()
        if vector is None or embedding._stored != embedding._wanted or self.columns.lacking():
            return set()
        with embedding._storing, opened(self.chroma, "", embedding.embedder_id) as store:
            assert {bytes.fromhex(one) for one in names(store)} == {*self.columns.hashes}
        (near,) = self.columns.nearest(vector, self.columns.mask(Where()), 1)
        return {list(self.columns.files)[self.columns.rows["file"][near]]}
