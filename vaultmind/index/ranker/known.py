"""What ranking must know of every chunk, in memory: where it stands, and what can be told of it
whatever is asked.

A search looks at some seven hundred chunks. Read one by one they take longer than all else; here
they are columns, indexed by rowid, of which only those of files that were written are read again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker import asking
from vaultmind.index.ranker.scene import Flags, Ints
from vaultmind.index.relations.ties import name_of
from vaultmind.index.storage.journal import NEVER, Journal
from vaultmind.types import KINDS

_CHUNKS = """SELECT rowid, id, path, speaker, kind, lang, time, text_hash, text FROM chunks
    {} ORDER BY path, ordinal"""
_LINKS = "SELECT path, name FROM ties WHERE kind = 'link' {}"
_ASKS, _ENDS_ASKING, _OF_SELF = 1, 2, 4
_SPEAKER, _KIND, _LANG, _LETTERS, _FLAGS, _FILE, _BEFORE, _AFTER = range(8)
_COLUMNS = 8
_BATCH = 400
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_FACT = _KIND_NUMBER["fact"]


class KnownChunks:
    """Columns by rowid. Whoever reads them holds `lock` from `follow` on."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._mark = NEVER
        self._clear()

    def _clear(self) -> None:
        self.hashes: list[bytes] = []
        """Of each rowid's text, the key of its vector; empty where there is no chunk."""
        self.times: list[str] = []
        self._ids: list[str] = []
        self._rowid_of: dict[str, int] = {}
        self._says: dict[int, tuple[float, float]] = {}
        self._numbers: NDArray[np.int32] = np.zeros((_COLUMNS, 1), dtype=np.int32)
        """Of each rowid the speaker, kind, language, letters, flags, file, and the rowids of what
        stands right before and after it in the file; 0 for nothing, which no chunk is. A fact has
        nothing beside it: what stands around it in a list says nothing about it."""
        self.paths: list[str] = []
        self.speakers: list[str] = []
        self.langs: list[str] = []
        self._number_of: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
        self._runs: list[list[int]] = []
        """The rowids of each file."""
        self._names: list[str] = []
        """What links call each file."""
        self._links: list[list[str]] = []
        """What each file links to, as often as it does."""
        self._linked: Counter[str] = Counter()
        """How many files link to a name."""

    # --- keeping up ----------------------------------------------------------------------

    def is_at(self, mark: int) -> bool:
        """Tell whether all that was written up to a mark is known."""
        return mark == self._mark

    def follow(self, connection: sqlite3.Connection, journal: Journal, before: int) -> bool:
        """Read what was written since the last time; return whether that was everything.

        `before`: the mark when the snapshot of `connection` was not begun yet. The caller holds
        `lock`.
        """
        if before == self._mark:
            return False
        _, paths = journal.since(self._mark)
        if paths is None:
            self._clear()
            self._read(connection.execute(_CHUNKS.format("")))
            self._read_links(connection.execute(_LINKS.format("")))
        else:
            self._read_again(connection, sorted(paths))
        self._mark = before
        return paths is None

    def _read_again(self, connection: sqlite3.Connection, paths: Sequence[str]) -> None:
        for path in paths:
            self._drop(path)
        for at in range(0, len(paths), _BATCH):
            some = paths[at : at + _BATCH]
            within = f"path IN ({', '.join('?' * len(some))})"
            self._read(connection.execute(_CHUNKS.format(f"WHERE {within}"), some))
            self._read_links(connection.execute(_LINKS.format(f"AND {within}"), some))

    def _drop(self, path: str) -> None:
        number = self._number_of[0].get(path)
        if number is None:
            return
        for rowid in self._runs[number]:
            if self._numbers[_FILE, rowid] == number:  # else another file has it by now
                self._rowid_of.pop(self._ids[rowid], None)
                self._says.pop(rowid, None)
                self.hashes[rowid], self.times[rowid], self._ids[rowid] = b"", "", ""
                self._numbers[:, rowid] = 0
        self._runs[number] = []
        self._linked.subtract(set(self._links[number]))
        self._links[number] = []

    def _read(self, rows: Iterable[tuple[int, str, str, str, str, str, str, bytes, str]]) -> None:
        found: list[tuple[int, ...]] = []
        for rowid, name, path, speaker, kind, lang, time, text_hash, text in rows:
            file = self._file(path)
            flags = (
                _ASKS * ("?" in text)
                | _ENDS_ASKING * text.rstrip().endswith("?")
                | _OF_SELF * bool(asking.says_i(text))
            )
            who = _number(self._number_of[1], self.speakers, speaker)
            tongue = _number(self._number_of[2], self.langs, lang)
            about = _KIND_NUMBER[kind]  # type: ignore[index]
            found.append((rowid, who, about, tongue, len(text), flags, file))
            self._make_room(rowid)
            self.hashes[rowid], self.times[rowid], self._ids[rowid] = text_hash, time, name
            self._rowid_of[name] = rowid
            self._runs[file].append(rowid)
        if found:
            table = np.array(found, dtype=np.int64).T
            rowids, files = table[0], table[_FILE + 1]
            alone = table[_KIND + 1] == _FACT
            follows = np.append(False, (files[1:] == files[:-1]) & ~alone[1:] & ~alone[:-1])
            before = np.where(follows, np.roll(rowids, 1), 0)
            after = np.where(np.append(follows[1:], False), np.roll(rowids, -1), 0)
            self._numbers[:, rowids] = [*table[1:], before, after]

    def _read_links(self, rows: Iterable[tuple[str, str]]) -> None:
        of: defaultdict[str, list[str]] = defaultdict(list)
        for path, name in rows:
            of[path].append(name)
        for path, names in of.items():
            self._links[self._file(path)] = names
            self._linked.update(set(names))

    def _file(self, path: str) -> int:
        number = _number(self._number_of[0], self.paths, path)
        if number == len(self._runs):
            self._runs.append([])
            self._names.append(name_of(path))
            self._links.append([])
        return number

    def _make_room(self, rowid: int) -> None:
        lacking = rowid + 1 - len(self.hashes)
        if lacking > 0:
            self.hashes += [b""] * lacking
            self.times += [""] * lacking
            self._ids += [""] * lacking
        room = self._numbers.shape[1]
        if rowid >= room:
            more = np.zeros((_COLUMNS, max(1_024, room // 2, rowid + 1 - room)), dtype=np.int32)
            self._numbers = np.concatenate([self._numbers, more], axis=1)

    # --- asking --------------------------------------------------------------------------

    def has(self, rowid: int) -> bool:
        """Tell whether there is a chunk."""
        return rowid < len(self.hashes) and self.hashes[rowid] != b""

    def rowids(self, names: Iterable[str]) -> dict[str, int]:
        """Return the rowid of each chunk that there is, by its id."""
        return {name: rowid for name in names if (rowid := self._rowid_of.get(name))}

    def says(self, rowids: Sequence[int], texts: Mapping[int, str]) -> list[tuple[float, float]]:
        """Return whether chunks name a time, and a number; `texts` of those not asked before."""
        for rowid, text in texts.items():
            self._says[rowid] = asking.says_when(text)
        return [self._says.get(rowid, (0.0, 0.0)) for rowid in rowids]

    def unsaid(self, rowids: Iterable[int]) -> list[int]:
        """Return those of some chunks that were not asked yet what they name."""
        return [rowid for rowid in rowids if rowid not in self._says]

    def beside(self, rowids: Ints, apart: int) -> Ints:
        """Return the rowids of what stands so many places further in each file; 0 for nothing."""
        column = self._numbers[_AFTER if apart > 0 else _BEFORE]
        found: Ints = rowids
        for _ in range(abs(apart)):
            found = column[found]
        return found

    def files(self, rowids: Ints) -> Ints:
        """Return the number of each chunk's file among those of these chunks; a fact's is its own.

        So the other facts of a brain lend it none of their words.
        """
        own = self._numbers[_KIND, rowids] == _FACT
        places = np.where(own, -rowids, self._numbers[_FILE, rowids])
        _, numbers = np.unique(places, return_inverse=True)
        files: Ints = numbers.astype(np.int64)
        return files

    def speaker_numbers(self, rowids: Ints) -> Ints:
        """Return the place of each chunk's speaker in `speakers`."""
        numbers: Ints = self._numbers[_SPEAKER, rowids].astype(np.int64)
        return numbers

    def kind_is(self, rowids: Ints, kind: str) -> Flags:
        """Tell which chunks are of a kind."""
        found: Flags = self._numbers[_KIND, rowids] == _KIND_NUMBER[kind]  # type: ignore[index]
        return found

    def langs_of(self, rowids: Ints) -> list[str]:
        """Return each chunk's language."""
        return [self.langs[at] for at in self._numbers[_LANG, rowids].tolist()]

    def foreign(self, rowids: Ints, lang: str) -> Flags:
        """Tell which chunks are in another language than one."""
        own = [self._number_of[2].get(one, -1) for one in ("", lang)]
        found: Flags = ~np.isin(self._numbers[_LANG, rowids], own)
        return found

    def letters(self, rowids: Ints) -> Ints:
        """Return the length of each chunk's text."""
        letters: Ints = self._numbers[_LETTERS, rowids].astype(np.int64)
        return letters

    def asks(self, rowids: Ints) -> Flags:
        """Tell which chunks have a question mark."""
        return self._flag(rowids, _ASKS)

    def ends_asking(self, rowids: Ints) -> Flags:
        """Tell which chunks end in one."""
        return self._flag(rowids, _ENDS_ASKING)

    def of_self(self, rowids: Ints) -> Flags:
        """Tell in which somebody speaks of themselves."""
        return self._flag(rowids, _OF_SELF)

    def links(self, rowids: Ints) -> tuple[Ints, Ints]:
        """Return how many files link to each chunk's file, and how many links that file has."""
        files = self._numbers[_FILE, rowids].tolist()
        into = [self._linked[self._names[file]] for file in files]
        out = [len(self._links[file]) for file in files]
        return np.array(into, dtype=np.int64), np.array(out, dtype=np.int64)

    def _flag(self, rowids: Ints, flag: int) -> Flags:
        found: Flags = (self._numbers[_FLAGS, rowids] & flag) > 0
        return found


def _number(numbers: dict[str, int], names: list[str], name: str) -> int:
    number = numbers.get(name)
    if number is None:
        number = numbers[name] = len(names)
        names.append(name)
    return number
