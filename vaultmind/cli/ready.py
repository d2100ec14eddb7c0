"""Waiting for the index before a question is asked of it."""

from __future__ import annotations

from vaultmind.cli.bars import progress
from vaultmind.cli.options import Settings

VECTORS_SECONDS = 1.0
"""How long one question waits for the last vectors; the answer says when meaning is incomplete."""
NEARLY_ALL = 100
"""So many vectors are made in about that time; while more are missing there is no waiting."""


def wait_for_index(settings: Settings, *, patient: bool) -> None:
    """Wait for all text, and for all vectors or the last few, with a bar on a terminal."""
    backend = settings.backend()
    with progress(quiet=settings.json) as report:
        if patient:
            backend.call("index", {}, report)
            return
        state = backend.call("index", {"vectors": False}, report)
        if not state["embedder"] or state["embeddable"] - state["vectors"] <= NEARLY_ALL:
            backend.call("index", {"timeout_seconds": VECTORS_SECONDS}, report)
