"""A vault with its database, and embedding threads that come and go."""

from __future__ import annotations

from pathlib import Path

from tests.fakes import HashEmbedder
from tests.index.vault import Vault
from vaultmind.index.columns import Where
from vaultmind.index.matching import Matcher
from vaultmind.index.vectors import ChromaStore, Vectors
from vaultmind.ports import Embedder


class Desk(Vault):
    """A vault, its database, and embedding threads that come and go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root, self.chroma = self.paths.root, folder / "chroma"
        self.embedder = HashEmbedder()
        self.running: list[Vectors] = []

    def start(self, embedder: Embedder | None = None) -> Vectors:
        store = ChromaStore(self.chroma)
        made = Vectors(self.columns, store, lambda: embedder or self.embedder, lambda: None)
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
        if vector is None or embedding._stored is None or self.columns.lacking():
            return set()
        assert {bytes.fromhex(one) for one in embedding._store.names()} == {*self.columns.hashes}
        (near,) = self.columns.nearest(vector, self.columns.mask(Where()), 1)
        return {list(self.columns.files)[self.columns.rows["file"][near]]}
