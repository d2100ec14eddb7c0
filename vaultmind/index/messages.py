"""Messages that may say a thing, for the forgetting side. Implements ports.MessageFinder."""

from __future__ import annotations

from vaultmind.index.db import chunks_of
from vaultmind.index.search import Finder
from vaultmind.index.where import Where
from vaultmind.ports import FileIndexer
from vaultmind.types import MessageRef
from vaultmind.vault.files import FileStat, VaultReader


class Messages:
    """Finds messages by any of the words of a text, in any inflection. Any thread."""

    def __init__(self, finder: Finder, reader: VaultReader, indexer: FileIndexer) -> None:
        self._finder, self._reader, self._indexer = finder, reader, indexer
        self._database = finder.columns.database

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return candidate messages of an agent with their whole texts, likeliest first.

        Sessions that the index does not have as they stand are indexed first: what is to be
        forgotten must be found whatever the index knows.
        """
        self._indexer.refresh(self._unread(agent))
        found = self._finder.saying(text, Where((agent,), ("message",)), limit)
        with self._database.read() as connection:
            chunks = chunks_of(connection, found)
            told: dict[tuple[str, str, str], MessageRef] = {}
            for chunk in (chunks[rowid] for rowid in found if rowid in chunks):
                block = chunk.anchor.removeprefix("#^")
                if block or chunk.message:
                    ref = MessageRef(agent, chunk.session, block, chunk.message)
                    told.setdefault((chunk.path, block, chunk.message), ref)
            pieces = (
                "SELECT text FROM chunks WHERE path = ? AND block = ? AND message = ?"
                " ORDER BY ordinal"
            )
            return [
                (ref, "\n".join(row[0] for row in connection.execute(pieces, key)))
                for key, ref in told.items()
            ]

    def _unread(self, agent: str) -> list[str]:
        """Return an agent's sessions that are not on disk as the index has them."""
        paths = self._reader.paths
        folder = paths.root / paths.sessions(agent)
        there = {f"{paths.sessions(agent)}/{one.name}" for one in folder.glob("*.md")}
        stamps = "SELECT path, mtime_ns, ctime_ns, size FROM files WHERE agent = ? AND kind = ?"
        with self._database.read() as connection:
            rows = connection.execute(stamps, (agent, "message"))
            known = {path: FileStat(*stamp) for path, *stamp in rows}
        return [one for one in there | known.keys() if self._reader.stat(one) != known.get(one)]
