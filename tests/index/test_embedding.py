"""The embedding thread: every chunk gets its vector once, whatever breaks meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes import HashEmbedder
from tests.index.vault import Desk
from tests.waiting import until
from vaultmind.index import vectors as module

if TYPE_CHECKING:
    from vaultmind.ports import Matrix


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.05)
    made = Desk(tmp_path)
    for number in range(8):
        made.write(f"n{number}.md", f"note about subject{number} alone")
    made.sync.reconcile()
    yield made
    made.close()


def test_a_lost_store_is_filled_from_the_cache(desk: Desk) -> None:
    embedding = desk.start()
    until(lambda: embedding._stored == embedding._wanted)
    embedding.close()
    for file in desk.chroma.rglob("*"):
        if file.is_file():
            file.write_bytes(b"garbage" * 100)
    again = HashEmbedder()
    embedding = desk.start(again)
    until(lambda: desk.nearest(embedding, "subject3") == {"n3.md"})
    assert again.texts_seen <= 2, "the warm-up and the question, no chunk"


def test_a_store_that_cannot_be_made_is_told_and_filled_once_it_can(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.0, 0.05))
    desk.chroma.write_text("a file in its place: no folder can be made")
    embedding = desk.start()
    until(lambda: "The vector store failed" in embedding.note)
    desk.chroma.unlink()
    until(lambda: desk.nearest(embedding, "subject3") == {"n3.md"})
    until(lambda: embedding.note == "")


class FailingEmbedder(HashEmbedder):
    """An embedder that is broken for a while."""

    broken = True

    def embed(self, texts: Sequence[str]) -> Matrix:
        if self.broken:
            raise MemoryError("no room for the model")
        return super().embed(texts)


def test_an_embedder_that_fails_is_told_and_asked_again(desk: Desk) -> None:
    broken = FailingEmbedder()
    embedding = desk.start(broken)
    until(lambda: "no room for the model" in embedding.note and embedding.settled)
    assert not embedding.embedder and not embedding.loading
    broken.broken = False
    embedding.wake()
    until(lambda: desk.nearest(embedding, "subject3") == {"n3.md"})


def test_changing_back_embeds_nothing_anew(desk: Desk) -> None:
    first = desk.start()
    until(lambda: first.settled, 30)
    first.close()
    embedding = desk.start(HashEmbedder(96, "hash-2"))
    until(lambda: desk.nearest(embedding, "about subject5") == {"n5.md"})
    assert embedding.embedder_id == "hash-2"
    embedding.close()
    seen = desk.embedder.texts_seen
    back = desk.start()
    until(lambda: desk.nearest(back, "subject3") == {"n3.md"})
    assert back.embedder_id == "hash-1"
    assert desk.embedder.texts_seen <= seen + 2, "the warm-up and the question"
