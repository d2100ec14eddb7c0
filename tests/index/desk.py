"""A vault, its database, and embedding threads that come and go."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import HashEmbedder
from vaultmind.index.chroma import ChromaStore
from vaultmind.index.columns import Columns
from vaultmind.index.db import Database
from vaultmind.index.folder import VaultFolder
from vaultmind.index.matching import Matcher
from vaultmind.index.sync import Sync
from vaultmind.index.vectors import Vectors
from vaultmind.index.where import Where
from vaultmind.ports import Embedder
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths


class Desk:
    """A vault, its database, and embedding threads that come and go."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        self.folder = folder
        self.database = Database(folder / "index.db")
        paths = VaultPaths(self.vault)
        reader = VaultReader(paths, 6_000_000)
        self.sync = Sync(self.database, reader, VaultFolder(paths))
        self.columns = Columns(self.database)
        self.embedder = HashEmbedder()
        self.running: list[Vectors] = []

    def start(self, embedder: Embedder | None = None, store: ChromaStore | None = None) -> Vectors:
        store = store or ChromaStore(self.folder / "chroma")
        made = Vectors(self.columns, store, lambda: embedder or self.embedder, lambda: None)
        self.running.append(made)
        made.release()
        return made

    def close(self) -> None:
        for embedding in self.running:
            embedding.close()
        self.database.close()

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def paths(self) -> set[str]:
        with self.database.read() as connection:
            rows = connection.execute("SELECT path FROM files WHERE severity != 'skipped'")
            return {path for (path,) in rows}

    def find(self, query: str) -> set[str]:
        self.columns.follow()
        found = Matcher(self.columns).match(query, self.columns.mask(Where()), 50).found
        files = list(self.columns.files)
        return {files[file] for file in self.columns.rows["file"][found]}

    def waiting(self) -> int:
        self.columns.follow()
        return len(self.columns.lacking())

    def nearest(self, embedding: Vectors, query: str) -> set[str]:
        """Return the path that is the nearest to a question, once all vectors are there."""
        vector = embedding.query_vector(query)
        if vector is None or embedding._stored is None or self.waiting():
            return set()
        assert {bytes.fromhex(one) for one in embedding._store.names()} == {*self.columns.hashes}
        (near,) = self.columns.nearest(vector, self.columns.mask(Where()), 1)
        return {list(self.columns.files)[self.columns.rows["file"][near]]}
