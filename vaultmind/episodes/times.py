"""Times as notes and files say them: a person, or another program, may have written anything."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, datetime


def time_of(text: str) -> datetime | None:
    """Return a time with its zone, else this machine's; None of what is none.

    None as well in the first and the last year there are: another zone may lie beyond them.
    """
    try:
        moment = datetime.fromisoformat(text)
        if not MINYEAR < moment.year < MAXYEAR:
            return None
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
