"""An episode's note past its retention: outcome, changed files, commits and decisions. Pure.

Only lines go that read to the letter as we write them. What a person wrote between or behind them
stays where it is, and so does a line of ours that a person's own lines hang on. A word that was
changed within a line of ours cannot be told from ours, and goes with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultmind.episodes.notes.lines import PlacedEvent, event_of, line_of, placed_events
from vaultmind.episodes.types import Event
from vaultmind.errors import BadArgument
from vaultmind.vault.edits import set_property
from vaultmind.vault.properties import FrontMatter, front_matter

_ROUTINE = frozenset(("read", "hit", "plan", "run"))
"""What goes whole: what was read, found, offered and run."""
_CHANGES = frozenset(("edit", "delta"))


def shrunk(text: str) -> str:
    """Return a note with what is kept for good, and marked as such.

    Raises BadArgument for front matter that is broken or missing: nothing is guessed about it.
    """
    return without_routine(text, front_matter(text))[0]


def without_routine(text: str, found: FrontMatter | None) -> tuple[str, int]:
    """Return a note as `shrunk` does, and how many events went; `found` is its front matter."""
    if found is None or found.fault:
        fault = found.fault if found else "missing or not to be read"
        raise BadArgument("front matter", fault, "a mapping of properties")
    body, day = found.body_start, str(found.properties.get("started", ""))[:10]
    placed, gone = placed_events(text, day, body), 0
    for one in reversed(going(placed)):
        if _is_ours(one, text) and not _is_hung_on(one, text):
            text = text[: one.start] + text[one.end :]
            gone += 1
    return set_property(text, "state", "shrunk"), gone


def going(placed: Sequence[PlacedEvent]) -> list[PlacedEvent]:
    """Return the events that go, in order: of several changes of a file the last one tells all."""
    told: set[tuple[str, str]] = set()
    gone = [one for one in placed if one.event.kind in _ROUTINE]
    last_first = (one for one in reversed(placed) if one.event.kind in _CHANGES)
    for one in last_first:
        event = one.event
        known = (event.path, "") in told
        if known and (not _begins(event) or (event.path, event.change) in told):
            gone.append(one)
        told |= {(event.path, ""), (event.path, event.change)}
    return sorted(gone, key=lambda one: one.start)


def _begins(event: Event) -> bool:
    """Tell whether a change says something that a later one does not: that the file was new."""
    return event.change == "added"


def _is_ours(one: PlacedEvent, text: str) -> bool:
    line = text[one.start : one.end].rstrip("\r\n")
    linked = "[[" in line  # rendering a line costs: the likely one first
    return line == line_of(one.event, links=linked) or line == line_of(one.event, links=not linked)


def _is_hung_on(one: PlacedEvent, text: str) -> bool:
    """Tell whether the line below is indented, and so belongs to this one."""
    stop = text.find("\n", one.end)
    below = text[one.end : len(text) if stop < 0 else stop].rstrip("\r")
    return below[:1] in (" ", "\t") and bool(below.strip()) and event_of(below) is None
