"""Vectors in Chroma: real folders, damage included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.index.vectors import store as module
from vaultmind.index.vectors.store import ChromaStore, StoreBroken, collection_of

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


def test_what_is_stored_is_found_nearest_first(store: ChromaStore) -> None:
    texts = ["red apple pie", "green apple", "blue car"]
    store.upsert("note", ["a", "b", "c"], EMBEDDER.embed(texts))
    found = store.query("note", EMBEDDER.embed_query("red apple pie"), 3)
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert found[0][1] == pytest.approx(0, abs=1e-3)
    assert store.count("note") == 3
    assert store.ids("note") == {"a", "b", "c"}


def test_an_unknown_collection_is_empty(store: ChromaStore) -> None:
    assert store.query("fact-nobody", vectors(1)[0], 5) == []
    assert store.count("fact-nobody") == 0
    assert store.ids("fact-nobody") == set()
    store.delete("fact-nobody", ["a"])
    store.drop("fact-nobody")


@pytest.mark.parametrize("agent", ["", "a", "main", "a-", "a_", "a" * 40])
@pytest.mark.parametrize("kind", ["note", "fact", "message", "summary"])
def test_every_agent_gets_a_collection(store: ChromaStore, kind: str, agent: str) -> None:
    name = collection_of(kind, agent)
    store.upsert(name, ["x"], vectors(1))
    assert store.collections() == (name,)


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


def test_a_rebuild_that_dies_half_way_changes_nothing(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path)
    store.open()
    store.upsert("note", names(20), vectors(20))

    def dies() -> Iterator[tuple[list[str], Matrix]]:
        yield ["c1"], vectors(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.rebuild("note", dies)
    assert store.ids("note") == set(names(20))
    store.close()
    again = ChromaStore(tmp_path)
    again.open()
    assert again.ids("note") == set(names(20))
    assert len(folders(again)) == 1
    again.close()


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


def test_a_probe_looks_into_a_sound_folder_without_importing_the_package(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = ChromaStore(tmp_path)
    first.reset()
    first.upsert("note", names(20), vectors(20))
    first.close()
    assert module._probed(tmp_path / "1", lambda process: None) == ""
    assert not caplog.records, "it knows this version of Chroma"
    code = "import sys; from vaultmind.index.vectors import probe; probe.main(sys.argv[1]);"
    code += "print('chromadb' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "1")], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.split() == [b"False"]


@pytest.mark.parametrize("known", ["native.MigrationMode", "chroma.count"])
def test_another_version_of_chroma_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, known: str
) -> None:
    first = ChromaStore(tmp_path)
    first.reset()
    first.upsert("note", names(20), vectors(20))
    first.close()
    source = Path(module.probe.__file__).read_text("utf-8")
    other = tmp_path / "probe.py"
    other.write_text(source.replace(known, f"{known.partition('.')[0]}.AnotherName"), "utf-8")
    monkeypatch.setattr(module.probe, "__file__", str(other))
    assert module._probed(tmp_path / "1", lambda process: None) == ""
    assert "AnotherName" in caplog.text


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
