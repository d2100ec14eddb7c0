"""What ranking must know of every chunk, in memory: where it stands, and what can be told of it
whatever is asked.

A search looks at some seven hundred chunks. Read one by one they take longer than all else; here
they are columns, indexed by rowid, of which only those of files that were written are read again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vaultmind.index.ranker import asking
from vaultmind.index.ranker.scene import Flags, Ints
from vaultmind.index.ties import name_of
from vaultmind.index.touched import NEVER, Touched
from vaultmind.types import KINDS

_CHUNKS = """SELECT rowid, id, path, speaker, kind, lang, time, text_hash, text FROM chunks
    {} ORDER BY path, ordinal"""
_LINKS = "SELECT path, name FROM ties WHERE kind = 'link' {}"
_ASKS, _ENDS_ASKING, _OF_SELF = 1, 2, 4
_COLUMNS = 5
_BATCH = 400
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}


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
        self._file_of: list[int] = []
        self._place_of: list[int] = []
        """Of each rowid, as lists: they are looked up one by one."""
        self._numbers: NDArray[np.int32] = np.zeros((0, _COLUMNS), dtype=np.int32)
        """Of each rowid the speaker, kind, language, letters, flags."""
        self.paths: list[str] = []
        self.speakers: list[str] = []
        self.langs: list[str] = []
        self._number_of: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
        self._runs: list[list[int]] = []
        """The rowids of each file, in its order."""
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

    def follow(self, connection: sqlite3.Connection, touched: Touched, before: int) -> bool:
        """Read what was written since the last time; return whether that was everything.

        `before`: the mark when the snapshot of `connection` was not begun yet. The caller holds
        `lock`.
        """
        if before == self._mark:
            return False
        _, paths = touched.since(self._mark)
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
            if self._file_of[rowid] == number:  # else another file has it by now
                self._rowid_of.pop(self._ids[rowid], None)
                self._says.pop(rowid, None)
                self.hashes[rowid], self.times[rowid], self._ids[rowid] = b"", "", ""
        self._runs[number] = []
        self._linked.subtract(set(self._links[number]))
        self._links[number] = []

    def _read(self, rows: Iterable[tuple[int, str, str, str, str, str, str, bytes, str]]) -> None:
        found: list[tuple[int, ...]] = []
        for rowid, name, path, speaker, kind, lang, time, text_hash, text in rows:
            file = self._file(path)
            run = self._runs[file]
            flags = (
                _ASKS * ("?" in text)
                | _ENDS_ASKING * text.rstrip().endswith("?")
                | _OF_SELF * bool(asking.says_i(text))
            )
            who = _number(self._number_of[1], self.speakers, speaker)
            tongue = _number(self._number_of[2], self.langs, lang)
            found.append((rowid, who, _KIND_NUMBER[kind], tongue, len(text), flags))  # type: ignore[index]
            self._make_room(rowid)
            self._file_of[rowid], self._place_of[rowid] = file, len(run)
            self.hashes[rowid], self.times[rowid], self._ids[rowid] = text_hash, time, name
            self._rowid_of[name] = rowid
            run.append(rowid)
        if found:
            table = np.array(found, dtype=np.int64)
            self._numbers[table[:, 0]] = table[:, 1:]

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
            self._file_of += [-1] * lacking
            self._place_of += [0] * lacking
        if rowid >= len(self._numbers):
            more = np.zeros((max(1_024, rowid + 1), _COLUMNS), dtype=np.int32)
            self._numbers = np.concatenate([self._numbers, more])

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
            self._says[rowid] = asking.says_time(text), asking.says_number(text)
        return [self._says.get(rowid, (0.0, 0.0)) for rowid in rowids]

    def unsaid(self, rowids: Iterable[int]) -> list[int]:
        """Return those of some chunks that were not asked yet what they name."""
        return [rowid for rowid in rowids if rowid not in self._says]

    def beside(self, rowid: int, apart: int) -> int:
        """Return the rowid of what stands so many places further in its file; 0 for nothing."""
        run, at = self._runs[self._file_of[rowid]], self._place_of[rowid] + apart
        return run[at] if 0 <= at < len(run) else 0

    def around(self, rowid: int, reach: int) -> Iterator[int]:
        """Yield the rowids of what stands up to so many places away, before and after."""
        run, place = self._runs[self._file_of[rowid]], self._place_of[rowid]
        yield from run[max(0, place - reach) : place]
        yield from run[place + 1 : place + 1 + reach]

    def files(self, rowids: Sequence[int]) -> Ints:
        """Return the number of each chunk's file among those of these chunks."""
        _, numbers = np.unique([self._file_of[one] for one in rowids], return_inverse=True)
        files: Ints = numbers.astype(np.int64)
        return files

    def speaker_numbers(self, rowids: Ints) -> Ints:
        """Return the place of each chunk's speaker in `speakers`."""
        numbers: Ints = self._numbers[rowids, 0].astype(np.int64)
        return numbers

    def kind_is(self, rowids: Ints, kind: str) -> Flags:
        """Tell which chunks are of a kind."""
        found: Flags = self._numbers[rowids, 1] == _KIND_NUMBER[kind]  # type: ignore[index]
        return found

    def lang_of(self, rowid: int) -> str:
        """Return a chunk's language."""
        return self.langs[int(self._numbers[rowid, 2])]

    def foreign(self, rowids: Ints, lang: str) -> Flags:
        """Tell which chunks are in another language than one."""
        own = [self._number_of[2].get(one, -1) for one in ("", lang)]
        found: Flags = ~np.isin(self._numbers[rowids, 2], own)
        return found

    def letters(self, rowids: Ints) -> Ints:
        """Return the length of each chunk's text."""
        letters: Ints = self._numbers[rowids, 3].astype(np.int64)
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

    def links(self, rowids: Sequence[int]) -> tuple[Ints, Ints]:
        """Return how many files link to each chunk's file, and how many links that file has."""
        files = [self._file_of[one] for one in rowids]
        into = [self._linked[self._names[file]] for file in files]
        out = [len(self._links[file]) for file in files]
        return np.array(into, dtype=np.int64), np.array(out, dtype=np.int64)

    def _flag(self, rowids: Ints, flag: int) -> Flags:
        found: Flags = (self._numbers[rowids, 4] & flag) > 0
        return found


def _number(numbers: dict[str, int], names: list[str], name: str) -> int:
    number = numbers.get(name)
    if number is None:
        number = numbers[name] = len(names)
        names.append(name)
    return number
