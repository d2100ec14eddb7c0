"""ranker/{known,held}, index/storage/journal: what is kept in memory is what the database holds."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.index.vault import Vault
from vaultmind.index.rank import Memory
from vaultmind.index.ranker.held import HeldVectors
from vaultmind.index.ranker.known import KnownChunks
from vaultmind.types import PERSON, SearchRequest

WIDTH = 16


def told(known: KnownChunks, rowids: list[int]) -> list[object]:
    """Return all that is known of some chunks."""
    at = np.array(rowids, dtype=np.int64)
    files = known.files(at).tolist()
    return [
        [known.hashes[one] for one in rowids],
        [known.times[one] for one in rowids],
        known.langs_of(at),
        [known.speakers[one] for one in known.speaker_numbers(at)],
        known.letters(at).tolist(),
        known.kind_is(at, "note").tolist(),
        known.asks(at).tolist(),
        known.ends_asking(at).tolist(),
        known.of_self(at).tolist(),
        [one.tolist() for one in known.links(at)],
        [known.beside(at, apart).tolist() for apart in (-2, -1, 1, 2)],
        [files.index(file) for file in files],
    ]


def rowids(vault: Vault) -> list[int]:
    with vault.database.read() as connection:
        return [row[0] for row in connection.execute("SELECT rowid FROM chunks ORDER BY rowid")]


@pytest.fixture
def cache(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE embeddings (text_hash BLOB, embedder TEXT, vector BLOB)")
    return connection


def put(connection: sqlite3.Connection, count: int, embedder: str = "one") -> np.ndarray:
    rows = np.random.default_rng(1).normal(size=(count, WIDTH)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    connection.executemany(
        "INSERT INTO embeddings VALUES (?, ?, ?)",
        [(name(at), embedder, row.tobytes()) for at, row in enumerate(rows)],
    )
    return rows


def name(at: int) -> bytes:
    return at.to_bytes(4, "big")


def test_the_oldest_make_room_and_come_back(cache: sqlite3.Connection) -> None:
    rows = put(cache, 3_000)
    vectors = HeldVectors(most_bytes=1)  # room for the first 1,024 all the same
    for start in (0, 900, 1_800, 0):
        wanted = list(range(start, start + 900))
        held, known = vectors.of(cache, [name(at) for at in wanted], "one", WIDTH)
        assert known.all()
        assert np.abs(held - rows[wanted]).max() < 0.01


def test_after_an_erasure_nothing_is_held(vault: Vault) -> None:
    memory = Memory()
    memory.follow(vault.database)
    with vault.database.write() as connection:
        row = np.ones(WIDTH, np.float32).tobytes()
        connection.execute("INSERT INTO embeddings VALUES (?, 'one', ?)", (name(0), row))
    with vault.database.read() as connection:
        assert memory.vectors.of(connection, [name(0)], "one", WIDTH)[1].all()
    with vault.database.write() as connection:
        connection.execute("DELETE FROM embeddings")
    vault.database.compact()
    memory.follow(vault.database)
    with vault.database.read() as connection:
        assert not memory.vectors.of(connection, [name(0)], "one", WIDTH)[1].any()


def note(number: int, version: int) -> str:
    """Return a text that names times and numbers, of more parts in some versions."""
    parts = (
        f"## Part {part}\n\nOn 2026-0{1 + part}-1{part} Anna paid {number + version} coins?"
        for part in range(3 + version % 4)
    )
    return "\n\n".join(parts)


def test_searches_that_read_texts_survive_notes_that_are_rewritten_meanwhile(vault: Vault) -> None:
    """What is known of the chunks and what the database holds may be of two moments."""

    for number in range(8):
        vault.put(f"Oven {number}.md", note(number, 0))
    ended = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        version = 0
        while not ended.is_set():
            version += 1
            path = f"Oven {version % 8}.md"
            if version % 5 == 0:
                (vault.paths.root / path).unlink(missing_ok=True)
                vault.refresh([path])
            else:
                vault.put(path, note(version % 8, version))

    def ask(query: str) -> None:
        try:
            for _ in range(12):
                vault.search(SearchRequest(query), PERSON)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    questions = (
        "when did Anna pay?",
        "how many coins in March?",
        "what did Anna pay on 2026-02-11?",
    )
    askers = [threading.Thread(target=ask, args=(one,)) for one in questions]
    for thread in (writer, *askers):
        thread.start()
    for thread in askers:
        thread.join()
    ended.set()
    writer.join()
    assert failed == []
