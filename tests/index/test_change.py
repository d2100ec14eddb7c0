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
from vaultmind.index.embed import EmbedderAway
from vaultmind.index.vectors import Embedding
from vaultmind.index.chroma import ChromaStore

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
