"""Messages that may say a thing, for the forgetting side. Implements ports.MessageFinder.

The index is asked, and in its stead the file of each session that it does not have as it stands:
while it is being made, right after a start, or in the second before a change is taken in. What is
to be forgotten must be found whatever the index knows.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log1p
from pathlib import PurePosixPath

from vaultmind.errors import IndexUnavailable, VaultMindError
from vaultmind.index.db import chunks_of
from vaultmind.index.search import Finder
from vaultmind.index.where import Where
from vaultmind.types import MessageRef
from vaultmind.vault.files import FileStat, VaultReader, stat_of
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.transcript import parse_session

_WORD = re.compile(r"[^\W_]+")
_BEGINNING = 2
"""Letters that the forms of one word have in common, at least."""
_NO_SPACES = "\u0e00"
"""From here on there are scripts that do not part words: all of them may say anything."""

_MOST = 0.7
"""All messages are likely that have so much of the words, the rare ones counting more."""

Found = tuple[MessageRef, str]
Said = tuple[Found, frozenset[str]]
"""A message with how its words begin; with nothing for what a script without spaces says."""

log = logging.getLogger(__name__)


class Messages:
    """Finds messages by any of the words of a text, in any inflection. Any thread."""

    def __init__(self, finder: Finder, reader: VaultReader) -> None:
        self._finder = finder
        self._database = finder.columns.database
        self._reader = reader

    def messages_about(self, agent: str, text: str, limit: int) -> list[Found]:
        """Return candidate messages of an agent with their whole texts, likeliest first.

        Of those that the index does not have, the ones with most of the words come besides.
        """
        try:
            indexed, known = self._indexed(agent, text, limit), self._known(agent)
        except (IndexUnavailable, sqlite3.Error) as error:
            log.warning("the index finds no messages, the sessions themselves are read: %s", error)
            indexed, known = [], {}
        unread = {path for path, stat in self._files(agent) if known.get(path) != stat}
        fresh = [found for path, found in indexed if path not in unread]
        newest_first = sorted(unread, reverse=True)
        read = [said for path in newest_first for said in self._said_in(agent, path)]
        return [*fresh, *_likely(read, _beginnings(text), limit)]

    def _indexed(self, agent: str, text: str, limit: int) -> list[tuple[str, Found]]:
        """Return what the index finds, each with the path of its session."""
        where = Where(agents=(agent,), kinds=("message",))
        found = self._finder.saying(text, where, limit)
        with self._database.read() as connection:
            chunks = chunks_of(connection, found)
            refs: dict[tuple[str, str, str], MessageRef] = {}
            for rowid in found:
                chunk = chunks.get(rowid)
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
                (key[0], (ref, "\n".join(row[0] for row in connection.execute(pieces, key))))
                for key, ref in refs.items()
            ]

    def _known(self, agent: str) -> dict[str, FileStat]:
        """Return the stamps of an agent's sessions that the index has."""
        stamps = "SELECT path, mtime_ns, ctime_ns, size FROM files WHERE agent = ? AND kind = ?"
        with self._database.read() as connection:
            rows = connection.execute(stamps, (agent, "message"))
            return {path: FileStat(*stamp) for path, *stamp in rows}

    def _files(self, agent: str) -> Iterator[tuple[str, FileStat]]:
        """Yield an agent's sessions as they stand on disk."""
        paths = self._reader.paths
        folder = paths.sessions(agent)
        try:
            with os.scandir(paths.root / folder) as entries:
                for entry in entries:
                    is_ours = entry.name.endswith(".md") and SESSION_ID.fullmatch(entry.name[:-3])
                    if is_ours and entry.is_file(follow_symlinks=False):
                        yield f"{folder}/{entry.name}", stat_of(entry.stat())
        except FileNotFoundError:
            return  # it has none
        except OSError as error:
            log.warning("the sessions of %s were not looked at: %s", agent, error)

    def _said_in(self, agent: str, path: str) -> list[Said]:
        """Return the messages of a session; none of one that cannot be read, so not recalled."""
        try:
            file = self._reader.read(path)
        except VaultMindError:
            return []
        session = PurePosixPath(path).stem
        said = (placed.message for placed in parse_session(file.text).messages)
        return [
            ((MessageRef(agent, session, one.block, one.id), one.text), _beginnings(one.text))
            for one in said
            if (one.block or one.id) and not (one.asked or one.erased)
        ]


def _likely(said: Sequence[Said], wanted: frozenset[str], limit: int) -> list[Found]:
    """Return the messages that have some of the wanted words, those with most of them first.

    Those with nearly all of them however many they are, and of the rest as many as the limit is.
    """
    met = Counter(one for _, begin in said for one in begin & wanted)
    weight = {one: log1p(len(said) / (1 + met[one])) for one in wanted}
    enough = _MOST * sum(weight[one] for one in met)
    scored = [
        (enough if not (wanted and begin) else sum(weight[one] for one in begin & wanted), found)
        for found, begin in said
    ]
    scored.sort(key=lambda one: one[0], reverse=True)
    return [
        found
        for at, (score, found) in enumerate(scored)
        if score >= enough or (score > 0 and at < limit)
    ]


def _beginnings(text: str) -> frozenset[str]:
    """Return how the words of a text begin, without case and accents.

    Nothing where that tells nothing: in scripts without spaces.
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD.findall("".join(one for one in plain if not unicodedata.combining(one)))
    if any(word[-1] >= _NO_SPACES for word in words):
        return frozenset()
    return frozenset(word[:_BEGINNING] for word in words)
