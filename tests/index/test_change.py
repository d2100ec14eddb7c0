"""Another embedder begins anew while words find; one that does not answer is asked again."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes import HashEmbedder
from tests.index.desk import Desk, chunk_of, nearest
from tests.waiting import until
from vaultmind.index.embedders import patient as patient_module
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.vectors.embedding import Embedding
from vaultmind.index.vectors.store import ChromaStore

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

NOTES = 8


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


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    made.probes = False
    for number in range(NOTES):
        made.write(f"n{number}.md", f"note about subject{number} alone")
    made.sync.reconcile()
    first = made.start()
    until(lambda: first.settled, 30)  # the first one imports Chroma
    first.close()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patient_module, "PAUSES_SECONDS", (0.0, 0.05))


def finds_all(desk: Desk, embedding: Embedding, numbers: Sequence[int] = range(NOTES)) -> bool:
    return all(
        nearest(embedding, f"about subject{number}") == chunk_of(desk, f"n{number}.md")
        for number in numbers
    )


def test_changing_back_embeds_nothing_anew(desk: Desk) -> None:
    embedding = desk.start(HashEmbedder(96, "hash-2"))
    until(lambda: embedding.settled, 30)
    assert embedding.embedder_id == "hash-2" and finds_all(desk, embedding)
    embedding.close()
    seen = desk.embedder.texts_seen
    back = desk.start()
    until(lambda: back.settled, 30)
    assert back.embedder_id == "hash-1" and finds_all(desk, back, [3])
    assert desk.embedder.texts_seen <= seen + 2, "the warm-up and the question"


def test_of_a_third_embedder_nothing_is_kept_but_of_the_last_two(desk: Desk) -> None:
    for name, dim in (("hash-2", 96), ("hash-3", 128)):
        embedding = desk.start(HashEmbedder(dim, name))
        until(lambda one=embedding: one.settled, 30)
        embedding.close()
    with desk.database.read() as connection:
        rows = connection.execute("SELECT DISTINCT embedder FROM embeddings").fetchall()
    assert {name for (name,) in rows} == {"hash-2", "hash-3"}


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
    embedding = desk.start(away)
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
    embedding = desk.start(away)
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
