"""Fakes of what is big or random. Each implements the real interface."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vaultmind.errors import MinionFailed
from vaultmind.types import Caller, Generated, Prompt

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

_WORDS = re.compile(r"\w+")


class OpenToAll:
    """Implements `ports.Readers`: every agent may read every other's memory but of those named."""

    def __init__(self) -> None:
        self.hidden: set[tuple[str, str]] = set()
        """(who, owner): who may not read the owner's memory."""

    def lets_read(self, caller: Caller, owner: str) -> bool:
        return caller.kind == "person" or (caller.agent, owner) not in self.hidden


class HashEmbedder:
    """A bag of hashed words: deterministic, instant, texts with common words are near.

    Implements `ports.Embedder`. `texts_seen` counts the texts it was given, for tests which
    promise that nothing is embedded twice.
    """

    def __init__(self, dim: int = 64, name: str = "hash-1") -> None:
        self._dim = dim
        self._name = name
        self._lock = threading.Lock()
        self.texts_seen = 0

    @property
    def id(self) -> str:
        """Return the name under which vectors are cached."""
        return self._name

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self._dim

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one normalised row a text."""
        with self._lock:
            self.texts_seen += len(texts)
        rows = np.zeros((len(texts), self._dim), dtype=np.float32)
        rows[:, 0] = 0.01  # a text without words still has a direction
        for row, text in zip(rows, texts, strict=True):
            for word in _WORDS.findall(text.lower()):
                digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
                row[int.from_bytes(digest[:3], "big") % self._dim] += 1 if digest[3] & 1 else -1
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6))

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question: like any other text's."""
        return np.asarray(self.embed([text])[0])


class QueueGenerator:
    """Gives the answers it was made with, one after the other; an error among them is raised.

    Implements `ports.Generator`. `asked` keeps the prompts. After the last answer it fails.
    """

    context_tokens = 4096

    def __init__(self, *answers: str | MinionFailed, name: str = "queue") -> None:
        self.id = name
        self.asked: list[Prompt] = []
        self.closed = False
        self._answers = deque(answers)

    def count(self, text: str) -> int:
        """Return the words of a text."""
        return len(text.split())

    def generate(self, prompt: Prompt) -> Generated:
        """Return the next answer."""
        self.asked.append(prompt)
        if not self._answers:
            raise MinionFailed("nonsense", f"The model {self.id} has no more answers.")
        answer = self._answers.popleft()
        if isinstance(answer, MinionFailed):
            raise answer
        return Generated(answer, prompt_tokens=10, tokens=self.count(answer), took_ms=1.0)

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
