"""A GGUF file as an embedder, in a process of its own that stays as long as this one."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.config import MinionConfig
from vaultmind.minion.gguf import Head, read_head
from vaultmind.minion.local import FALLBACK_CONTEXT, threads
from vaultmind.minion.notes import model_key
from vaultmind.minion.process import Opening, Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultmind.ports import Matrix

MAX_CHARACTERS = 2000
"""What of a text is embedded; chunks are shorter, but a pasted blob may not be."""
MAX_CONTEXT = 1024
BATCH = 8
"""Texts at once. Between two batches a question may go first."""
SECONDS = 120.0
"""For a batch, loading included."""
_DIGESTED_BYTES = 1_000_000
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


def prefixes(head: Head, path: Path) -> tuple[str, str]:
    """Return what goes before a question and before a text; nothing for an unknown model."""
    name = f"{head.name} {path.stem} {head.architecture}".lower().replace("-", "")
    if "bgem3" in name or not head.pools:
        return "", ""
    return next((pair for part, pair in _PREFIXES.items() if part in name), ("", ""))


class GgufEmbedder:
    """Implements ports.Embedder with a model file. Its process starts with the first text."""

    def __init__(self, path: Path, config: MinionConfig, folder: Path) -> None:
        self._path = path.expanduser().absolute()
        head = read_head(self._path)
        self._before_query, self._before_text = prefixes(head, self._path)
        self.dim = head.dim
        self.id = f"gguf-{self._path.stem}-{_digest(self._path)}"
        context = min(head.context_tokens or FALLBACK_CONTEXT, MAX_CONTEXT)
        opening = Opening(
            path=str(self._path),
            context_tokens=context,
            trained=head.context_tokens,
            threads=threads(config),
            gpu_layers=config.gpu_layers,
            embedding=True,
            pools=head.pools,
            memory_mb=config.memory_mb,
            background=False,  # a person waits for the vector of a question
            idle_seconds=0.0,
        )
        self._worker = Worker(opening, model_key(self._path), folder)
        self._turn = threading.Condition()
        self._asking = 0

    @property
    def pid(self) -> int:
        """Return the pid of the process; 0 when there is none."""
        return self._worker.pid

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; raises MinionFailed."""
        import numpy as np

        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            with self._turn:
                self._turn.wait_for(lambda: not self._asking)
            part = [
                self._before_text + one[:MAX_CHARACTERS] for one in texts[start : start + BATCH]
            ]
            rows[start : start + len(part)] = self._rows(part)
        return rows

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question, before any texts that wait; raises MinionFailed."""
        with self._first():
            vector: Matrix = self._rows([self._before_query + text[:MAX_CHARACTERS]])[0]
        return vector

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    @contextmanager
    def _first(self) -> Iterator[None]:
        with self._turn:
            self._asking += 1
        try:
            yield
        finally:
            with self._turn:
                self._asking -= 1
                self._turn.notify_all()

    def _rows(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        shown = [one.replace("\0", " ").strip() or "." for one in texts]
        answer = self._worker.ask("embed", {"texts": shown}, SECONDS)
        raw = np.frombuffer(base64.b64decode(answer["rows"]), dtype=np.float32)
        rows = np.nan_to_num(raw.reshape(len(texts), self.dim))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Matrix = np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)
        unit[lengths[:, 0] == 0, 0] = 1.0
        return unit


def _digest(path: Path) -> str:
    """Return what tells a model from another of the same name: its head and its size."""
    with path.open("rb") as file:
        start = file.read(_DIGESTED_BYTES)
    size = path.stat().st_size
    return hashlib.sha256(start + str(size).encode()).hexdigest()[:12]
