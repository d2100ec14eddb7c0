"""The head of a GGUF file: what a model is, read without loading it.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import hashlib
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaultmind.errors import MinionFailed

MAGIC = b"GGUF"
HEAD_BYTES = 1_000_000
"""Of a file that are looked at: what a model says of itself stands before its vocabulary."""
_NUMBERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_STRING = 8


@dataclass(frozen=True, slots=True)
class Head:
    """What a model says of itself."""

    path: Path
    name: str
    architecture: str
    context_tokens: int
    """The window it was trained on; 0 where it does not say."""
    dim: int
    pools: bool
    """Whether it is made to embed texts: it names how it pools."""
    size_mb: float
    key: str
    """What tells it from any other model."""


def read_head(path: Path) -> Head:
    """Return what a GGUF file says; raise MinionFailed where there is none or it is another."""
    path = path.expanduser().absolute()
    try:
        with path.open("rb") as file:
            raw = file.read(HEAD_BYTES)
        size = path.stat().st_size
    except OSError as error:
        hint = "Name it by its whole path in `minion.model`."
        told = f"There is no model file {str(path)!r} to read: {error.strerror}."
        raise MinionFailed("missing", told, hint=hint) from error
    arch = _value(raw, "general.architecture")
    if not raw.startswith(MAGIC) or not isinstance(arch, str):
        hint = "Name a .gguf file in `minion.model`, or `extractive` to do without."
        raise MinionFailed("not_a_model", f"{path} is no GGUF model.", hint=hint)
    context, dim = (_value(raw, f"{arch}.{one}") for one in ("context_length", "embedding_length"))
    return Head(
        path=path,
        name=str(_value(raw, "general.name") or path.stem),
        architecture=arch,
        context_tokens=context if isinstance(context, int) else 0,
        dim=dim if isinstance(dim, int) else 0,
        pools=_value(raw, f"{arch}.pooling_type") is not None,
        size_mb=size / 1e6,
        key=hashlib.sha256(raw + str(size).encode()).hexdigest()[:12],
    )


def _value(raw: bytes, name: str) -> Any:  # noqa: ANN401
    """Return a value of a head; None where it has none, or one of another kind.

    An entry is the length of its name, the name, the kind of value, the value.
    """
    _, _, rest = raw.partition(struct.pack("<Q", len(name)) + name.encode())
    with suppress(struct.error):
        kind, size = struct.unpack_from("<IQ", rest)
        if kind == _STRING:
            return rest[12 : 12 + size].decode("utf-8", "replace")
        if kind in _NUMBERS:
            return struct.unpack_from(_NUMBERS[kind], rest, 4)[0]
    return None
