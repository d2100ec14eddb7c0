"""Where sessions stand: their ids in order, their files, and the way they are written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import date, datetime, tzinfo
from typing import Protocol

from vaultmind.session.records.stamps import await_saved
from vaultmind.types import Caller
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import SESSION_ID, VaultPaths
from vaultmind.vault.transcript import Transcript, parse_session


class Records(Protocol):
    """The part of the gate that stores records."""

    def save(self, relative: str, change: Change, caller: Caller, reason: str) -> object:
        """Change a file by compare-and-swap: `change` may be called again on new text."""
        ...

    def append(self, relative: str, text: str) -> object:
        """Append to a file and flush."""
        ...

    def keeps_records(self, agent: str) -> bool:
        """Tell whether an agent's conversations are written down."""
        ...


def session_ids(paths: VaultPaths, agent: str) -> tuple[str, ...]:
    """Return the ids of an agent's sessions, oldest first."""
    folder = paths.root / paths.sessions(agent)
    if not folder.is_dir():
        return ()
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    stems = (name[:-3] for name in names if name.endswith(".md"))
    return tuple(sorted((stem for stem in stems if SESSION_ID.fullmatch(stem)), key=order))


def order(session: str) -> tuple[str, int]:
    """Return what sorts session ids by time: the day, then the number."""
    day, _, number = session.partition("_")
    return day, int(number)


def next_id(sessions: Iterable[str], day: date, used: int = 0) -> str:
    """Return the id after the highest of a day; `used` is the highest that there ever was."""
    prefix = f"{day.isoformat()}_"
    numbers = (order(session)[1] for session in sessions if session.startswith(prefix))
    return f"{prefix}{max(used, *numbers, 0) + 1:03d}"


def read_session(
    reader: VaultReader, paths: VaultPaths, agent: str, session: str
) -> tuple[FileText, Transcript]:
    """Return a session's file and what it says. Raises NotFound, UnreadableNote."""
    await_saved(reader, paths.session(agent, session))
    file = reader.read(paths.session(agent, session))
    return file, parse_session(file.text)


def parse_time(value: str, zone: tzinfo | None = None) -> datetime:
    """Return an ISO 8601 time as an aware datetime; without an offset it is local time.

    Local means `zone`, or the system's zone. Raises ValueError.
    """
    moment = datetime.fromisoformat(value.strip())
    if moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=zone) if zone is not None else moment.astimezone()


def time_or_none(value: str) -> datetime | None:
    """Return a time, or None for what is none: a person may have edited it."""
    try:
        return parse_time(value)
    except ValueError:
        return None


def iso(moment: datetime) -> str:
    """Return a time as sessions store it: ISO 8601 to the second, with its offset."""
    return moment.isoformat(timespec="seconds")


class Creation:
    """A change that writes a new file, and tells whether the name was free."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.done = False

    def change(self, file: FileText | None) -> str | None:
        """Return the text for a file that does not exist."""
        self.done = file is None
        return self._text if file is None else None
