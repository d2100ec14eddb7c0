"""Damage that shows where an index is asked: told to whoever mends it, and to whoever asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vaultmind.errors import IndexUnavailable

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_UNREADABLE = (
    sqlite3.SQLITE_IOERR_READ,
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
)
"""A file that was cut short is no longer to be read, and that is no DatabaseError of Python's."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Takes errors of the database from those who read it. Any thread."""

    tell: Callable[[sqlite3.DatabaseError], None]
    """Never blocks."""

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Tell of a database that cannot be read, and raise IndexUnavailable for it."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            self.tell(error)
            raise IndexUnavailable(
                f"The index cannot be read now ({error}).",
                hint="It is looked after in the background: ask again in a moment.",
            ) from error


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Tell whether an error says that the file itself is damaged.

    A full disk, a lock or a connection that was closed for a new file say no such thing.
    """
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _DAMAGED or code in _UNREADABLE or type(error) is sqlite3.DatabaseError


def renewal(reason: str) -> str:
    """Return as a sentence that a damaged database was replaced; nothing where none was."""
    return f"The index database was damaged ({reason}) and made anew." if reason else ""
