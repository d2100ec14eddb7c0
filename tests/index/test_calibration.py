"""What a cosine means with an embedder that nobody has measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.index.db import Database
from vaultmind.index.embedders.calibration import ANSWERED, LEAST_WIDTH, calibrated, learn_scale
from vaultmind.index.embedders.embed import open_embedder
from vaultmind.index.embedders.scale import scale_of


class Narrow(HashEmbedder):
    """An embedder with all its cosines between 0.8 and 1, as some have: strange texts near 0.8."""

    def __init__(self, name: str) -> None:
        super().__init__(256, name)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one normalised row a text: where it has the words of a question, its answer's."""
        answers = dict(ANSWERED)
        rows = 0.5 * np.asarray(super().embed([answers.get(text, text) for text in texts]))
        return np.hstack([rows, np.full((len(rows), 1), 0.75**0.5)]).astype(np.float32)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "index.db")) as opened:
        yield opened


def test_the_bundled_embedder_gets_nearly_the_scale_that_was_measured_for_it() -> None:
    embedder = open_embedder("use")
    assert embedder is not None
    found, known = calibrated(embedder), scale_of("use-0.2")
    assert abs(found.nothing - known.nothing) < 0.1
    assert abs(found.same - known.same) < 0.1


def test_a_model_that_tells_nothing_apart_is_given_little_weight(database: Database) -> None:
    class Blind(Narrow):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.ones((len(texts), 1), dtype=np.float32)

    learn_scale(database, Blind("gguf-blind-1"))
    scale = scale_of("gguf-blind-1")
    assert scale.meaning(1.0) == 0.0 and scale.same >= scale.nothing + LEAST_WIDTH


def test_embedders_that_are_known_are_not_measured(database: Database) -> None:
    model = HashEmbedder()
    learn_scale(database, model)
    assert model.texts_seen == 0
