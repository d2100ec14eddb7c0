"""How near a chunk's time is to the time that a query names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache

from vaultmind.index.when import closeness, spans


def closeness_to(query: str, language: str, now: datetime) -> Callable[[str], float] | None:
    """Return what tells how near an ISO time is to that of a query; None where it names none.

    Of several times the nearest counts. `now` is what "last week" is counted from.
    """
    found = spans(query, language, now)
    if not found:
        return None

    @cache
    def near(time: str) -> float:
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            return 0.0
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=now.tzinfo)
        return max(closeness(span, moment) for span in found)

    return near
