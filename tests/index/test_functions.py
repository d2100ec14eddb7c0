"""Chroma's embedding functions as embedders, against a real server on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.index.embedding_server import EmbeddingServer, serving
from tests.index.vault import Hidden, OpenToAll
from tests.waiting import until
from vaultmind.config import Config, IndexConfig
from vaultmind.errors import BadArgument, MissingExtra
from vaultmind.index.embedders import functions, patient
from vaultmind.index.embedders.calibration import learn_scale, recognise
from vaultmind.index.embedders.embed import EmbedderAway, open_embedder
from vaultmind.index.embedders.functions import FunctionEmbedder
from vaultmind.index.embedders.leaving import keep_to
from vaultmind.index.embedders.premises import Premises
from vaultmind.index.embedders.scale import scale_of
from vaultmind.index.index import Index
from vaultmind.index.outlet import Withheld
from vaultmind.index.storage.database import Database
from vaultmind.types import PERSON, SearchRequest
from vaultmind.vault.paths import VaultPaths

TEXTS = ["The ferry leaves at seven.", "", "żółć", "a" * 50_000, "nul \0 inside"]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HUGGINGFACE_API_KEY", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY",
                 "all_proxy", "HTTPS_PROXY", "https_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


def opened(name: str, **options: Any) -> FunctionEmbedder:
    embedder = open_embedder(f"chroma:{name}", tuple(options.items()))
    assert isinstance(embedder, FunctionEmbedder)
    return embedder


def ollama(server: EmbeddingServer, **options: Any) -> FunctionEmbedder:
    return opened("ollama", url=server.url, model_name="nomic-embed-text", **options)


def test_ollama_embeds_through_chromas_own_function(server: EmbeddingServer) -> None:
    embedder = ollama(server)
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 96) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    question = embedder.embed_query("When leaves the ferry?")
    assert question.shape == (embedder.dim,) and int(np.argmax(rows @ question)) == 0
    assert embedder.id.startswith("chroma-ollama-nomic_embed_text-")
    assert embedder.embed([]).shape == (0, 96) and embedder.sends_to == ""


def test_a_server_of_hugging_face_and_one_like_openais_do_too(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = opened("huggingface_server", url=f"{server.url}/embed")
    assert embedder.embed(["one", "two"]).shape == (2, 96)
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-somebody-else")
    local = opened("openai", api_base=f"{server.url}/v1", model_name="bge-m3")
    assert local.embed(["one", "two"]).shape == (2, 96)
    assert local.embed_query("one").shape == (96,)
    told = [
        headers.get("authorization", headers.get("Authorization")) for headers in server.headers
    ]
    assert not any("somebody-else" in str(one) for one in told), "keys go nowhere by themselves"


def test_texts_are_sent_in_batches_clipped(server: EmbeddingServer) -> None:
    ollama(server, batch=3).embed([*TEXTS, "six", "seven"])
    assert [len(texts) for texts in server.asked] == [3, 3, 1]
    assert max(len(text) for texts in server.asked for text in texts) == 2000
    assert all(text and "\0" not in text for texts in server.asked for text in texts)


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ([[float("nan")] * 96, [1.0] * 96], "not made of numbers"),
        ([[0.0] * 96, [1.0] * 96], "no direction"),
        ([[1.0] * 96], "something else came back"),
        ([[1.0] * 64, [1.0] * 64], "64 numbers came"),
        ([[], []], "does not answer"),
        ([[1.0] * 96, [1.0] * 3], "does not answer"),
    ],
)
def test_what_is_no_vector_is_not_taken(
    server: EmbeddingServer, spoiled: list[list[float]], said: str
) -> None:
    embedder = ollama(server)
    embedder.embed(["one"])
    server.spoils = spoiled
    with pytest.raises(EmbedderAway, match=said):
        embedder.embed(["one", "two"])
    server.spoils = None
    assert embedder.embed(["one", "two"]).shape == (2, 96)


def test_nobody_waits_for_ever_and_not_twice(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "QUESTION_SECONDS", 0.1)
    embedder = ollama(server)
    embedder.embed_query("warm")
    server.hangs.clear()
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(EmbedderAway, match="does not answer"):
            embedder.embed_query("When leaves the ferry?")
    assert time.monotonic() - began < 2 and len(server.asked) == 2
    server.hangs.set()
    until(embedder._questions._free.is_set)
    assert embedder.embed_query("When leaves the ferry?").shape == (96,)


def test_closing_lets_go_of_who_waits(server: EmbeddingServer) -> None:
    import threading

    embedder = ollama(server)
    server.hangs.clear()
    raised: list[Exception] = []

    def ask() -> None:
        try:
            embedder.embed(["one"])
        except EmbedderAway as error:
            raised.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: server.asked)
    embedder.close()
    asking.join(5)
    assert raised and not asking.is_alive()


def test_a_key_comes_from_the_named_variable_and_never_shows(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_EMBEDDING_KEY", "s3cret-of-mine-123456")
    monkeypatch.setenv("HUGGINGFACE_API_KEY", "another-123456")
    embedder = opened("huggingface_server", url=server.url, api_key_env_var="MY_EMBEDDING_KEY")
    embedder.embed(["one"])
    assert "Bearer s3cret-of-mine-123456" in server.headers[0].values()
    assert "s3cret" not in embedder.id and "MY_EMBEDDING_KEY" not in embedder.id
    function = embedder._function
    assert functions._without_key(function, "no, s3cret-of-mine-123456 is bad") == "no, … is bad"
    monkeypatch.delenv("MY_EMBEDDING_KEY")
    with pytest.raises(BadArgument, match=r"MY_EMBEDDING_KEY.*is set where the daemon runs"):
        opened("huggingface_server", url=server.url, api_key_env_var="MY_EMBEDDING_KEY")


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("name", ["ollama", "openai", "huggingface_server"])
def test_no_redirect_is_followed_and_it_is_said_where_it_led(
    server: EmbeddingServer, name: str, status: int
) -> None:
    if name == "openai":
        pytest.importorskip("openai")
    server.status = status
    embedder = {
        "ollama": lambda: ollama(server),
        "openai": lambda: opened("openai", api_base=f"{server.url}/v1", model_name="m"),
        "huggingface_server": lambda: opened("huggingface_server", url=f"{server.url}/embed"),
    }[name]()
    with serving() as other:
        server.location = other.url.replace("127.0.0.1", "localhost")
        for ask in (lambda: embedder.embed(["a secret"]), lambda: embedder.embed_query("a wish")):
            with pytest.raises(EmbedderAway, match=r"redirects to localhost, .*set its address"):
                ask()
        assert other.asked == [] and len(server.asked) == 2


def test_a_server_that_only_the_environment_names_is_not_asked(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://embeddings.example.com")
    embedder = opened("ollama", url="", model_name="m")
    with pytest.raises(
        EmbedderAway, match=r"ask embeddings\.example\.com, which is another machine"
    ):
        embedder.embed(["a secret"])


def test_a_key_that_a_package_finds_by_itself_is_not_sent(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "a-key-for-somebody-else")
    ollama(server).embed(["one"])
    assert not any("somebody-else" in value for value in server.headers[0].values())
    function = opened("ollama", url="http://192.168.1.5", model_name="m", allow_remote=True)
    assert "authorization" in function._function._client._client.headers, "leave was given there"


def test_a_function_that_cannot_be_kept_to_its_server_is_refused() -> None:
    with pytest.raises(BadArgument, match="it cannot be seen where it sends texts"):
        keep_to(Premises(""), "ollama", Exception(), keyed=False)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("default", {}, "downloads its model"),
        ("onnx_mini_lm_l6_v2", {}, "downloads its model"),
        ("amazon_bedrock", {}, "configuration file"),
        ("olama", {}, "chroma:ollama, "),
        ("", {}, "chroma:ollama, "),
        ("cohere", {}, "sent to the service behind cohere"),
        ("openai", {"model_name": "text-embedding-3-small"}, "sent to the service behind openai"),
        ("ollama", {"url": "http://192.168.1.5:11434"}, "sent to 192.168.1.5"),
        ("ollama", {"url": "http://127.0.0.1.example.com"}, "sent to 127.0.0.1.example.com"),
        ("ollama", {"url": "http://localhost@example.com"}, "sent to example.com"),
        ("ollama", {"url": "file:///etc/passwd"}, "an address like"),
        ("ollama", {"url": "http://[::1"}, "an address like"),
        ("ollama", {"modell": "x"}, "url, model_name, timeout, allow_remote"),
        ("huggingface_server", {}, "service behind"),
        ("huggingface_server", {"allow_remote": True}, "'index.embedder_options.url' is missing"),
        ("sentence_transformer", {"model_name": "all-MiniLM-L6-v2"}, "would download it"),
        ("text2vec", {}, "would download it"),
    ],
)
def test_what_cannot_be_used_says_why_and_what_can(
    name: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadArgument, match=f"(?s).*{said.replace('.', '[.]')}"):
        opened(name, **options)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match="InstructorEmbedding") as raised:
        opened("instructor", model_name=str(tmp_path))
    assert raised.value.hint.startswith("pip install InstructorEmbedding")


def test_another_machine_needs_leave_and_is_named() -> None:
    embedder = opened(
        "ollama", url="http://192.168.1.5:11434", model_name="bge-m3", allow_remote=True
    )
    assert embedder.sends_to == "192.168.1.5"


def test_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(BadArgument, match="NO_PROXY"):
        opened("ollama", url="http://127.0.0.1:11434", model_name="bge-m3")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert opened("ollama", url="http://127.0.0.1:11434", model_name="bge-m3").sends_to == ""


def test_ids_differ_where_vectors_may() -> None:
    one = opened("ollama", model_name="bge-m3")
    assert one.id == opened("ollama", model_name="bge-m3", batch=4, timeout_seconds=9).id
    others = [opened("ollama", model_name="bge-m4"),
              opened("ollama", model_name="bge-m3", url="http://127.0.0.1:9")]  # fmt: skip
    assert len({one.id, *(other.id for other in others)}) == 3


def test_another_model_under_the_same_name_is_another_embedder(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    with closing(Database(tmp_path / "index.db")) as database:
        first = ollama(server)
        for _ in range(2):
            recognise(database, first)
            assert first.id == first.family
        server.dim = 64
        again = ollama(server)
        recognise(database, again)
        assert again.id == f"{first.family}-2" and again.dim == 64
        third = ollama(server)
        recognise(database, third)
        assert third.id == again.id


def test_its_scale_is_measured_once(server: EmbeddingServer, tmp_path: Path) -> None:
    with closing(Database(tmp_path / "index.db")) as database:
        embedder = ollama(server)
        learn_scale(database, embedder)
        asked = len(server.asked)
        assert scale_of(embedder.id) != scale_of("use-0.2")
        learn_scale(database, ollama(server))
        assert len(server.asked) == asked


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
    monkeypatch.setattr(patient, "PAUSES_SECONDS", (0.0, 0.05))
    options = (("url", server.url), ("model_name", "bge-m3"))
    settings = replace(
        IndexConfig(), embedder="chroma:ollama", embedder_options=options, watch=False
    )
    config = Config(vault, vault.parent / "state", index=settings)
    index = Index(
        config,
        VaultPaths(vault),
        Withheld(Hidden(), OpenToAll()),
        clock=lambda: datetime.now(UTC),
    )
    index.start()
    try:
        assert index.wait_ready(30, vectors=True)
        state = index.state()
        assert state.embedder.startswith("chroma-ollama-bge_m3") and state.sends_to == ""
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
