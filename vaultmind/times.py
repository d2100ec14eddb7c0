"""Times as files have them: ISO 8601, whose zone is this machine's where none is named."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, UTC, datetime


def parse_time(value: str) -> datetime:
    """Return a time with its zone. Raises ValueError."""
    moment = datetime.fromisoformat(value.strip())
    return moment if moment.tzinfo else moment.astimezone()


def time_of(text: str) -> datetime | None:
    """Return a time with its zone; None for text that is no time: a person may have edited it.

    Years at the very ends are none either: another zone may lie beyond them.
    """
    try:
        moment = parse_time(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None


def seconds_of(text: str) -> float:
    """Return a time in seconds since 1970, across time zones; 0 for text that is no time."""
    moment = time_of(text)
    return moment.timestamp() if moment else 0.0


def iso(moment: datetime) -> str:
    """Return a time as files store it: to the second, with its offset."""
    return moment.isoformat(timespec="seconds")


def local_time(value: object) -> str:
    """Return a time (ISO 8601 or seconds since 1970) as local time; empty if it is none."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return iso(datetime.fromtimestamp(value, UTC).astimezone())
        return iso(parse_time(value).astimezone()) if isinstance(value, str) else ""
    except (ValueError, OverflowError, OSError):
        return ""
