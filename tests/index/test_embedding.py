"""The embedding thread: every chunk gets its vector once, whatever breaks meanwhile."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes import HashEmbedder
from tests.index.desk import Desk, chunk_of, nearest
from tests.waiting import until
from vaultmind.index.embedders import patient as patient_module
from vaultmind.index.vectors import embedding as embedding_module
from vaultmind.index.vectors import store as vectors_module
from vaultmind.index.vectors import trust
from vaultmind.index.vectors.embedding import Embedding
from vaultmind.index.vectors.store import ChromaStore

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    for number in range(8):
        made.write(f"n{number}.md", f"note about subject{number} alone")
    made.sync.reconcile()
    yield made
    for embedding in made.running:
        embedding.close()
    made.database.close()


def test_every_chunk_is_found_by_its_vector(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    assert desk.waiting() == 0
    for number in range(8):
        assert nearest(embedding, f"about subject{number}") == chunk_of(desk, f"n{number}.md")
    assert embedding.note == ""
    assert embedding.embedder_id == "hash-1"


def test_nothing_is_embedded_before_the_texts_are_searchable(desk: Desk) -> None:
    embedding = desk.unstarted()
    embedding.start()
    assert desk.waiting() == 8 and embedding.note and not embedding.embedder_id
    embedding.release()
    until(lambda: embedding.settled)
    assert desk.waiting() == 0


def test_changes_reach_the_store(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    gone = chunk_of(desk, "n1.md")
    (desk.vault / "n1.md").unlink()
    desk.write("n2.md", "a different matter altogether")
    desk.sync.reconcile()
    embedding.wake()
    until(lambda: embedding.settled)
    assert nearest(embedding, "different matter altogether") == chunk_of(desk, "n2.md")
    found = embedding.nearest("subject1", ["note"], 20) or []
    assert gone not in {name for name, _ in found}
    assert len(found) == 7
    assert desk.count("SELECT count(*) FROM vector_deletes") == 0


def test_a_rename_embeds_nothing_anew(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    seen = desk.embedder.texts_seen
    (desk.vault / "n1.md").rename(desk.vault / "another name.md")
    (desk.vault / "n2.md").rename(desk.vault / "x.md")
    desk.sync.reconcile()
    embedding.wake()
    until(lambda: embedding.settled)
    assert desk.waiting() == 0
    assert desk.embedder.texts_seen == seen


def test_a_lost_store_is_filled_from_the_cache(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    embedding.close()
    for file in (desk.folder / "chroma").rglob("*"):
        if file.is_file():
            file.write_bytes(b"garbage" * 100)
    again = HashEmbedder()
    embedding = desk.start(again)
    until(lambda: embedding.settled)
    assert nearest(embedding, "subject3") == chunk_of(desk, "n3.md")
    assert again.texts_seen <= 2, "the warm-up and the question, no chunk"


def test_what_a_kill_left_behind_is_repaired_at_the_next_start(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    embedding.close()
    store = ChromaStore(desk.folder / "chroma")
    store.open()
    store.delete("note", [chunk_of(desk, "n3.md")])
    store.upsert("note", ["stray"], desk.embedder.embed(["stray subject9"]))
    store.upsert("fact-gone", ["stray"], desk.embedder.embed(["stray"]))
    store.close()
    embedding = desk.start()
    until(lambda: embedding.settled)
    assert nearest(embedding, "subject3") == chunk_of(desk, "n3.md")
    found = embedding.nearest("stray subject9", ["note", "fact-gone"], 20) or []
    assert len(found) == 8
    assert "stray" not in {name for name, _ in found}


def test_another_embedder_starts_over(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    embedding.close()
    other = HashEmbedder(dim=32, name="hash-2")
    embedding = desk.start(other)
    until(lambda: embedding.settled)
    assert desk.waiting() == 0
    assert nearest(embedding, "subject3") == chunk_of(desk, "n3.md")
    embedding.close()
    back = desk.start()
    until(lambda: back.settled)
    assert nearest(back, "subject3") == chunk_of(desk, "n3.md")


def test_many_deletions_lead_to_a_rebuild_that_still_answers(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module, "BLOAT_FLOOR", 3)
    store = ChromaStore(desk.folder / "chroma")
    embedding = desk.start(store=store)
    until(lambda: embedding.settled)
    for number in range(6):
        (desk.vault / f"n{number}.md").unlink()
    desk.sync.reconcile()
    embedding.wake()
    until(lambda: embedding.settled)
    assert store.bloated() == ()
    assert store._names["note"] == ("note.2", 0)
    assert store.count("note") == 2
    assert nearest(embedding, "subject7") == chunk_of(desk, "n7.md")


class FailingStore(ChromaStore):
    """A store whose disk fails, as often as asked for."""

    failures = 0

    def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("disk failed")
        super().upsert(collection, ids, vectors)


def test_a_store_that_fails_once_is_filled_anew(desk: Desk) -> None:
    store = FailingStore(desk.folder / "chroma")
    store.failures = 1
    embedding = desk.start(store=store)
    until(lambda: embedding.settled)
    assert nearest(embedding, "subject3") == chunk_of(desk, "n3.md")
    assert embedding.note == ""


def test_a_store_that_keeps_failing_is_tried_again_after_longer_and_longer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 0.01, 600.0))
    store = FailingStore(desk.folder / "chroma", probe=False)
    store.failures = 3
    embedding = desk.start(store=store)
    failed = "The vector store failed (disk failed). Search goes by words only; it is tried again."
    until(lambda: store.failures == 0 and embedding.settled and embedding.note == failed)
    assert not embedding.ended and embedding.nearest("subject3", ["note"], 5) is None
    assert 500 < embedding._trust.pause_seconds(1000) <= 600
    embedding._trust._pauses._due = 0.0
    embedding.wake()
    until(lambda: nearest(embedding, "subject3") == chunk_of(desk, "n3.md"))
    until(lambda: embedding.note == "")


def test_a_full_disk_is_named_and_vectors_come_when_there_is_room(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 0.05))
    (desk.folder / "chroma").write_text("a file in its place: no folder can be made")
    monkeypatch.setattr(trust, "_FULL_BELOW", 10**20)
    desk.probes = False
    embedding = desk.start()
    until(
        lambda: embedding.note == f"{trust.NO_SPACE} Search goes by words only; it is tried again."
    )
    (desk.folder / "chroma").unlink()
    until(lambda: nearest(embedding, "subject3") == chunk_of(desk, "n3.md"))
    until(lambda: embedding.note == "")
    assert len(list((desk.folder / "chroma").iterdir())) == 1, "tries leave nothing behind"


@pytest.mark.parametrize("at", ["recognise", "compare"])
def test_a_disk_that_is_full_while_vectors_are_loaded_ends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 0.05))
    monkeypatch.setattr(embedding_module, "_IDLE_SECONDS", 0.05)
    desk.probes = False
    real, errors = (
        getattr(embedding_module, at),
        [sqlite3.OperationalError("database or disk is full")] * 3,
    )
    said: list[str] = []

    def failing(*given: Any) -> Any:
        said.append(embedding.note)
        if errors:
            raise errors.pop()
        return real(*given)

    monkeypatch.setattr(embedding_module, at, failing)
    embedding = desk.start()
    until(lambda: nearest(embedding, "subject3") == chunk_of(desk, "n3.md"))
    assert not errors and said[-1].startswith(trust.NO_SPACE)
    until(lambda: embedding.note == "")


class FailingEmbedder(HashEmbedder):
    """An embedder that breaks after its warm-up."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.texts_seen:
            raise MemoryError("no room for the model")
        return super().embed(texts)


