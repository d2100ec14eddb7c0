"""The models of an app: opened when they are needed, closed with it, missed by nobody."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import QueueGenerator
from tests.minion.model import config, gguf
from tests.serve.vaults import config_of, write_vault
from vaultmind.app import open_app
from vaultmind.config import IndexConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.minion.embedder import GgufEmbedder
from vaultmind.types import PERSON, SearchRequest


def test_opening_an_app_loads_no_model_and_nothing_that_runs_one(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    code = (
        "import sys; from pathlib import Path; from tests.serve.vaults import config_of;"
        "from vaultmind.app import open_app; app = open_app(config_of(Path(sys.argv[1])));"
        "app.close(); heavy = ('minion.local', 'minion.remote', 'minion.worker', 'model.thinking',"
        "'model.writing', 'levels.extractive', 'facts.extractive');"
        "print([name for name in sys.modules if name.endswith(heavy)])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True, text=True, check=True, cwd=root, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_models_are_closed_with_the_app(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    model = QueueGenerator("a")
    own = config_of(tmp_path)
    minion = Minion(config(model="x.gguf"), own.state_dir, open_generator=lambda name: model)
    with closing(open_app(own, minion=minion)) as app:
        assert app.minion.generator("x.gguf") is model
    assert model.closed
    with pytest.raises(MinionFailed, match="closed"):
        minion.generator("x.gguf")


@pytest.mark.minion
def test_a_model_file_may_be_the_embedder_and_ends_with_the_app(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    app = open_app(config_of(tmp_path))
    with closing(app):
        embedder = app._embedder_named(str(gguf()))
    assert isinstance(embedder, GgufEmbedder)
    assert embedder.id.startswith("gguf-") and embedder.pid == 0
    with pytest.raises(MinionFailed, match="closed"):
        embedder.embed_query("Hello")


def test_an_embedder_file_that_is_missing_leaves_search_by_words(tmp_path: Path) -> None:
    write_vault(tmp_path / "vault")
    gone = str(tmp_path / "gone.gguf")
    own = replace(config_of(tmp_path), index=IndexConfig(watch=False, embedder=gone))
    with closing(open_app(own)) as app:
        app.start()
        assert app.index.wait_ready(30, vectors=True)
        state = app.index.state()
        assert state.embedder == "" and "gone.gguf" in " ".join(state.notes)
        assert app.index.search(SearchRequest("the"), PERSON).answer != "indexing"
