"""Episodes and the notes they lie in, made short for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from vaultmind.episodes.files import EpisodeFiles, line_of_offer
from vaultmind.episodes.note import rendered
from vaultmind.episodes.store import Tables
from vaultmind.episodes.types import Episode, Event, Offer, TaskMark
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=timezone(timedelta(hours=1)))
TODAY = "2026-11-22_001"


def iso(days_ago: float = 0.0, seconds: int = 0) -> str:
    return (NOW - timedelta(days=days_ago) + timedelta(seconds=seconds)).isoformat()


def event(kind: str, path: str = "", *, at: int = 0, days: float = 0.0, **more: Any) -> Event:
    return Event(kind, iso(days, at), path, **more)  # type: ignore[arg-type]


def episode(*events: Event, id: str = TODAY, days: float = 0.0, **more: Any) -> Episode:
    """Return one that is over; `task`, `fingerprint`, `kind` and `issues` are its task's."""
    mark = TaskMark(
        more.pop("task", "fix the jwt refresh"),
        more.pop("kind", "bugfix"),
        more.pop("fingerprint", "f-jwt"),
        issues=more.pop("issues", ()),
    )
    fields: dict[str, Any] = {
        "agent": "main",
        "source": "shop",
        "started": iso(days),
        "ended": iso(days, 600),
        "state": "ended",
        "outcome": "success",
    }
    numbered = tuple(
        replace(one, block=one.block or f"e{at}") for at, one in enumerate(events, start=1)
    )
    return Episode(id=id, task=mark, events=numbered, **(fields | more))


def worked(*events: Event, days: float = 0.0, **more: Any) -> Episode:
    """Return one whose events were days ago."""
    moved = tuple(replace(one, time=iso(days, at)) for at, one in enumerate(events))
    return episode(*moved, days=days, **more)


@contextmanager
def opened(path: Path) -> Iterator[Tables]:
    tables = Tables(path)
    try:
        yield tables
    finally:
        tables.close()


class Folder:
    """A vault with episodes in it, without a gate."""

    def __init__(self, root: Path) -> None:
        self.paths = VaultPaths(root)
        self.files = EpisodeFiles(self.paths, VaultReader(self.paths, 0))

    def put(self, one: Episode, *offers: Offer) -> Path:
        note = self.note(one.name)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(rendered(one), "utf-8")
        if offers:
            lines = "".join(map(line_of_offer, offers))
            (self.paths.root / self.files.offers_path(one.name)).write_text(lines, "utf-8")
        return note

    def note(self, name: str) -> Path:
        return self.paths.root / self.files.path(name)
