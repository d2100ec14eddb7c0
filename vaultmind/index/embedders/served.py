"""An embedding model on a server: Ollama, LM Studio, llama-server, a hosted one.

It speaks OpenAI's `/embeddings`, as they all do. What comes back is checked, since it comes from
somewhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vaultmind.address import Server, parse_address
from vaultmind.index.embedders.embed import MAX_CHARACTERS, EmbedderAway
from vaultmind.redact import mask

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

SETTING = "index.embedder"
SECONDS, BATCH = 60.0, 16
"""How long a batch of texts is waited for, and how many are in one."""
QUESTION_SECONDS = 4.0
"""How long a question is waited for: whoever asks gets what the words find."""
MAX_BYTES = 16_000_000
_OK, _REDIRECT, _REFUSED = 200, 300, 400
_REASON_CHARACTERS = 200
_RECOGNISED_BY = "The ferry to the island leaves at seven in the morning."
_SAME = 0.98
"""Cosine of one text's vectors: a model gives nearly the same again, whatever its hardware."""


class ServedEmbedder:
    """Implements ports.Embedder over HTTP.

    Raises EmbedderAway whenever the server does not give what it should: it is asked again.
    """

    def __init__(self, spec: str, key_variable: str) -> None:
        """Take `URL#MODEL`; raises BadArgument. A bare host means its `/v1`, as Ollama has it."""
        bare = "/" not in spec.partition("://")[2].partition("#")[0].rstrip("/")
        spec = spec.replace("#", "/v1#", 1) if bare else spec
        at = parse_address(spec, SETTING)
        self._server = Server(at, os.environ.get(key_variable, ""))
        digest = hashlib.sha256(f"{at.url}#{at.model}".encode()).hexdigest()[:8]
        name = "".join(char if char.isalnum() or char == "." else "_" for char in at.model)
        self.id = self.family = f"server-{name[-40:]}-{digest}"
        """`family` is what the id was before another model answered by the same name."""
        self.dim = 0
        """Length of a vector; 0 until the first came."""

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to; empty when they stay on this machine."""
        at = self._server.address
        return "" if at.is_here else at.host

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; raises EmbedderAway."""
        import numpy as np

        rows = [self._rows(texts[at : at + BATCH], SECONDS) for at in range(0, len(texts), BATCH)]
        return np.concatenate(rows) if rows else np.empty((0, self.dim), np.float32)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question; raises EmbedderAway, and soon once it has answered."""
        vector: Matrix = self._rows([text], QUESTION_SECONDS if self.dim else SECONDS)[0]
        return vector

    def recognise(self, kept: str) -> str:
        """Take an id of its own if another model answers than the one that was kept.

        Under one name a server may have another model by now, whose vectors mean something else.
        Returns what is to be kept. Raises EmbedderAway.
        """
        self.dim = 0
        vector = [round(float(number), 5) for number in self.embed([_RECOGNISED_BY])[0]]
        revision, before = json.loads(kept) if kept else (1, vector)
        if kept and (len(before) != len(vector) or _cosine(before, vector) < _SAME):
            revision += 1
        self.id = self.family if revision == 1 else f"{self.family}-{revision}"
        return json.dumps([revision, vector])

    def close(self) -> None:
        """Wait for no answer any more."""
        self._server.hang_up()

    def _rows(self, texts: Sequence[str], seconds: float) -> Matrix:
        shown = [one[:MAX_CHARACTERS].replace("\0", " ").strip() or "." for one in texts]
        try:
            rows = self._checked(self._asked(shown, time.monotonic() + seconds), len(shown))
        except (OSError, ValueError, LookupError, TypeError) as error:
            said = " ".join(mask(self._without_key(str(error))).text.split())
            said = said[:_REASON_CHARACTERS].rstrip(".")
            raise EmbedderAway(f"The embedder {self.id} does not answer: {said}.") from error
        self.dim = rows.shape[1]
        return rows

    def _asked(self, texts: list[str], until: float) -> list[Any]:
        model = self._server.address.model
        body = {"model": model, "input": texts, "encoding_format": "float"}
        status, raw = self._server.post("/embeddings", body, until, MAX_BYTES)
        if _REDIRECT <= status < _REFUSED:
            raise ValueError(f"it answered {status} and leads elsewhere, which is not followed")
        if status != _OK:
            raise ValueError(f"it answered {status}: {raw[:1000].decode('utf-8', 'replace')}")
        data = sorted(json.loads(raw)["data"], key=lambda one: int(one["index"]))
        return [one["embedding"] for one in data]

    def _checked(self, given: list[Any], wanted: int) -> Matrix:
        """Return rows of length 1; raises ValueError where there are none to be made of it."""
        import numpy as np

        rows = np.asarray(given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != wanted or not rows.shape[1]:  # noqa: PLR2004
            raise ValueError(f"{wanted} texts were given and something else came back")
        if self.dim not in (0, rows.shape[1]):
            raise ValueError(f"vectors of {rows.shape[1]} numbers came, and before of {self.dim}")
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ValueError("a vector came that has no direction or is not made of numbers")
        return np.asarray(rows / lengths, dtype=np.float32)

    def _without_key(self, text: str) -> str:
        key = self._server.key
        return text.replace(key, "…") if key else text


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))
