"""Messages that may say a thing, for the forgetting side. Implements ports.MessageFinder."""

from __future__ import annotations

from vaultmind.index.found import chunks_of
from vaultmind.index.text import TextIndex
from vaultmind.index.where import Where
from vaultmind.types import MessageRef


class Messages:
    """Finds messages by any of the words of a text, in any inflection."""

    def __init__(self, text: TextIndex) -> None:
        self._text = text

    def messages_about(self, agent: str, text: str, limit: int) -> list[tuple[MessageRef, str]]:
        """Return candidate messages of an agent with their whole texts, likeliest first."""
        found = self._text.search(text, Where(agents=(agent,), kinds=("message",)), limit)
        with self._text.database.read() as connection:
            chunks = chunks_of(connection, [hit.rowid for hit in found])
            refs: dict[tuple[str, str, str], MessageRef] = {}
            for hit in found:
                chunk = chunks.get(hit.rowid)
                if chunk is None:
                    continue
                ref = MessageRef(
                    agent, chunk.session, chunk.anchor.removeprefix("#^"), chunk.message
                )
                if ref.block or ref.id:
                    refs.setdefault((chunk.path, ref.block, ref.id), ref)
            pieces = (
                "SELECT text FROM chunks WHERE path = ? AND block = ? AND message = ?"
                " ORDER BY ordinal"
            )
            return [
                (ref, "\n".join(row[0] for row in connection.execute(pieces, key)))
                for key, ref in refs.items()
            ]
