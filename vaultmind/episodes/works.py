"""Episodes as the figures of them need them, from the tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vaultmind.episodes.gains import Work
from vaultmind.episodes.times import time_of

if TYPE_CHECKING:
    from vaultmind.episodes.tables.rows import Row, TouchedFile
    from vaultmind.episodes.tables.tables import Tables
    from vaultmind.episodes.types import Offer


def works(tables: Tables, agents: Collection[str], since: datetime) -> list[Work]:
    """Return the episodes of some agents that began since a time."""
    rows = [one for one in tables.episodes(since=since) if one.agent in agents]
    names = [one.name for one in rows]
    touched, offers = tables.touched(names), tables.offers(names)
    first = tables.first_changes([name for name in names if name in offers])
    return [
        work_of(
            row,
            touched.get(row.name, ()),
            offers.get(row.name, ()),
            started,
            first.get(row.name, {}),
        )
        for row in rows
        if (started := time_of(row.started))
    ]


def work_of(
    row: Row,
    touched: Iterable[TouchedFile],
    offers: Sequence[Offer],
    started: datetime,
    first: Mapping[str, int],
) -> Work:
    """Return an episode as figures are made of it; `first` says when each file was changed."""
    files = [one for one in touched if one.reads or one.edits]
    changed = frozenset(one.path for one in files if one.edits and one.change != "added")
    return Work(
        source=row.source,
        started=started,
        state=row.state,
        outcome=row.outcome,
        is_told=bool(row.task and (row.edits or row.decisions)),
        has_read=bool(row.reads),
        used={one.path: one.last_at for one in files},
        changed=changed,
        changed_at=min((at for path, at in first.items() if path in changed), default=0),
        offers=tuple(offers),
    )
