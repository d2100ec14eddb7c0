"""Chroma's embedding functions as embedders: Ollama, a server of one's own, a hosted service.

What a function is given comes from the person's own configuration. Texts go to another machine
only where that says so; weights are never downloaded; a key comes from the environment alone. What
comes back is checked, since it comes from somewhere else.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vaultmind.errors import BadArgument, MissingExtra
from vaultmind.heavy import importing
from vaultmind.index.embedders.embed import CHROMA, MAX_CHARACTERS, EmbedderAway
from vaultmind.index.embedders.lane import Lane
from vaultmind.index.embedders.leaving import NotAskedOn, keep_to
from vaultmind.index.embedders.premises import Premises, premises_of

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

OWN = ("allow_remote", "timeout_seconds", "batch")
"""Options that are ours and not the function's."""
TIMEOUT_SECONDS, BATCH = 60.0, 16
QUESTION_SECONDS = 4.0
"""How long a question is waited for: whoever asks gets what the words find."""
_NOT_OF_THE_VECTOR = (*OWN, "api_key_env_var", "timeout")
"""Options with which a text's vector stays the same."""
_KEY, _VARIABLE = "api_key", "api_key_env_var"
_DOWNLOADS = "it downloads its model, and nothing here does so at run time; `use` is bundled"
_NEEDS_CODE = "it cannot be set up from a configuration file"
REFUSED = {
    "default": _DOWNLOADS,
    "onnx_mini_lm_l6_v2": _DOWNLOADS,
    "open_clip": "it is made for pictures and downloads its model",
    "amazon_bedrock": _NEEDS_CODE,
    "chroma_langchain": _NEEDS_CODE,
    "chroma-cloud-qwen": _NEEDS_CODE,
}
_REASON_CHARACTERS = 200
_RECOGNISED_BY = "The ferry to the island leaves at seven in the morning."
_SAME = 0.98
"""Cosine of one text's vectors: a model gives nearly the same again, whatever its hardware."""