@pytest.mark.parametrize("seen", [0, 1])
def test_an_embedder_that_fails_is_given_up_in_words(desk: Desk, seen: int) -> None:
    broken = FailingEmbedder()
    broken.texts_seen = seen
    embedding = desk.start(broken)
    until(lambda: embedding.ended)
    assert "no room for the model" in embedding.note
    assert embedding.settled


def test_no_embedder_is_said_in_words(desk: Desk) -> None:
    embedding = Embedding(
        desk.database, ChromaStore(desk.folder / "chroma"), lambda: None, lambda: None
    )
    desk.running.append(embedding)
    embedding.start()
    embedding.release()
    until(lambda: embedding.ended)
    assert "index.embedder" in embedding.note
    assert not (desk.folder / "chroma").exists()


def test_short_and_tools_messages_get_no_vector(desk: Desk) -> None:
    comment = '%%{"id":"D1:1","time":"2026-02-20T10:00:03+01:00","how":"captured"}%%'
    long = "A long enough sentence about the bakery, its ovens and all of its customers."
    head = '---\nid: "2026-02-20_001"\nagent: main\nstate: open\n---\n\n'
    session = head + "".join(
        f"> [!{role}] 10:00:03 · Anna {comment.replace('D1:1', f'D1:{n}')}\n> {text}\n\n^m{n}\n\n"
        for n, (role, text) in enumerate([("user", "ok"), ("user", long), ("tool", long)], 1)
    )
    desk.write("VaultMind/agents/main/memory/sessions/2026-02-20_001.md", session)
    desk.sync.reconcile()
    embedding = desk.start()
    until(lambda: embedding.settled)
    with desk.database.read() as connection:
        rows = connection.execute(
            "SELECT block, embedded FROM chunks WHERE kind = 'message' ORDER BY ordinal"
        ).fetchall()
    assert rows == [("m1", -1), ("m2", 1), ("m3", -1)]
    assert len(embedding.nearest("bakery", ["message-main"], 5) or []) == 1


def test_a_full_database_is_waited_out(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding.settled)
    for number in range(40):
        desk.write(f"more{number}.md", f"another matter{number} " * 20)
    desk.sync.reconcile()
    with desk.database.write() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    embedding.wake()
    until(lambda: embedding.note == f"{trust.NO_SPACE} New vectors wait.")
    assert nearest(embedding, "subject3") == chunk_of(desk, "n3.md")
    with desk.database.write() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    embedding.wake()
    until(lambda: embedding.settled)
    assert desk.waiting() == 0


class StuckEmbedder(HashEmbedder):
    """Takes for ever to load."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def embed_query(self, text: str) -> Matrix:
        self.go.wait(20)
        return super().embed_query(text)


def test_closing_does_not_wait_for_an_embedder_that_loads(desk: Desk) -> None:
    embedder = StuckEmbedder()
    embedding = desk.start(embedder)
    until(lambda: any(thread.name == "embedder" for thread in threading.enumerate()))
    began = time.monotonic()
    embedding.close()
    assert time.monotonic() - began < 5
    embedder.go.set()
    until(lambda: not any(t.name in ("embedder", "embedding") for t in threading.enumerate()))
    assert desk.waiting() == 8


def test_closing_ends_a_probe_and_nothing_is_written_after_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = desk.start()
    until(lambda: desk.waiting() == 0)
    first.close()
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr("vaultmind.index.vectors.probe.__file__", str(slow))
    store = ChromaStore(tmp_path / "chroma")
    embedding = desk.start(store=store)
    until(lambda: store._probing is not None)
    began = time.monotonic()
    embedding.close()
    assert time.monotonic() - began < 5
    until(lambda: not any(thread.name == "embedding" for thread in threading.enumerate()))
    assert not store._client
    assert [entry.name for entry in (tmp_path / "chroma").iterdir()] == ["1"]
