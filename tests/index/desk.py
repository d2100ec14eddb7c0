"""A vault, its database, and embedding threads that come and go."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.fakes import HashEmbedder
from vaultmind.index.chroma import ChromaStore
from vaultmind.index.db import Database
from vaultmind.index.ground import VaultGround
from vaultmind.index.sync import Changes, Sync
from vaultmind.index.vectors import Vectors
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
        self.sync = Sync(
            self.database,
            VaultReader(paths, 0),
            VaultGround(paths),
            Changes(0),
            lambda: datetime.now(UTC),
        )
        self.embedder = HashEmbedder()
        self.running: list[Vectors] = []
        self.probes = True
        """Whether the store is looked at in a process of its own before it is opened: a second."""

    def start(
        self,
        embedder: Embedder | None = None,
        store: ChromaStore | None = None,
    ) -> Vectors:
        made = self.unstarted(embedder, store)
        made.start()
        made.release()
        return made

    def unstarted(
        self,
        embedder: Embedder | None = None,
        store: ChromaStore | None = None,
    ) -> Vectors:
        made = Vectors(
            self.database,
            store or ChromaStore(self.folder / "chroma", probe=self.probes),
            lambda: embedder or self.embedder,
            lambda: None,
        )
        self.running.append(made)
        return made

    def close(self) -> None:
        for embedding in self.running:
            embedding.close()
        self.database.close()

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def waiting(self) -> int:
        return self.count("SELECT count(*) FROM chunks WHERE embedded = 0")

    def count(self, query: str) -> int:
        with self.database.read() as connection:
            return int(connection.execute(query).fetchone()[0])


def nearest(embedding: Vectors, query: str) -> str:
    found = embedding.nearest(query, ["note"], 1)
    return found[0][0] if found else ""


def chunk_of(desk: Desk, path: str) -> str:
    with desk.database.read() as connection:
        return str(connection.execute("SELECT id FROM chunks WHERE path=?", (path,)).fetchone()[0])
