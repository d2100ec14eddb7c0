"""What an agent or a person tells of a task, line by line, as it is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from vaultmind.episodes.types import Event, How
from vaultmind.errors import BadArgument
from vaultmind.serve.ops.episodes import Happened, HappenedKind
from vaultmind.session.records.store import iso, parse_time
from vaultmind.types import Caller
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import checked_parts

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.planner.sources import Source

CLOCKS_DIFFER = timedelta(minutes=1)
NEEDS: dict[HappenedKind, tuple[str, ...]] = {
    "read": ("path",),
    "edit": ("path",),
    "hit": ("path", "text"),
    "delta": ("path",),
    "decision": ("text",),
    "commit": ("commit",),
    "run": ("text",),
}
"""Of each kind what makes it worth a line: one of these."""
SHOWN_ABSENT = 3
"""Files that are told and not there, of which an answer names so many."""
LINES = "`read PATH`, `edit PATH`, `decision WHAT, WHY`, `run COMMAND ok`, `commit ID`"
_RESULT = re.compile(r"[\s:,(–-]{1,20}(ok|passed|failed)\)?\.?$", re.IGNORECASE)


def read_line(line: str, at: int) -> dict[str, Any]:
    """Return what a line of an agent tells, by its first word. Raises BadArgument naming it."""
    kind, _, rest = line.strip().partition(" ")
    kind, rest = kind.lower().rstrip(":"), rest.strip()
    if kind not in get_args(HappenedKind) or not rest:
        raise BadArgument(f"events[{at}]", line, LINES)
    if kind == "commit":
        commit, _, text = rest.partition(" ")
        return {"kind": kind, "commit": commit, "text": text.strip()}
    if kind == "run":
        found = _RESULT.search(rest)
        ok = found[1].lower() != "failed" if found else None
        return {"kind": kind, "text": rest[: found.start()] if found else rest, "ok": ok}
    return {"kind": kind, "text" if kind == "decision" else "path": rest}


def make_events(
    app: App, caller: Caller, told: Sequence[Happened], source: Source
) -> Iterator[Event]:
    """Yield events as they are kept. Raises BadArgument naming the one that says too little."""
    now = app.clock()
    how: How = "person" if caller.kind == "person" else "reported"
    for at, one in enumerate(told):
        needs = NEEDS[one.kind]
        if not any(getattr(one, name).strip() for name in needs):
            allowed = f"what a {one.kind!r} is of"
            raise BadArgument(f"events[{at}].{needs[0]}", "", allowed, missing=True)
        yield Event(
            kind=one.kind,
            time=_time(one.time, at, now),
            path=_inside(source, one.path, at),
            symbol=one_line(one.symbol),
            text=one.text.strip(),
            change=one.change or "",
            commit=one.commit.strip(),
            tokens=one.tokens,
            ok=one.ok,
            how=how,
        )


def absent_files(source: Source, events: Sequence[Event], caller: Caller) -> str:
    """Return which files of some events are not there, of those that a caller may know of."""
    told = (one.path for one in events if one.path and one.change != "removed")
    shows = source.index.outlet.shows
    gone = [path for path in dict.fromkeys(told) if shows(path, caller) and not source.has(path)]
    if not gone:
        return ""
    some = one_line(", ".join(gone[:SHOWN_ABSENT]))
    more = f" and {len(gone) - SHOWN_ABSENT:,} more" if len(gone) > SHOWN_ABSENT else ""
    return (
        f" No {some}{more} is in {source.name} now: it is kept, and no plan offers it. "
        "What was deleted is told with the change removed."
    )


def _inside(source: Source, path: str, at: int) -> str:
    """Return a path as it is called in a source. Raises BadArgument, PathRefused outside it."""
    path = path.strip()
    if not path:
        return ""
    if not (Path(path).is_absolute() or path.startswith("~")):
        return "/".join(checked_parts(path.removeprefix("./")))
    try:
        inside = Path(path).expanduser().resolve().relative_to(source.root.resolve())
    except (ValueError, OSError, RuntimeError) as error:
        allowed = f"a path in {source.name}, relative to its root"
        raise BadArgument(f"events[{at}].path", path, allowed) from error
    return inside.as_posix()


def _time(given: str, at: int, now: datetime) -> str:
    """Return when it happened: now, where nobody says or it would be in the future."""
    if not given:
        return iso(now)
    try:
        moment = parse_time(given)
        return iso(moment if moment <= now + CLOCKS_DIFFER else now)
    except (ValueError, OverflowError) as error:
        allowed = "ISO 8601, e.g. 2026-02-20T10:00:03+01:00"
        raise BadArgument(f"events[{at}].time", given, allowed) from error
