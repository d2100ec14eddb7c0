"""The index database: one writer, free readers, and a new start when the file is damaged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vaultmind.errors import IndexUnavailable
from vaultmind.index.storage.database import Database
from vaultmind.index.storage.migrations import STEPS, migrate


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


def test_a_failed_write_leaves_nothing_behind(database: Database) -> None:
    before = database.version
    with pytest.raises(ZeroDivisionError), database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', '1')")
        raise ZeroDivisionError
    assert database.get("a", "nothing") == "nothing"
    assert database.version == before


def test_a_nested_write_joins_the_outer_one(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.write():
        database.set("a", "1")
        raise ZeroDivisionError
    assert database.get("a", "nothing") == "nothing"


def test_a_reader_sees_one_state_throughout(database: Database) -> None:
    database.set("a", "1")
    query = "SELECT value FROM meta WHERE key = 'a'"
    with database.read() as connection:
        assert connection.execute(query).fetchone() == ("1",)
        writer = threading.Thread(target=database.set, args=("a", "2"))
        writer.start()
        writer.join(5)
        assert connection.execute(query).fetchone() == ("1",)
    assert database.get("a") == "2"


def test_readers_cannot_write(database: Database) -> None:
    with database.read() as connection, pytest.raises(sqlite3.OperationalError):
        connection.execute("DELETE FROM meta")


def test_a_damaged_file_is_set_aside_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"this is not a database" * 500)
    database = Database(path)
    database.set("a", "1")
    assert database.get("a") == "1"
    assert "not a database" in database.renewed
    database.close()
    assert (tmp_path / "index.db.damaged").read_bytes().startswith(b"this is not")


def test_damage_inside_the_file_is_found_by_the_check(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    database = Database(path)
    with database.write() as connection:
        rows = [(f"key {number}", "x" * 500) for number in range(500)]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
    assert database.check() == ""
    database.close()
    data = bytearray(path.read_bytes())
    page = len(data) * 3 // 4 // 4096 * 4096
    data[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    damaged = Database(path)
    assert damaged.check() != ""
    damaged.renew("the test broke it")
    assert damaged.check() == ""
    assert damaged.get("key 1") == ""
    damaged.close()


def test_renewing_does_not_disturb_a_reader_at_work(database: Database) -> None:
    database.set("a", "1")
    with database.read() as connection:
        connection.execute("SELECT * FROM meta").fetchall()
        writer = threading.Thread(target=database.renew, args=("a test",))
        writer.start()
        writer.join(5)
        assert connection.execute("SELECT value FROM meta WHERE key='a'").fetchone() == ("1",)
    assert database.get("a", "nothing") == "nothing"


def test_it_knows_whether_it_was_closed_in_good_order(tmp_path: Path) -> None:
    first = Database(tmp_path / "index.db")
    assert first.was_clean
    first.close()
    second = Database(tmp_path / "index.db")
    assert second.was_clean
    killed = sqlite3.connect(tmp_path / "index.db")
    assert killed.execute("SELECT value FROM meta WHERE key='clean'").fetchone() == ("0",)
    killed.close()
    second.close()


def test_a_closed_database_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / "index.db")
    database.close()
    database.close()
    with pytest.raises(IndexUnavailable), database.read():
        pass
    with pytest.raises(IndexUnavailable), database.write():
        pass


def test_every_migration_is_recorded_and_applied_once(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    migrate(connection)
    migrate(connection)
    names = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    connection.close()
    assert names == {step.__name__ for step in STEPS}


def test_whoever_reads_while_a_damaged_file_is_replaced_has_the_new_one_after(
    tmp_path: Path,
) -> None:
    for round_ in range(8):
        database = Database(tmp_path / f"{round_}.db")
        database.set("word", "old")
        stop, faults = threading.Event(), list[Exception]()

        def read(from_: Database = database, until: threading.Event = stop) -> None:
            while not until.is_set():
                try:
                    from_.get("word")
                except sqlite3.Error as error:
                    faults.append(error)  # noqa: B023

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        database.renew("a test")
        stop.set()
        for reader in readers:
            reader.join()
        assert not faults and [database.get("word") for _ in range(4)] == [""] * 4
        database.close()
