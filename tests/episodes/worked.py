"""Episodes and the notes they lie in, made short for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from vaultmind.episodes.files import EpisodeFiles, line_of_offer
from vaultmind.episodes.note import rendered
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
    names = ("task", "kind", "fingerprint", "risk", "issues")
    usual = ("fix the jwt refresh", "bugfix", "f-jwt", "low", ())
    mark = TaskMark(*(more.pop(name, it) for name, it in zip(names, usual, strict=True)))
    fields: dict[str, Any] = {"agent": "main", "source": "shop", "started": iso(days)}
    fields |= {"ended": iso(days, 600), "state": "ended", "outcome": "success"}
    moved = (replace(it, time=iso(days, at)) if days else it for at, it in enumerate(events))
    fields |= more
    if why := fields.get("rationale"):
        said = event("feedback", text=why, outcome=fields["outcome"])
        moved = (*moved, said)
        fields["why_block"] = f"e{len(events) + 1}"
    numbered = tuple(replace(it, block=it.block or f"e{at}") for at, it in enumerate(moved, 1))
    return Episode(id=id, task=mark, events=numbered, **fields)


class Folder:
    """A vault with episodes in it, without a gate."""

    def __init__(self, root: Path) -> None:
        self.paths = VaultPaths(root)
        self.files = EpisodeFiles(self.paths, VaultReader(self.paths, 0))

    def put(self, one: Episode, *offers: Offer) -> Path:
        note = self.paths.root / self.files.path(one.name)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(rendered(one), "utf-8")
        if offers:
            lines = "".join(map(line_of_offer, offers))
            (self.paths.root / self.files.offers_path(one.name)).write_text(lines, "utf-8")
        return note
