"""The index database: one writer, free readers, and a new start when the file is damaged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmind.index.db import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "state" / "index.db")
    yield made
    made.close()


def test_a_write_is_seen_by_readers_only_once_it_is_whole(database: Database) -> None:
    seen: list[str] = []
    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', '1')")
        reader = threading.Thread(target=lambda: seen.append(database.get("a", "nothing")))
        reader.start()
        reader.join(5)
        assert database.get("a") == "1"
    assert seen == ["nothing"]
    assert database.get("a") == "1"


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"this is not a database" * 500)
    database = Database(path)
    database.set("a", "1")
    assert database.get("a") == "1"
    assert "not a database" in database.renewed
    database.close()


def test_renewing_does_not_disturb_a_reader_at_work(database: Database) -> None:
    database.set("a", "1")
    with database.read() as connection:
        connection.execute("SELECT * FROM meta").fetchall()
        writer = threading.Thread(target=database.renew, args=("a test",))
        writer.start()
        writer.join(5)
        assert connection.execute("SELECT value FROM meta WHERE key='a'").fetchone() == ("1",)
    assert database.get("a", "nothing") == "nothing"