class FunctionEmbedder:
    """Implements ports.Embedder with one of Chroma's functions.

    Raises EmbedderAway whenever the function does not give what it should: it is asked again.
    """

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        """Open the function; raises BadArgument and MissingExtra, which say what to do."""
        kind = _kind(name)
        self.premises: Premises = premises_of(name, options)
        self._seconds = float(options.get("timeout_seconds", TIMEOUT_SECONDS))
        self._batch = int(options.get("batch", BATCH))
        self._function = _opened(name, kind, options, self.premises)
        self.id = self.family = _id(name, options)
        """`family` is what the id was before another model answered by the same name."""
        self.dim = 0
        """Length of a vector; 0 until the first came."""
        self._texts, self._questions = Lane(), Lane()

    @property
    def sends_to(self) -> str:
        """Return the host that texts are sent to; empty when they stay on this machine."""
        return self.premises.host

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one L2-normalised row a text; raises EmbedderAway."""
        import numpy as np

        rows = [
            self._rows(self._texts, self._function, texts[at : at + self._batch], self._seconds)
            for at in range(0, len(texts), self._batch)
        ]
        return np.concatenate(rows) if rows else np.empty((0, self.dim), np.float32)

    def embed_query(self, text: str) -> Matrix:
        """Return the vector of a question; raises EmbedderAway, and soon once it has answered."""
        ask = getattr(self._function, "embed_query", self._function)
        seconds = min(self._seconds, QUESTION_SECONDS) if self.dim else self._seconds
        vector: Matrix = self._rows(self._questions, ask, [text], seconds)[0]
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
        self._texts.close()
        self._questions.close()

    def _rows(
        self, lane: Lane, ask: Callable[[list[str]], Any], texts: Sequence[str], seconds: float
    ) -> Matrix:
        shown = [one[:MAX_CHARACTERS].replace("\0", " ").strip() or "." for one in texts]
        try:
            rows = self._checked(lane.run(lambda: ask(shown), seconds), len(shown))
        except Exception as error:  # a function of somebody else raises what it likes
            said = _without_key(self._function, _said(error))
            raise EmbedderAway(f"The embedder {self.id} does not answer: {said}.") from error
        self.dim = rows.shape[1]
        return rows

    def _checked(self, given: Any, wanted: int) -> Matrix:  # noqa: ANN401
        """Return rows of length 1; raises ValueError where there are none to be made of it."""
        import numpy as np

        rows = np.asarray(given, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != wanted or not rows.shape[1]:  # noqa: PLR2004
            raise ValueError(f"{wanted} texts were given and something else came back")
        if self.dim not in (0, rows.shape[1]):
            raise ValueError(f"vectors of {rows.shape[1]} numbers came, and before of {self.dim}")
        if not np.isfinite(rows).all():
            raise ValueError("a vector came that is not made of numbers")
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ValueError("a vector came that has no direction")
        return np.asarray(rows / lengths, dtype=np.float32)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))


def _kind(name: str) -> type:
    known = _functions()
    if reason := REFUSED.get(name):
        raise BadArgument("index.embedder", f"{CHROMA}{name}", f"another function ({reason})")
    if name not in known:
        allowed = ", ".join(f"{CHROMA}{one}" for one in sorted(known) if one not in REFUSED)
        raise BadArgument("index.embedder", f"{CHROMA}{name}", allowed)
    kind: type = known[name]
    return kind


def _opened(name: str, kind: type, options: Mapping[str, Any], premises: Premises) -> Any:  # noqa: ANN401
    """Return the function itself. A key is taken from the environment variable that is named."""
    takes = inspect.signature(kind).parameters
    open_ended = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values())
    given = {key: value for key, value in options.items() if key not in OWN}
    for key, value in given.items():
        if key not in takes and not open_ended:
            allowed = ", ".join([*(one for one in takes if one != _KEY), *OWN])
            raise BadArgument(f"index.embedder_options.{key}", value, allowed)
    if "timeout" in takes:
        given.setdefault("timeout", int(options.get("timeout_seconds", TIMEOUT_SECONDS)))
    if _KEY in takes:
        given.pop(_VARIABLE, None)
        given |= _key(options, premises)
    for key, one in takes.items():
        if one.default is inspect.Parameter.empty and key not in given and one.kind.value < 2:  # noqa: PLR2004
            raise BadArgument(
                f"index.embedder_options.{key}", "", f"what {name} needs there", missing=True
            )
    try:
        with warnings.catch_warnings():  # Chroma would have a key named, and we hand it over
            warnings.simplefilter("ignore")
            function = kind(**given)
    except Exception as error:  # whatever a function's own package raises
        raise _cannot_open(name, error, given) from error
    keep_to(premises, name, function, keyed=_VARIABLE in options)
    return function


def _key(options: Mapping[str, Any], premises: Premises) -> dict[str, str]:
    """Return the key that is named; on this machine none is needed, and no other is sent there."""
    variable = options.get(_VARIABLE)
    if variable:
        value = os.environ.get(variable, "")
        if not value:
            allowed = "the name of an environment variable that is set where the daemon runs"
            raise BadArgument(f"index.embedder_options.{_VARIABLE}", variable, allowed)
        return {_KEY: value}
    return {} if premises.host else {_KEY: "none"}


def _cannot_open(name: str, error: Exception, given: Mapping[str, Any]) -> Exception:
    said = str(error).replace(str(given.get(_KEY) or "\0"), "…")[:_REASON_CHARACTERS]
    if found := re.search(r"pip install ([\w.\[\]-]+)", str(error)):
        return MissingExtra(
            f"The embedder '{CHROMA}{name}' needs the package {found[1]}, which is not installed.",
            hint=f"pip install {found[1]}, beside vaultmind.",
        )
    return BadArgument("index.embedder_options", f"{CHROMA}{name}", f"what it takes ({said})")


def _said(error: BaseException) -> str:
    """Return what went wrong, in words; a package may have put its own words over ours."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, NotAskedOn):
        cause = cause.__cause__ or cause.__context__
    return f"{cause or error}" or type(error).__name__


def _without_key(function: Any, text: str) -> str:  # noqa: ANN401
    """Return what an error said, in short and without the key it was asked with."""
    key = getattr(function, _KEY, None)
    shown = text.replace(key, "…") if isinstance(key, str) and len(key) > len("none") else text
    return " ".join(shown.split())[:_REASON_CHARACTERS].rstrip(".")


def _id(name: str, options: Mapping[str, Any]) -> str:
    """Return a name that differs wherever vectors may: function, model, and what else is set."""
    telling = {key: value for key, value in options.items() if key not in _NOT_OF_THE_VECTOR}
    written = json.dumps([name, telling], sort_keys=True, default=str)
    model = re.sub(r"[^\w.]+", "_", str(options.get("model_name") or options.get("model") or ""))
    digest = hashlib.sha256(written.encode()).hexdigest()[:8]
    return "-".join(part for part in ("chroma", name, model.strip("_")[-40:], digest) if part)


def _functions() -> dict[str, Any]:
    """Return Chroma's embedding functions by name."""
    with importing():
        from chromadb.utils.embedding_functions import known_embedding_functions

    return dict(known_embedding_functions)
