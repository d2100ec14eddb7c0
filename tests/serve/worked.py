"""Episodes as agents leave them, for the tests of what is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultmind.app import App
from vaultmind.episodes.types import Event, Offer, Result, TaskMark
from vaultmind.types import Caller

MAIN = Caller("agent", "main", "test")
FILES = {"src/auth.py": {"f_affinity_score": 0.4}, "src/http.py": {"f_affinity_score": 0.0}}
OFFER = Offer(
    "f1", "", "code", FILES, tuple(FILES), 900, 4500, took_ms=31.0, rerank="none", cache="hit"
)  # fmt: skip


def leave(
    app: App, task: str, outcome: Result, edits: Sequence[str] = ("src/auth.py",),
    caller: Caller = MAIN,
) -> str:  # fmt: skip
    """Leave an episode with one plan, a read and edits, which has ended; return its name."""
    recorder, now = app.episodes.recorder, app.clock().isoformat(timespec="seconds")
    begun = recorder.start(TaskMark(task, "bugfix", f"f-{task}"), "shop", caller, session=task)
    recorder.offer(begun.name, replace(OFFER, time=now), caller)
    events = [Event("read", "", path="src/auth.py", tokens=300)]
    events += [Event("edit", "", path=path, change="modified") for path in edits]
    recorder.add(begun.name, events, caller)
    recorder.end(begun.name, outcome, "because", caller)
    return begun.name
