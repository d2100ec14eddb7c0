"""A model file as an embedder, in a process of its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.minion.model import config, gguf
from vaultmind.errors import MinionFailed
from vaultmind.minion.embedder import GgufEmbedder, prefixes
from vaultmind.minion.gguf import Head

pytestmark = pytest.mark.minion

TEXTS = ["The cat sleeps on the warm mat.", "A cat is sleeping on a mat.", "Kwartalne podatki."]


@pytest.fixture(scope="module")
def embedder(careful: Path) -> Iterator[GgufEmbedder]:
    one = GgufEmbedder(gguf(), config(), careful)
    yield one
    one.close()


def test_texts_become_rows_of_length_one_whatever_they_hold(embedder: GgufEmbedder) -> None:
    rows = embedder.embed([*TEXTS, "", "  ", "a\0b", "ż" * 40, "🙂"])
    assert rows.shape == (8, embedder.dim) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_it_comes_back_after_its_process_was_killed(embedder: GgufEmbedder) -> None:
    before = embedder.embed_query(TEXTS[0])
    os.kill(embedder.pid, signal.SIGKILL)
    assert np.allclose(embedder.embed_query(TEXTS[0]), before, atol=1e-2)


def test_a_file_that_is_no_model_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"not a model")
    with pytest.raises(MinionFailed, match="is no GGUF model"):
        GgufEmbedder(tmp_path / "a.gguf", config(), tmp_path)


@pytest.mark.parametrize(("name", "before"), [
    ("multilingual-e5-small-q8_0", ("query: ", "passage: ")),
    ("nomic-embed-text-v1.5", ("search_query: ", "search_document: ")),
    ("bge-m3", ("", "")),
    ("all-MiniLM-L6-v2", ("", "")),
])  # fmt: skip
def test_models_see_before_a_text_what_they_were_trained_to(
    name: str, before: tuple[str, str]
) -> None:
    head = Head(name, "bert", 512, 384, pools=True, rope_base=0.0, size_mb=1.0)
    assert prefixes(head, Path(f"{name}.gguf")) == before
