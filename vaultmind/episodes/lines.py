"""An event as a line of an episode's note, and back. Pure.

    - 10:00:03 read `src/auth.py` › `refresh` %%{"kind":"read","time":"2026-11-22T…",…}%% ^e12

The comment is the event; the words before it are for the person who reads the note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from vaultmind.episodes.types import CHANGES, EVENT_KINDS, HOWS, Change, Event, EventKind
from vaultmind.vault.nesting import comment
from vaultmind.vault.oneline import escape

VERBS: dict[tuple[EventKind, Change | None, bool | None], str] = {
    ("read", None, None): "read",
    ("hit", None, None): "found",
    ("edit", "added", None): "added",
    ("edit", "modified", None): "changed",
    ("edit", "removed", None): "removed",
    ("edit", None, None): "edited",
    ("delta", "added", None): "saw added",
    ("delta", "modified", None): "saw changed",
    ("delta", "removed", None): "saw removed",
    ("delta", None, None): "saw",
    ("decision", None, None): "decided",
    ("feedback", None, None): "was told",
    ("plan", None, None): "planned",
    ("commit", None, None): "committed",
    ("run", None, True): "ran well",
    ("run", None, False): "ran and failed",
    ("run", None, None): "ran",
}
"""What a line calls each event, by its kind, what became of the file, and how a run went."""
_FIELDS = ("kind", "time", "path", "symbol", "text", "change", "commit", "tokens", "ok", "how")
_UNLINKABLE = set("[]|#^\\%`")
_BLOCK = re.compile(r"[ \t]+\^([A-Za-z0-9-]+)")
_NUMBERED = re.compile(r"\^e(\d+)\b")


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and where its line stands in the note: `start` to `end`, the newline included."""

    event: Event
    start: int
    end: int


def line_of(event: Event, *, links: bool = False) -> str:
    """Return an event's bullet, on one line without its newline.

    With `links` its file is one that Obsidian can open.
    """
    values = {name: getattr(event, name) for name in _FIELDS}
    held = {name: it for name, it in values.items() if it is False or it not in ("", 0, None)}
    block = f" ^{event.block}" if event.block else ""
    return f"- {_shown(event, links)} {comment(held)}{block}"


def event_of(line: str) -> Event | None:
    """Return what a line says was done; None for one that is no event. Never raises."""
    shown, _, rest = line.strip().partition(" %%{")
    meta, closed, tail = rest.rpartition("}%%")
    if not closed or shown[:2] not in ("- ", "* ", "+ "):
        return None
    try:
        held = json.loads(f"{{{meta}}}")
    except (ValueError, RecursionError):
        return None
    if held.get("kind") not in EVENT_KINDS:
        return None
    block, tokens = _BLOCK.fullmatch(tail), held.get("tokens")
    texts = ("time", "path", "symbol", "text", "commit")
    return Event(
        held["kind"],
        **{one: held[one] if isinstance(held.get(one), str) else "" for one in texts},
        change=held["change"] if held.get("change") in CHANGES else "",
        tokens=tokens if type(tokens) is int and 0 < tokens < 1 << 62 else 0,
        ok=held["ok"] if isinstance(held.get("ok"), bool) else None,
        how=held["how"] if held.get("how") in HOWS else "person",
        block=block[1] if block else "",
    )


def placed_events(text: str, begin: int = 0) -> list[PlacedEvent]:
    """Return the events of a note in the order of its lines."""
    found, at = [], begin
    for line in text[begin:].splitlines(keepends=True):
        if "}%%" in line and (event := event_of(line)) is not None:
            found.append(PlacedEvent(event, at, at + len(line)))
        at += len(line)
    return found


def numbered(
    events: list[Event], text: str, hides: Callable[[str], bool] = lambda block: False
) -> list[Event]:
    """Return events with ids that no line of a note has, nor had one that is hidden."""
    first = 1 + max(map(int, _NUMBERED.findall(text)), default=0)
    while hides(f"e{first}"):
        first += 1
    return [replace(event, block=f"e{number}") for number, event in enumerate(events, first)]


def _shown(event: Event, links: bool) -> str:
    """Return an event in words, as its line has them."""
    meaning = (event.kind, event.change or None, event.ok)
    shown = f"{event.time[11:19] or '00:00'} {VERBS.get(meaning) or VERBS[event.kind, None, None]}"
    symbol = event.symbol
    if event.path and links and not _UNLINKABLE & set(event.path):
        heading = f"#{symbol}" if symbol and not _UNLINKABLE & set(symbol) else ""
        shown += f" [[{event.path}{heading}]]"
        symbol = "" if heading else symbol
    elif event.path:
        shown += f" {_ticked(event.path)}"
    shown += f" › {_ticked(symbol)}" if symbol else ""
    shown += f" as {_ticked(event.commit)}" if event.commit else ""
    return shown + (f": {escape(event.text)}" if event.text else "")


def _ticked(text: str) -> str:
    """Return a text in as many backticks as it needs; nothing in it may begin a comment."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks, pad = "`" * (longest + 1), " " if "`" in text else ""
    return f"{ticks}{pad}{text.replace('%%', '% %')}{pad}{ticks}"
