"""The index database: one writer, free readers, and a new start when the file is damaged."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from vaultmind.errors import IndexUnavailable
from vaultmind.index.db import Database


def test_a_write_is_seen_by_readers_only_once_it_is_whole(tmp_path: Path) -> None:
    database = Database(tmp_path / "state" / "index.db")
    seen: list[str] = []
    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('a', '1')")
        reader = threading.Thread(target=lambda: seen.append(database.get("a", "nothing")))
        reader.start()
        reader.join(5)
        assert database.get("a") == "1"
    assert seen == ["nothing"]
    assert database.get("a") == "1"
    database.close()


def test_a_file_that_is_damaged_at_work_says_so_and_the_next_opening_begins_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "index.db"
    database = Database(path)
    database.set("a", "1")
    database.compact()
    for suffix in ("", "-wal"):
        file = path.with_name(f"{path.name}{suffix}")
        with file.open("r+b") as opened:
            opened.write(b"\x5a" * file.stat().st_size)
    with pytest.raises(IndexUnavailable, match="damaged"):
        database.get("a")
    database.close()
    again = Database(path)
    assert again.get("a", "nothing") == "nothing"
    again.close()
    path.write_bytes(b"this is not a database" * 500)
    again = Database(path)
    again.set("a", "1")
    assert again.get("a") == "1" and "not a database" in again.note
    again.close()
