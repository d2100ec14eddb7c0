"""A task's fingerprint: equal for equal tasks, whoever writes them, on every machine. Pure."""

from __future__ import annotations

import hashlib

from vaultmind.planner.intent.text import MAX_CHARS
from vaultmind.planner.types import TaskKind

VERSION = 1
"""Of how tasks are normalised: another one makes other fingerprints."""
LENGTH = 16
"""Hexadecimal digits: of a million tasks two meet by chance once in 37 million times."""


def fingerprint(
    terms: tuple[str, ...], references: tuple[str, ...], kind: TaskKind, source: str, task: str
) -> str:
    """Return the fingerprint of a normalised task over a source.

    Of a task so long that only a part of it was looked at, all of it counts, but for its spaces.
    """
    parts = [f"v{VERSION}", source, kind, *terms, "#", *sorted(set(references))]
    if len(task) > MAX_CHARS:
        parts += ["whole", hashlib.sha256(" ".join(task.split()).encode()).hexdigest()]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:LENGTH]
