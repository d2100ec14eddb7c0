"""The head of a GGUF file: what a model is, read without loading it.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vaultmind.errors import MinionFailed

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_PAIRS, MAX_STRING = 4096, 1_000_000
"""Beyond these a file is no sound model: damaged, or made to hurt."""
_FIXED = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_TOKENIZER = "tokenizer."
"""The vocabulary, a megabyte or more, comes last: it is not read."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a model says of itself."""

    name: str
    architecture: str
    context_tokens: int
    """The window it was trained on; 0 where it does not say."""
    dim: int
    pools: bool
    """Whether it is made to embed texts: it names how it pools."""
    rope_base: float
    size_mb: float


def read_head(path: Path) -> Head:
    """Return what a GGUF file says; raise MinionFailed where there is none or it is another."""
    try:
        with path.open("rb") as file:
            values = _pairs(file, path)
            size_mb = path.stat().st_size / 1e6
    except FileNotFoundError:
        raise MinionFailed(
            "missing",
            f"There is no model file {str(path)!r}.",
            hint="Name it by its whole path in `minion.model`.",
        ) from None
    except OSError as error:
        raise MinionFailed("missing", f"{path} cannot be read: {error.strerror}.") from error
    arch = str(values.get("general.architecture", ""))
    if not arch:
        raise _no_model(path, "it names no architecture")
    return Head(
        name=str(values.get("general.name", "")) or path.stem,
        architecture=arch,
        context_tokens=_number(values.get(f"{arch}.context_length")),
        dim=_number(values.get(f"{arch}.embedding_length")),
        pools=f"{arch}.pooling_type" in values,
        rope_base=_real(values.get(f"{arch}.rope.freq_base")),
        size_mb=size_mb,
    )


def _pairs(file: BinaryIO, path: Path) -> dict[str, object]:
    """Return the single values of the head, up to the vocabulary."""
    try:
        if file.read(4) != MAGIC:
            raise _no_model(path, "it does not begin as one")
        version, _, count = struct.unpack("<IQQ", file.read(20))
        if version not in VERSIONS or count > MAX_PAIRS:
            raise _no_model(path, f"version {version} with {count} entries is none that is known")
        values: dict[str, object] = {}
        for _ in range(count):
            key = _string(file)
            if key.startswith(_TOKENIZER):
                break
            (kind,) = struct.unpack("<I", file.read(4))
            value = _value(file, kind)
            if value is not None:
                values[key] = value
        return values
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise _no_model(path, "its head is damaged") from error


def _value(file: BinaryIO, kind: int) -> object:
    """Return the next value; None for a list, which is stepped over."""
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = struct.unpack("<IQ", file.read(12))
        if inner in _FIXED:
            file.seek(count * struct.calcsize(f"<{_FIXED[inner]}"), 1)
            return None
        if inner != _STRING or count > MAX_STRING:
            raise ValueError(f"a list of {count} values of kind {inner}")
        for _ in range(count):
            _string(file)
        return None
    if kind not in _FIXED:
        raise ValueError(f"kind {kind}")
    code = f"<{_FIXED[kind]}"
    value: object = struct.unpack(code, file.read(struct.calcsize(code)))[0]
    return value


def _string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > MAX_STRING:
        raise ValueError(f"a string of {length} bytes")
    raw = file.read(length)
    if len(raw) < length:
        raise ValueError("it ends too early")
    return raw.decode("utf-8", "replace")


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _real(value: object) -> float:
    return value if isinstance(value, float) else 0.0


def _no_model(path: Path, why: str) -> MinionFailed:
    return MinionFailed(
        "not_a_model",
        f"{path} is no GGUF model: {why}.",
        hint="Name a .gguf file in `minion.model`, or `extractive` to do without.",
    )
