"""Another embedder begins anew while words find; one that does not answer is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes import HashEmbedder
from tests.index.desk import Desk, chunk_of, nearest
from tests.waiting import until
from vaultmind.index.embedders import patient as patient_module
from vaultmind.index.vectors.embedding import Embedding

if TYPE_CHECKING:
    pass

NOTES = 8


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
