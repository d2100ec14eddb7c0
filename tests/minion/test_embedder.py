"""A model file as an embedder, in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.minion.model import config, gguf
from vaultmind.gguf_embedder import GgufEmbedder

TEXTS = ["The cat sleeps on the warm mat.", "A cat is sleeping on a mat.", "Kwartalne podatki."]


@pytest.fixture(scope="module")
def embedder(careful: Path) -> Iterator[GgufEmbedder]:
    one = GgufEmbedder(gguf(), config(), careful)
    yield one
    one.close()


@pytest.mark.minion
def test_texts_become_rows_of_length_one_whatever_they_hold(embedder: GgufEmbedder) -> None:
    rows = embedder.embed([*TEXTS, "", "  ", "a\0b", "ż" * 40, "🙂"])
    assert rows.shape == (8, embedder.dim) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert embedder.embed([]).shape == (0, embedder.dim)


@pytest.mark.minion
def test_it_comes_back_after_its_process_was_killed(embedder: GgufEmbedder) -> None:
    before = embedder.embed_query(TEXTS[0])
    os.kill(embedder.process.pid, signal.SIGKILL)
    assert np.allclose(embedder.embed_query(TEXTS[0]), before, atol=1e-2)
