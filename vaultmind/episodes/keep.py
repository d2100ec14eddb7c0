"""What of an event is kept: without secrets, on one line, not for ever and not twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from vaultmind import redact
from vaultmind.episodes.types import CHANGES, EVENT_KINDS, HOWS, Event, TaskMark, seconds_of
from vaultmind.errors import BadArgument
from vaultmind.memory.forget.taking import sentences
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

MAX_EVENTS, MAX_ROUTINE = 2_000, 1_800
"""Events that a note holds; the last are left for decisions, commits and what the person says."""
MAX_TEXT, MAX_TASK, MAX_PATH, MAX_WORD = 1_000, 4_000, 500, 200
"""Maximum numbers of characters."""
REPEAT_SECONDS = 300
"""What is read or found again within this time is no news."""
TOO_LONG = "(too long to be kept)"
_ELSEWHERE = re.compile(r"/|~|[A-Za-z]:|[A-Za-z][A-Za-z\d+.-]*:/{2}")
"""How a path begins that is none inside a source: at a root, a home, a drive, an address."""
MayName = Callable[[str], bool]


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
    """Return a name, an id or a symbol as it is kept: one that is too long is dropped."""
    line = one_line(redact.mask(text).text)
    return line if len(line) <= MAX_WORD else ""


def kept_task(task: TaskMark) -> TaskMark:
    """Return a task as it is kept."""
    return TaskMark(
        kept_text(task.text, MAX_TASK),
        kept_word(task.kind) or "unknown",
        kept_word(task.fingerprint),
        kept_word(task.risk) or "low",
        tuple(filter(None, map(kept_word, task.issues))),
    )


def kept_event(event: Event, now: str) -> Event:
    """Return an event as it is kept; without a time of its own it happens now.

    Raises BadArgument for a kind that there is not and for a path that leads out of its source.
    """
    for field, allowed in (("kind", EVENT_KINDS), ("change", ("", *CHANGES)), ("how", HOWS)):
        if (value := getattr(event, field)) not in allowed:
            raise BadArgument(field, value, ", ".join(filter(None, allowed)))
    time = now
    with suppress(ValueError):
        time = event.time if datetime.fromisoformat(event.time).tzinfo else now
    path = redact.mask(event.path.replace("\\", "/")).text
    parts = path.split("/")
    is_inside = _ELSEWHERE.match(path) is None and ".." not in parts
    if not (is_inside and len(path) <= MAX_PATH and one_line(path) == path):
        raise BadArgument("path", event.path, "a path inside the source, relative, with '/'")
    return replace(
        event,
        time=time,
        path="/".join(part for part in parts if part not in ("", ".")),
        symbol=kept_word(event.symbol),
        text=kept_text(event.text),
        commit=kept_word(event.commit),
        tokens=max(0, event.tokens),
        block="",
    )


def can_keep(event: Event) -> bool:
    """Tell whether an event can be kept: a file may have a name that no line of a note can hold."""
    with suppress(BadArgument):
        return bool(kept_event(event, ""))
    return False


def news(known: Iterable[Event], events: Iterable[Event]) -> list[Event]:
    """Return the events that a note takes which holds the known ones."""
    known, kept = [*known], list[Event]()
    last = {_place(one): seconds_of(one.time) for one in known}
    for event in events:
        most = MAX_EVENTS if event.kind in ("decision", "commit") else MAX_ROUTINE
        is_full = event.kind != "feedback" and len(known) + len(kept) >= most
        at, before = seconds_of(event.time), last.get(_place(event))
        is_repeat = event.kind in ("read", "hit") and before is not None
        if not is_full and not (is_repeat and abs(at - (before or 0)) < REPEAT_SECONDS):
            last[_place(event)] = at
            kept.append(event)
    return kept


def _place(event: Event) -> tuple[str, str, str]:
    return event.kind, event.path, event.symbol


def may_name(paths: VaultPaths, agent: str) -> MayName:
    """Return what tells whether a path may stand in an agent's records.

    None of another agent's memory, whoever saw it, and none with a secret in its name.
    """
    agents, own = f"{paths.agents}/".casefold(), agent.casefold()

    def may(path: str) -> bool:
        inside = path.replace("\\", "/").casefold()
        owner = inside[len(agents) :].partition("/")[0] if inside.startswith(agents) else own
        return owner == own and redact.mask(path).text == path

    return may


def own_events(events: Iterable[Event], may: MayName) -> Iterator[Event]:
    """Yield events without files that may not be named; those that say nothing more go."""
    for event in events:
        if may(event.path):
            yield event
        elif event.kind in ("decision", "feedback", "run", "plan"):
            yield replace(event, path="", symbol="")
