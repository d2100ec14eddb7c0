"""ranker/{known,held}, index/storage/journal: what is kept in memory is what the database holds."""

from __future__ import annotations

import random
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.index.vault import Vault
from vaultmind.index.ranker.gather import Memory
from vaultmind.index.ranker.held import HeldVectors
from vaultmind.index.ranker.known import KnownChunks
from vaultmind.index.storage.journal import NEVER, Journal
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


def test_what_is_followed_is_what_is_read_anew(vault: Vault) -> None:
    """Over random writes, edits and deletions, some seen one by one and some together."""
    chance = random.Random(7)
    kept = Memory()
    for step in range(40):
        path = f"Notes/{chance.randrange(6)}.md"
        if chance.random() < 0.25:
            (vault.paths.root / path).unlink(missing_ok=True)
            vault.refresh([path])
        else:
            parts = [f"# {n}\n\nPart {step} {n}?{' See [[Clay]].' * (n % 2)}" for n in range(4)]
            vault.put(path, "\n\n".join(parts[: chance.randrange(1, 5)]))
        if chance.random() < 0.5:
            continue
        kept.follow(vault.database)
        fresh = Memory()
        fresh.follow(vault.database)
        there = rowids(vault)
        assert told(kept.chunks, there) == told(fresh.chunks, there)
        everything = range(len(kept.chunks.hashes) + 3)
        assert [one for one in everything if kept.chunks.has(one)] == there


def test_what_a_chunk_names_is_asked_again_once_its_file_was_written(vault: Vault) -> None:
    memory = Memory()
    vault.put("Kiln.md", "# Kiln\n\nFired on Monday at 1240 degrees.\n")
    memory.follow(vault.database)
    (name,) = vault.ids("Kiln.md")
    (rowid,) = memory.chunks.rowids([name, "no chunk"]).values()
    assert memory.chunks.unsaid([rowid]) == [rowid]
    assert memory.chunks.says([rowid], {rowid: "Fired on Monday at 1240 degrees."}) == [(1.0, 1.0)]
    assert memory.chunks.unsaid([rowid]) == []
    vault.put("Kiln.md", "# Kiln\n\nNever fired.\n")
    memory.follow(vault.database)
    (rowid,) = memory.chunks.rowids(vault.ids("Kiln.md")).values()
    assert memory.chunks.unsaid([rowid]) == [rowid]
    assert memory.chunks.rowids([name]) == {}


def test_only_what_was_written_is_read_again(vault: Vault) -> None:
    memory = Memory()
    memory.follow(vault.database)
    seen: list[str] = []
    vault.put("Clay.md", "# Clay\n\nEarthenware.\n")
    mark = vault.database.journal.version
    with vault.database.read() as connection:
        connection.set_trace_callback(seen.append)
        memory.chunks.follow(connection, vault.database.journal, mark)
        connection.set_trace_callback(None)
    assert seen
    assert all("'Clay.md'" in statement for statement in seen)


def test_a_transaction_that_is_undone_touches_nothing(vault: Vault) -> None:
    mark = vault.database.journal.version
    with pytest.raises(ValueError, match="no"), vault.database.write():
        vault.database.touch("Clay.md")
        raise ValueError("no")
    with vault.database.write():
        pass
    assert vault.database.journal.since(mark) == (mark, frozenset())


def test_whoever_is_far_behind_reads_everything() -> None:
    journal = Journal()
    mark, paths = journal.since(NEVER)
    assert paths is None
    journal.add(["a", "b"])
    assert journal.since(mark) == (2, {"a", "b"})
    assert journal.since(1) == (2, {"b"})
    journal.add(str(n) for n in range(5_000))
    assert journal.since(1) == (5_002, None)
    assert journal.since(5_000) == (5_002, {"4998", "4999"})
    journal.everything()
    assert journal.since(5_002) == (5_003, None)
    assert journal.since(5_003) == (5_003, frozenset())


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


def test_a_held_vector_tells_a_cosine_to_a_hundredth(cache: sqlite3.Connection) -> None:
    rows = put(cache, 50)
    held, known = HeldVectors().of(cache, [name(at) for at in range(50)], "one", WIDTH)
    assert known.all()
    assert np.abs(held @ rows.T - rows @ rows.T).max() < 0.01


def test_what_has_no_vector_is_a_row_of_zeros_until_it_has_one(cache: sqlite3.Connection) -> None:
    vectors = HeldVectors()
    rows, known = vectors.of(cache, [name(0)], "one", WIDTH)
    assert not known.any()
    assert not rows.any()
    put(cache, 1)
    assert vectors.of(cache, [name(0)], "one", WIDTH)[1].all()


def test_the_oldest_make_room_and_come_back(cache: sqlite3.Connection) -> None:
    rows = put(cache, 3_000)
    vectors = HeldVectors(most_bytes=1)  # room for the first 1,024 all the same
    for start in (0, 900, 1_800, 0):
        wanted = list(range(start, start + 900))
        held, known = vectors.of(cache, [name(at) for at in wanted], "one", WIDTH)
        assert known.all()
        assert np.abs(held - rows[wanted]).max() < 0.01


def test_what_one_search_wants_never_makes_room_for_itself(cache: sqlite3.Connection) -> None:
    put(cache, 1_700)
    vectors = HeldVectors(most_bytes=1)
    vectors.of(cache, [name(at) for at in range(1_000)], "one", WIDTH)
    wanted = [name(at) for at in (*range(600), *range(1_000, 1_100))]  # the oldest, and new ones
    assert vectors.of(cache, wanted, "one", WIDTH)[1].all()
    assert vectors.of(cache, [name(at) for at in range(1_700)], "one", WIDTH)[1].all()


def test_vectors_of_another_embedder_or_width_are_others(cache: sqlite3.Connection) -> None:
    put(cache, 2)
    vectors = HeldVectors()
    assert vectors.of(cache, [name(0)], "one", WIDTH)[1].all()
    assert not vectors.of(cache, [name(0)], "two", WIDTH)[1].any()
    assert not vectors.of(cache, [name(0)], "one", WIDTH * 2)[1].any()
    assert vectors.of(cache, [name(0)], "one", WIDTH)[1].all()


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
