"""What is read from files: tables of words beside the code, and dataclasses kept as JSON."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@cache
def table(near: str, name: str = "words.toml") -> dict[str, Any]:
    """Return what a TOML file beside a module (its `__file__`) holds."""
    return tomllib.loads((Path(near).parent / name).read_text("utf-8"))


@cache
def adapter(of: object) -> TypeAdapter[Any]:
    """Return what reads and writes a dataclass as JSON, and raises ValueError for another's."""
    from pydantic import TypeAdapter  # takes its time

    return TypeAdapter(of)  # type: ignore[arg-type]


def keep_private(path: Path, value: object) -> None:
    """Write JSON at once and whole, readable for the person alone. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(value, indent=1), "utf-8")
    fresh.replace(path)
