"""What there is of models: what `vaultmind minion` shows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vaultmind.config import MinionConfig
from vaultmind.errors import BadArgument, MinionFailed, install_hint
from vaultmind.minion.choice import EXTRACTIVE, Minion
from vaultmind.minion.local import LocalGenerator
from vaultmind.minion.notes import Note, Notes, model_key, package_version
from vaultmind.ports import Generator
from vaultmind.types import PURPOSES, Prompt, Purpose, Turn


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the configuration."""

    name: str
    """As it is configured."""
    kind: Literal["gguf", "server", "unknown"]
    problem: str = ""
    """Why it cannot be used; empty where nothing is known against it."""
    hint: str = ""
    size_mb: float = 0.0
    context_tokens: int = 0
    trained_tokens: int = 0
    pid: int = 0
    """Of its running process; 0: it is not loaded."""
    learned: Note = field(default_factory=Note)


@dataclass(frozen=True, slots=True)
class Standing:
    """Who does what, and how each model is."""

    purposes: tuple[tuple[Purpose, tuple[str, ...]], ...]
    """Each with the names of its models, in order; the extractive engine comes after them."""
    models: tuple[Model, ...]
    llama_cpp: str
    """Version of llama-cpp-python; empty when it is not installed."""


def standing(config: MinionConfig, folder: Path, env: Mapping[str, str]) -> Standing:
    """Return who does what; nothing is loaded and nobody is asked for it."""
    minion = Minion(config, folder, env=env)
    chains = tuple((purpose, minion.chain(purpose)) for purpose in PURPOSES)
    names = dict.fromkeys(name for _, chain in chains for name in chain)
    models = tuple(_model(minion, name, Notes(folder)) for name in names)
    minion.close()
    return Standing(chains, models, package_version())


def _model(minion: Minion, name: str, notes: Notes) -> Model:
    try:
        found = minion.generator(name)
    except (MinionFailed, BadArgument) as failure:
        kind: Literal["gguf", "unknown"] = "gguf" if name.endswith(".gguf") else "unknown"
        return Model(name, kind, failure.message, failure.hint)
    if not isinstance(found, LocalGenerator):
        return Model(name, "server", context_tokens=found.context_tokens)
    note = notes.of(model_key(found.path))
    missing = "" if package_version() else "llama-cpp-python is not installed."
    return Model(
        name,
        "gguf",
        missing,
        install_hint("minion") if missing else "",
        size_mb=found.head.size_mb,
        context_tokens=found.context_tokens,
        trained_tokens=found.head.context_tokens,
        pid=note.pid if _lives(note.pid) else 0,
        learned=note,
    )


def _lives(pid: int) -> bool:
    """Tell whether a worker's process still runs; a number may have been given to another."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
        return b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return True  # a system without /proc: it lives, and that is all that can be known
    except OSError:
        return False


def try_out(generator: Generator, seconds: float) -> None:
    """Have a model say a word; raises MinionFailed where it cannot."""
    generator.generate(Prompt((Turn("user", "Say hello."),), max_tokens=4, seconds=seconds))


def named(name: str) -> str:
    """Return a model's name as a configuration should hold it: a file by its whole path."""
    if name == EXTRACTIVE or name.startswith(("http://", "https://")):
        return name
    return str(Path(name).expanduser().absolute())
