"""The files of an index, as its rows say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vaultmind.index.storage.database import Database
from vaultmind.vault.files import FileStat

_AT_ONCE = 500
"""Paths that one question to the database names."""
_COLUMNS = "path, sha, lang, mtime_ns, ctime_ns, size, severity"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index has it. `sha` is empty for one that could not be read."""

    path: str
    sha: str
    lang: str
    stat: FileStat


def file_rows(database: Database, paths: Sequence[str] | None = None) -> list[FileRow]:
    """Return the files that the index has: all of them, or those of some paths."""
    with database.read() as connection:
        if paths is None:
            found = connection.execute(f"SELECT {_COLUMNS} FROM files").fetchall()
        else:
            found = []
            for at in range(0, len(paths), _AT_ONCE):
                some = paths[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                asked = f"SELECT {_COLUMNS} FROM files WHERE path IN ({marks})"
                found += connection.execute(asked, some).fetchall()
    return [
        FileRow(path, "" if severity == "skipped" else sha, lang, FileStat(mtime, ctime, size))
        for path, sha, lang, mtime, ctime, size, severity in found
    ]
