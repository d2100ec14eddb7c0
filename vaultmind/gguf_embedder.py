"""A GGUF file as an embedder: a served one, whose server is a process of our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmind.config import MinionConfig
from vaultmind.index.embed import MAX_CHARACTERS, QUESTION_SECONDS, ServedEmbedder
from vaultmind.minion.gguf import Head, read_head
from vaultmind.minion.models import FALLBACK_CONTEXT, Process

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

MAX_CONTEXT = 1024
BATCH, SECONDS = 8, 120.0
"""Texts at once, and how long they are waited for, loading included: large models are slow."""
_PREFIXES = {
    "e5": ("query: ", "passage: "),
    "nomic": ("search_query: ", "search_document: "),
    "bge": ("Represent this sentence for searching relevant passages: ", ""),
    "mxbai": ("Represent this sentence for searching relevant passages: ", ""),
    "arctic": ("query: ", ""),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3": ("Instruct: Find passages that answer the query\nQuery: ", ""),
}
"""What these models were trained to see before a question and before a text, by their name."""


def prefixes(head: Head) -> tuple[str, str]:
    """Return what goes before a question and before a text; nothing for an unknown model."""
    name = f"{head.name} {head.path.stem} {head.architecture}".lower().replace("-", "")
    if "bgem3" in name or not head.pools:
        return "", ""
    return next((pair for part, pair in _PREFIXES.items() if part in name), ("", ""))


class GgufEmbedder(ServedEmbedder):
    """Implements ports.Embedder with a model file. Its process starts with the first text."""

    sends_to = ""

    def __init__(self, path: Path, config: MinionConfig, folder: Path) -> None:
        head = read_head(path)
        self._before_query, self._before_text = prefixes(head)
        self.dim = head.dim
        self.id = f"gguf-{head.path.stem}-{head.key}"
        size = min(head.context_tokens or FALLBACK_CONTEXT, MAX_CONTEXT)
        model: dict[str, Any] = {"n_ctx": size, "n_batch": size, "n_ubatch": size}
        self._server = self.process = Process(head, config, folder, model | {"embedding": True})

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text."""
        import numpy as np

        shown = [self._before_text + one[:MAX_CHARACTERS] for one in texts]
        parts = (shown[at : at + BATCH] for at in range(0, len(shown), BATCH))
        rows = [self._rows(part, SECONDS) for part in parts]
        return np.concatenate(rows) if rows else np.empty((0, self.dim), np.float32)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question."""
        seconds = QUESTION_SECONDS if self.process.pid else SECONDS  # it has to be loaded first
        vector: Matrix = self._rows([self._before_query + text], seconds)[0]
        return vector
