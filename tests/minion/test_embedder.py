"""A model file as an embedder, in a process of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.minion.model import config, gguf
from vaultmind.errors import MinionFailed
from vaultmind.minion.embedder import BATCH, GgufEmbedder, prefixes
from vaultmind.minion.gguf import Head

pytestmark = pytest.mark.minion

TEXTS = ["The cat sleeps on the warm mat.", "A cat is sleeping on a mat.", "Kwartalne podatki."]


@pytest.fixture(scope="module")
def embedder(careful: Path) -> Iterator[GgufEmbedder]:
    one = GgufEmbedder(gguf(), config(), careful)
    yield one
    one.close()


def test_its_id_names_the_file_and_tells_two_of_the_same_name_apart(
    careful: Path, tmp_path: Path
) -> None:
    """The id is part of the key of every cached vector. Nothing is loaded for it."""
    one = GgufEmbedder(gguf(), config(), careful)
    other = tmp_path / gguf().name
    with gguf().open("rb") as file:
        other.write_bytes(file.read(3_000_000))
    again = GgufEmbedder(other, config(), careful)
    assert one.id.startswith(f"gguf-{gguf().stem}-")
    assert one.id != again.id
    assert one.id == GgufEmbedder(gguf(), config(), careful).id
    assert (one.dim, one.pid) == (576, 0)


def test_texts_become_rows_of_length_one_whatever_they_hold(embedder: GgufEmbedder) -> None:
    rows = embedder.embed([*TEXTS, "", "  ", "a\0b", "ż" * 40, "🙂"])
    assert rows.shape == (8, embedder.dim) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_what_means_the_same_is_nearer_and_a_batch_changes_nothing(embedder: GgufEmbedder) -> None:
    cat, kitten, tax = embedder.embed(TEXTS)
    assert cat @ kitten > cat @ tax
    many = embedder.embed(TEXTS * 4)
    assert len(many) > BATCH
    assert np.allclose(many[:3], many[9:], atol=1e-2)
    assert embedder.embed_query(TEXTS[0]) @ cat > 0.99


def test_a_question_goes_before_texts_that_wait(embedder: GgufEmbedder) -> None:
    done: list[str] = []

    def texts() -> None:
        embedder.embed(TEXTS * 4)
        done.append("texts")

    thread = threading.Thread(target=texts)
    thread.start()
    embedder.embed_query("Who sleeps?")
    done.append("question")
    thread.join()
    assert done == ["question", "texts"]


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
