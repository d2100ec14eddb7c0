"""What a search is restricted to, and in words what is wrong with a filter."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.index.outlet import Outlet
from vaultmind.types import Caller, Kind, SearchRequest

_SHOWN_FOLDERS = 20
_NUMBERED = re.compile(r"m(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Where:
    """Which chunks may be found. Empty values do not restrict."""

    agents: tuple[str, ...] | None = None
    """Whose memory besides the notes; None for everyone's."""
    kinds: tuple[Kind, ...] = ()
    folder: str = ""
    tag: str = ""
    """Without `#`; its nested tags are meant too."""
    after: str = ""
    """ISO date, inclusive, as is `before`."""
    before: str = ""
    running: str = ""
    """Path of a session that is left out, from its message `since` on if that is given."""
    since: str = ""


def message_number(block: str) -> int:
    """Return the number of a message's block id, `m7`: 7; 0 for one that has none."""
    match = _NUMBERED.fullmatch(block)
    return int(match[1]) if match else 0


def where_of(request: SearchRequest, caller: Caller, readable: tuple[str, ...]) -> Where:
    """Return the filters of a request, and whose memory it is about.

    Raises BadArgument for an agent that is not there, or an end before its beginning.
    """
    if request.before and request.after > request.before:
        allowed = f"a day not later than 'before' ({request.before})"
        raise BadArgument("after", request.after, allowed)
    return Where(
        agents=_agents(request.agent, caller, readable),
        kinds=request.kinds,
        folder=request.folder,
        tag=request.tag.strip().lstrip("#").strip("/"),
        after=request.after,
        before=request.before,
        running=request.running,
        since=request.since,
    )


def _agents(wanted: str, caller: Caller, readable: tuple[str, ...]) -> tuple[str, ...]:
    """Return whose memory is searched; the caller's own may be too new to be there.

    An agent that keeps its memory from the caller is, to the caller, not there.
    """
    named = wanted or (caller.agent if caller.kind == "agent" else "*")
    if named == "*":
        return readable
    if named in {*readable, caller.agent}:
        return (named,)
    if readable:
        raise BadArgument("agent", named, _listed("'*' for all, or one of", readable))
    return ()


def folder_of(wanted: str, caller: Caller, outlet: Outlet) -> str:
    """Return a folder to search below; "" where none is wanted.

    Raises BadArgument for one that holds nothing that is shown to the caller, as for one that is
    not there: what there is names only folders that do.
    """
    folder = wanted.strip().strip("/")
    if not folder or _shows_any(folder, caller, outlet):
        return folder
    top = sorted(one.name for one in outlet.paths.root.iterdir() if one.is_dir())
    shown = [name for name in top if _shows_any(name, caller, outlet)]
    raise BadArgument(
        "folder", wanted, _listed("a folder of the vault with notes in it; at the top are", shown)
    )


def _shows_any(folder: str, caller: Caller, outlet: Outlet) -> bool:
    """Tell whether something below a folder is shown; looked for no further than the first."""
    try:
        top = outlet.paths.absolute(folder)
    except PathRefused:
        return False
    for at, folders, files in os.walk(top if not outlet.excludes(folder) else ""):
        inside = outlet.paths.relative(Path(at))
        if any(outlet.shows(f"{inside}/{name}", caller) for name in files):
            return True
        folders[:] = [name for name in folders if not outlet.excludes(f"{inside}/{name}")]
    return False


def _listed(what: str, names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN_FOLDERS]) or "none yet"
    more = len(names) - _SHOWN_FOLDERS
    return f"{what}: {shown}" + (f" and {more} more" if more > 0 else "")
