"""Waiting for the index before a question is asked of it."""

from __future__ import annotations

import time

from vaultmind.cli.options import Settings
from vaultmind.cli.output.bars import progress
from vaultmind.cli.output.output import aside, dim

CHANGES_SECONDS = 3.0
"""How long one question waits for what changes in a vault that is indexed: many notes may change
for minutes, and the rest of them can be asked meanwhile."""
VECTORS_SECONDS = 1.0
"""How long one question waits for the last vectors; the answer says when meaning is incomplete."""
NEARLY_ALL = 100
"""So many vectors are made in about that time; while more are missing there is no waiting."""
BEHIND = "Notes are changing faster than they are indexed: what was written last may be missing."


def wait_for_index(settings: Settings, *, patient: bool) -> None:
    """Wait for all text, and for all vectors or the last few, with a bar on a terminal.

    Where everything was indexed before, what changes is waited for a moment only, and it is told
    when that was not enough.
    """
    backend = settings.backend()
    with progress(quiet=settings.json) as report:
        if patient:
            backend.call("index", {}, report)
            return
        began = time.monotonic()
        moment = {"vectors": False, "timeout_seconds": CHANGES_SECONDS}
        state = backend.call("index", moment, report)
        if state["phase"] != "ready":
            state = backend.call("index", {"vectors": False}, report)
        elif time.monotonic() - began >= CHANGES_SECONDS:
            if not settings.json:
                aside(dim(BEHIND))
            return
        if not state["embedder"] or state["embeddable"] - state["vectors"] <= NEARLY_ALL:
            backend.call("index", {"timeout_seconds": VECTORS_SECONDS}, report)
