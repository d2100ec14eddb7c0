"""A model on a server as the embedder, against a real server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from tests.index.embedding_server import EmbeddingServer, serving
from tests.index.vault import Hidden, OpenToAll
from tests.waiting import until
from vaultmind.config import Config, IndexConfig
from vaultmind.errors import BadArgument
from vaultmind.index import vectors
from vaultmind.index.embed import EmbedderAway, ServedEmbedder, open_embedder
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

TEXTS = ["The ferry leaves at seven.", "", "żółć", "a" * 50_000, "nul \0 inside"]
KEY = "MY_EMBEDDING_KEY"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


def opened(spec: str) -> ServedEmbedder:
    embedder = open_embedder(spec, KEY)
    assert isinstance(embedder, ServedEmbedder)
    return embedder


def on(server: EmbeddingServer, model: str = "nomic-embed-text") -> ServedEmbedder:
    return opened(f"{server.url}#{model}")


def test_it_embeds_texts_and_questions_in_batches_clipped(server: EmbeddingServer) -> None:
    embedder = on(server)
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 96) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    question = embedder.embed_query("When leaves the ferry?")
    assert question.shape == (embedder.dim,) and int(np.argmax(rows @ question)) == 0
    assert embedder.id.startswith("server-nomic_embed_text-") and embedder.sends_to == ""
    assert embedder.embed([]).shape == (0, 96)
    embedder.embed(["one"] * 18)
    assert [len(texts) for texts in server.asked] == [5, 1, 16, 2]
    assert max(len(text) for text in server.asked[0]) == 2000
    assert all(text and "\0" not in text for text in server.asked[0])
    assert opened(f"{server.url}/v1/#m").embed(["one"]).shape == (1, 96)


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ([[float("nan")] * 96, [1.0] * 96], "not numeric"),
        ([[0.0] * 96, [1.0] * 96], "all zeros"),
        ([[1.0] * 96], "a vector for each"),
        ([[1.0] * 64, [1.0] * 64], "64 numbers"),
        ([[1.0] * 96, [1.0] * 3], "does not answer"),
    ],
)
def test_what_is_no_vector_is_not_taken(
    server: EmbeddingServer, spoiled: list[list[float]], said: str
) -> None:
    embedder = on(server)
    embedder.embed(["one"])
    server.spoils = spoiled
    with pytest.raises(EmbedderAway, match=said):
        embedder.embed(["one", "two"])


def test_a_key_comes_from_the_named_variable_shows_nowhere_and_follows_no_redirect(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(server).embed(["one"])
    assert "authorization" not in {name.lower() for name in server.headers[0]}
    monkeypatch.setenv(KEY, "s3cret-of-mine-123456")
    embedder = on(server)
    embedder.embed(["one"])
    assert "Bearer s3cret-of-mine-123456" in server.headers[1].values()
    server.status = 401
    with pytest.raises(EmbedderAway, match=r"it answered 401: .*no, Bearer …") as raised:
        embedder.embed(["one"])
    assert "s3cret" not in str(raised.value) + embedder.id
    server.status = 307
    with serving() as other:
        server.location = other.url
        with pytest.raises(EmbedderAway, match="it answered 307"):
            embedder.embed(["a secret"])
        assert other.asked == []


@pytest.mark.parametrize(
    "spec", ["chroma:ollama", "olama", "http://host/v1", "http://[::1#m", "file:///etc/passwd#m"]
)
def test_what_cannot_be_used_says_what_can(spec: str) -> None:
    with pytest.raises(BadArgument, match=r"index\.embedder.*(URL#MODEL|the model after the #)"):
        open_embedder(spec, KEY)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "Ferry.md").write_text("The ferry to the island leaves at seven.", "utf-8")
    (root / "Oven.md").write_text("Our oven bakes bread on Saturdays.", "utf-8")
    return root


def test_a_vault_is_searched_by_it_and_by_words_while_it_is_gone(
    vault: Path, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "PAUSES", (0.0, 0.05))
    settings = IndexConfig(embedder=f"{server.url}/v1#bge-m3", watch=False)
    config = Config(vault, vault.parent / "state", index=settings)
    index = Index(
        config,
        Outlet(VaultFolder(VaultPaths(vault)), Hidden(), OpenToAll()),
        clock=lambda: datetime.now(UTC),
        embedder=lambda: open_embedder(settings.embedder),
    )
    index.start()
    try:
        assert index.wait_ready(30, vectors=True)
        state = index.state()
        assert state.embedder.startswith("server-bge_m3") and state.sends_to == ""
        assert state.vectors == 2 and not state.notes
        assert index.search(SearchRequest("ferry island"), PERSON).hits[0].path == "Ferry.md"
        port = server.port
        server.close()
        answer = index.search(SearchRequest("bread"), PERSON)
        assert answer.hits[0].path == "Oven.md"
        until(lambda: index.state().embedder == "" and index.state().notes)
        assert "words only" in index.state().notes[0] and not index.state().loading
        again = EmbeddingServer(port)
        try:
            until(lambda: index.state().embedder and not index.state().notes)
        finally:
            again.close()
    finally:
        index.close()
