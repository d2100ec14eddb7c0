"""Tables of words that stand beside the code that reads them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def table(near: str, name: str = "words.toml") -> dict[str, Any]:
    """Return what a TOML file beside a module (its `__file__`) holds."""
    return tomllib.loads((Path(near).parent / name).read_text("utf-8"))
