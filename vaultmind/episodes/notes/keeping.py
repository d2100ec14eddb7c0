"""What of an event is kept: without secrets, on one line, not for ever and not twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from vaultmind import redact
from vaultmind.episodes.notes.lines import CHANGES, HOWS
from vaultmind.episodes.types import EVENT_KINDS, Event, TaskMark
from vaultmind.errors import BadArgument
from vaultmind.memory.forget.wanted import sentences
from vaultmind.vault.oneline import one_line

MAX_EVENTS, MAX_CHANGES, MAX_ROUTINE = 2_000, 1_900, 1_500
"""Events that a note holds; the last are left for decisions, commits and what the person says."""
MAX_BYTES = 4_500_000
"""Of the events of a note, about."""
LINE_BYTES = 150
"""Of a line, beside its path and its words."""
MAX_TEXT, MAX_TASK, MAX_PATH, MAX_WORD = 1_000, 4_000, 500, 200
"""Characters."""
REPEAT_SECONDS = 300.0
"""What is read or found again within this time is no news."""
TOO_LONG = "(too long to be kept)"
_ELSEWHERE = re.compile(r"/|~|[A-Za-z]:|[A-Za-z][A-Za-z\d+.-]*:/{2}")
"""How a path begins that is none inside a source: at a root, a home, a drive, an address."""
_ROUTINE = frozenset({"read", "hit", "run", "plan"})
_REPEATED = frozenset({"read", "hit"})


def kept_text(text: str, most: int = MAX_TEXT) -> str:
    """Return words as they are kept: on one line, without secrets and private passages.

    Of a long text the first sentences, each whole: an erasure knows a sentence by all of it.
    """
    line = one_line(redact.mask(redact.blank_passages(text)).text)
    if len(line) <= most:
        return line
    kept, room = [], most - len(TOO_LONG) - 1
    for sentence in sentences(line):
        room -= len(sentence) + 1
        if room < 0:
            break
        kept.append(sentence)
    return " ".join([*kept, TOO_LONG])


def kept_word(text: str) -> str:
    """Return a name, an id or a symbol as it is kept: what is too long is none."""
    line = one_line(redact.mask(text).text)
    return line if len(line) <= MAX_WORD else ""


def kept_task(task: TaskMark) -> TaskMark:
    """Return a task as it is kept."""
    return TaskMark(
        text=kept_text(task.text, MAX_TASK),
        kind=kept_word(task.kind) or "unknown",
        fingerprint=kept_word(task.fingerprint),
        risk=kept_word(task.risk) or "low",
        issues=tuple(filter(None, map(kept_word, task.issues))),
    )


def kept_event(event: Event, now: str) -> Event:
    """Return an event as it is kept; without a time of its own it happens now.

    Raises BadArgument for a kind that there is not and for a path that leads out of its source.
    """
    _check(event.kind in EVENT_KINDS, "kind", event.kind, ", ".join(EVENT_KINDS))
    _check(event.change in ("", *CHANGES), "change", event.change, ", ".join(CHANGES))
    _check(event.how in HOWS, "how", event.how, ", ".join(HOWS))
    return replace(
        event,
        time=event.time if _is_time(event.time) else now,
        path=_kept_path(event.path),
        symbol=kept_word(event.symbol),
        text=kept_text(event.text),
        commit=kept_word(event.commit),
        tokens=max(0, event.tokens),
        block="",
    )


def can_keep(event: Event) -> bool:
    """Tell whether an event can be kept: `kept_event` raises for one that cannot.

    A file may have a name that no line of a note can hold.
    """
    try:
        kept_event(event, "")
    except BadArgument:
        return False
    return True


class Keeping:
    """Decides of an episode's events, one after the other, which are news."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Take what the note holds already."""
        self._count = self._bytes = 0
        self._last: dict[tuple[str, str, str], float] = {}
        for event in events:
            self._take(event)

    def takes(self, event: Event) -> bool:
        """Tell whether an event is kept, and count it."""
        routine, changes = event.kind in _ROUTINE, event.kind in ("edit", "delta")
        most = MAX_ROUTINE if routine else MAX_CHANGES if changes else MAX_EVENTS
        if event.kind != "feedback" and (self._count >= most or self._bytes >= MAX_BYTES):
            return False
        if event.kind in _REPEATED:
            last = self._last.get(_key(event))
            if last is not None and abs(_seconds(event.time) - last) < REPEAT_SECONDS:
                return False
        self._take(event)
        return True

    def _take(self, event: Event) -> None:
        self._count += 1
        self._bytes += LINE_BYTES + len(f"{event.path}{event.symbol}{event.text}".encode())
        if event.kind in _REPEATED:
            self._last[_key(event)] = _seconds(event.time)


def _key(event: Event) -> tuple[str, str, str]:
    return event.kind, event.path, event.symbol


def _kept_path(path: str) -> str:
    """Return a path inside a source. Raises BadArgument for one that leads out of it."""
    if not path:
        return ""
    said = redact.mask(path.replace("\\", "/")).text
    parts = said.split("/")
    inside = _ELSEWHERE.match(said) is None and ".." not in parts
    whole = len(said) <= MAX_PATH and one_line(said) == said
    _check(inside and whole, "path", path, "a path inside the source, relative, with '/'")
    return "/".join(part for part in parts if part not in ("", "."))


def _check(holds: bool, field: str, value: object, allowed: str) -> None:
    if not holds:
        raise BadArgument(field, value, allowed)


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0
