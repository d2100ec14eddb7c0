"""A task's fingerprint: equal for equal tasks, whoever writes them, on every machine. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from vaultmind.planner.intent.text import MAX_CHARS
from vaultmind.planner.types import TaskKind

VERSION = 1
"""Of how tasks are normalised: another one makes other fingerprints."""
LENGTH = 16
"""Hexadecimal digits: of a million tasks two meet by chance once in 37 million times."""


def fingerprint(
    terms: Iterable[str], references: tuple[str, ...], kind: TaskKind, source: str, task: str
) -> str:
    """Return the fingerprint of a task over a source; its terms are levelled.

    Of a task so long that only a part of it was looked at, every letter counts.
    """
    parts = [f"v{VERSION}", source, kind, *sorted(terms), "#", *sorted(set(references))]
    if len(task) > MAX_CHARS:
        parts += ["whole", hashlib.sha256(task.encode("utf-8", "replace")).hexdigest()]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:LENGTH]
