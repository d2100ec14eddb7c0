"""Whether what is to be imported stands in memory already, taken in as other sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from vaultmind.session.records.store import parse_time
from vaultmind.types import Message
from vaultmind.vault.nesting import safe


def moment(time: str) -> datetime | str:
    """Return a message's time to compare by; what is none as it is written."""
    try:
        return parse_time(time)
    except ValueError:
        return time


def mostly_the_same(stored: Iterable[Message], told: Sequence[Message]) -> bool:
    """Tell whether more than half of the shorter of two talks stands in the other.

    Told by time and words: messages without an id are numbered anew in other sessions.
    """
    there = {(moment(one.time), one.text) for one in stored}
    new = {(moment(one.time), safe(one.text)) for one in told}
    return 2 * len(there & new) > min(len(there), len(new)) > 0
