"""A stretch of the calendar, and how near a moment is to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

DAY = timedelta(days=1)
OPEN_SCALE = timedelta(days=30)
"""Distance at which a moment outside an open stretch ("since March") is worth one half."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a time expression means: from `start` up to, and without, `end`."""

    start: datetime | None
    """None: it has no beginning ("before Christmas")."""
    end: datetime | None
    """None: it has no end ("since March")."""
    text: str
    """The words that say so, as they stand in the text."""
    explicit: bool
    """Whether nothing was guessed: no year, no weekday's week, no "some", no "late"."""


def covers(span: Span, moment: datetime) -> bool:
    """Tell whether a moment lies in a span. A moment without a time zone is in the span's."""
    return _distance(span, moment) == timedelta(0)


def closeness(span: Span, moment: datetime) -> float:
    """Return how near a moment is to a span, in (0, 1]: 1 inside it, half for each scale outside.

    The scale is half of the span's length, a day at least: what is a week away from "in 2023" is
    near, what is a week away from "yesterday" is not.
    """
    if span.start is None or span.end is None:
        scale = OPEN_SCALE
    else:
        scale = max(DAY, (span.end - span.start) / 2)
    return float(0.5 ** min(1000.0, _distance(span, moment) / scale))


def _distance(span: Span, moment: datetime) -> timedelta:
    edge = span.start or span.end
    if edge is not None and (edge.tzinfo is None) != (moment.tzinfo is None):
        moment = moment.replace(tzinfo=edge.tzinfo)
    if span.start is not None and moment < span.start:
        return span.start - moment
    if span.end is not None and moment >= span.end:
        return max(moment - span.end, timedelta(microseconds=1))
    return timedelta(0)
