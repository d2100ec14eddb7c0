"""The models of an app: opened when they are needed, closed with it, missed by nobody."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes import QueueGenerator
from tests.minion.model import config
from tests.serve.vaults import config_of, write_vault
from vaultmind.app import open_app
from vaultmind.config import IndexConfig
from vaultmind.errors import MinionFailed
from vaultmind.minion.choice import Minion
from vaultmind.types import PERSON, SearchRequest


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
