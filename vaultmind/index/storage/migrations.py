"""The schema of the index database, as small named steps, each recorded with its change."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable


def migrate(connection: sqlite3.Connection) -> None:
    """Apply the steps that a database lacks, each in one transaction with its record."""
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
    done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    for step in STEPS:
        if step.__name__ not in done:
            connection.execute("BEGIN IMMEDIATE")
            try:
                step(connection)
                connection.execute("INSERT INTO migrations VALUES (?)", (step.__name__,))
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def files_and_chunks(connection: sqlite3.Connection) -> None:
    """Create what mirrors the vault: a row a file, a row a chunk.

    `chunks.tags` is ` a/b c ` (a space around each). `chunks.embedded`: see `database.WAITING`.
    """
    connection.execute(
        """CREATE TABLE files (
            path TEXT PRIMARY KEY, kind TEXT NOT NULL, agent TEXT NOT NULL,
            mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
            sha TEXT NOT NULL, title TEXT NOT NULL, lang TEXT NOT NULL, time TEXT NOT NULL,
            indexed_at TEXT NOT NULL, fault TEXT NOT NULL, severity TEXT NOT NULL
        ) WITHOUT ROWID"""
    )
    connection.execute(
        """CREATE TABLE chunks (
            rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
            ordinal INTEGER NOT NULL, kind TEXT NOT NULL, agent TEXT NOT NULL,
            anchor TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
            start INTEGER NOT NULL, "end" INTEGER NOT NULL, lang TEXT NOT NULL,
            tags TEXT NOT NULL, time TEXT NOT NULL, session TEXT NOT NULL,
            message TEXT NOT NULL, block TEXT NOT NULL, speaker TEXT NOT NULL,
            role TEXT NOT NULL, text_hash BLOB NOT NULL, embedded INTEGER NOT NULL
        )"""
    )
    connection.execute("CREATE INDEX chunks_by_path ON chunks (path, ordinal)")
    connection.execute("CREATE INDEX chunks_by_kind ON chunks (kind, agent, embedded)")
    connection.execute("CREATE INDEX chunks_waiting ON chunks (kind) WHERE embedded = 0")


def full_text(connection: sqlite3.Connection) -> None:
    """Create the full-text table; its rowids are those of the chunks, its terms come folded."""
    connection.execute(
        "CREATE VIRTUAL TABLE fts USING fts5"
        "(words, stems, title, tokenize = 'unicode61 remove_diacritics 0')"
    )


def vectors(connection: sqlite3.Connection) -> None:
    """Create the cache of vectors (float32) and the list of those Chroma must still delete."""
    connection.execute(
        """CREATE TABLE embeddings (
            text_hash BLOB NOT NULL, embedder TEXT NOT NULL, vector BLOB NOT NULL,
            PRIMARY KEY (text_hash, embedder)
        ) WITHOUT ROWID"""
    )
    connection.execute(
        """CREATE TABLE vector_deletes (
            id TEXT NOT NULL, collection TEXT NOT NULL, PRIMARY KEY (id, collection)
        ) WITHOUT ROWID"""
    )


def meta(connection: sqlite3.Connection) -> None:
    """Create the table of single values: versions, the embedder in use, clean shutdown."""
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")


def vocabulary(connection: sqlite3.Connection) -> None:
    """Show the tokens of the full-text table as a table, with the chunks each is in."""
    connection.execute("CREATE VIRTUAL TABLE fts_vocabulary USING fts5vocab(fts, 'row')")


def ties(connection: sqlite3.Connection) -> None:
    """Create the table of what ties files together: see `ties.Tie`. Indexing anew fills it."""
    connection.execute(
        """CREATE TABLE ties (
            rowid INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL,
            name TEXT NOT NULL, target TEXT NOT NULL, anchor TEXT NOT NULL, chunk TEXT NOT NULL
        )"""
    )
    connection.execute("CREATE INDEX ties_by_path ON ties (path)")
    connection.execute("CREATE INDEX ties_by_name ON ties (name, kind)")


def occurrences(connection: sqlite3.Connection) -> None:
    """Show where each token of the full-text table stands, as a table."""
    connection.execute("CREATE VIRTUAL TABLE fts_occurrences USING fts5vocab(fts, 'instance')")


def times(connection: sqlite3.Connection) -> None:
    """Order the chunks that have a time of their own by it, the latest first."""
    connection.execute("CREATE INDEX chunks_by_time ON chunks (time DESC) WHERE time <> ''")


STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    files_and_chunks,
    full_text,
    vectors,
    meta,
    vocabulary,
    ties,
    occurrences,
    times,
)
