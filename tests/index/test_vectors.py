"""Vectors in Chroma: real folders, damage included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.index.vectors import store as module
from vaultmind.index.chroma import ChromaStore, StoreBroken

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

EMBEDDER = HashEmbedder()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChromaStore]:
    made = ChromaStore(tmp_path / "chroma")
    made.open()
    yield made
    made.close()


def vectors(number: int, seed: int = 0) -> Matrix:
    rows = np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def names(number: int) -> list[str]:
    return [f"c{index}" for index in range(number)]


def folders(store: ChromaStore) -> list[Path]:
    return [entry for entry in store._folder.iterdir() if entry.is_dir()]


def test_an_unknown_collection_is_empty(store: ChromaStore) -> None:
    assert store.query("fact-nobody", vectors(1)[0], 5) == []
    assert store.count("fact-nobody") == 0
    assert store.ids("fact-nobody") == set()
    store.delete("fact-nobody", ["a"])
    store.drop("fact-nobody")


def test_it_all_survives_closing(tmp_path: Path) -> None:
    first = ChromaStore(tmp_path)
    first.open()
    first.upsert("note", names(120), vectors(120))
    first.delete("note", ["c3", "unknown"])
    first.close()
    second = ChromaStore(tmp_path)
    second.open()
    assert second.ids("note") == set(names(120)) - {"c3"}
    assert second.query("note", vectors(120)[7], 1)[0][0] == "c7"
    second.close()


def test_a_dropped_collection_leaves_nothing_on_disk(store: ChromaStore) -> None:
    store.upsert("note", names(10), vectors(10))
    assert len(folders(store)) == 1
    store.drop("note")
    assert folders(store) == []
    assert store.collections() == ()


def test_a_bloated_collection_is_rebuilt_and_still_answers(store: ChromaStore) -> None:
    rows = vectors(400)
    store.upsert("note", names(400), rows)
    store.delete("note", names(390))
    assert store.bloated() == ("note",)
    kept = names(400)[390:]
    store.rebuild("note", lambda: [(kept, rows[390:])])
    assert store.bloated() == ()
    assert store.ids("note") == set(kept)
    assert {name for name, _ in store.query("note", rows[0], 10)} == set(kept)
    assert len(folders(store)) == 1


@pytest.mark.parametrize("victim", ["chroma.sqlite3", "names.json", "data_level0.bin"])
def test_a_damaged_folder_is_replaced_by_a_fresh_one(tmp_path: Path, victim: str) -> None:
    first = ChromaStore(tmp_path)
    first.open()
    first.upsert("note", names(1200), vectors(1200))
    first.close()
    found = list(tmp_path.rglob(victim))
    assert found, f"Chroma no longer writes {victim}"
    for file in found:
        file.write_bytes(b"\xde\xad\xbe\xef" * 200)
    second = ChromaStore(tmp_path)
    second.open()
    assert second.collections() == ()
    second.upsert("note", ["new"], vectors(1))
    assert second.ids("note") == {"new"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["2"]
    second.close()


def test_a_probe_that_never_answers_counts_as_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ChromaStore(tmp_path).reset()
    monkeypatch.setattr(module, "_PROBE_SECONDS", 0.01)
    assert "no answer" in module._probed(tmp_path / "1", lambda process: None)


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file, not a folder")
    with pytest.raises(StoreBroken, match="cannot be opened"):
        ChromaStore(tmp_path / "chroma").open()
