"""What a search is restricted to, and in words what is wrong with a filter."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import PurePath

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.index.outlet import Outlet
from vaultmind.types import Caller, Kind, SearchRequest
from vaultmind.vault.paths import VaultPaths

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


def where_of(
    request: SearchRequest, caller: Caller, readable: tuple[str, ...], paths: VaultPaths
) -> Where:
    """Return the filters of a request, and whose memory it is about.

    Raises BadArgument for a filter that nothing can pass: no such agent or folder, no such day,
    an end before its beginning.
    """
    if (worst := min(request.limit, request.per_note, request.max_tokens)) < 1:
        raise BadArgument("limit, per_note or max_tokens", worst, "1 or more")
    after, before = _day("after", request.after), _day("before", request.before)
    if after and before and after > before:
        raise BadArgument("after", request.after, f"a day not later than 'before' ({before})")
    folder = request.folder.strip().strip("/")
    owner = paths.agent_of(f"{folder}/")
    is_hidden = owner and owner not in {*readable, caller.agent}
    if folder and (is_hidden or not _is_folder(folder, paths)):
        raise BadArgument("folder", request.folder, "a folder of the vault")
    return Where(
        agents=_agents(request.agent, caller, readable),
        kinds=request.kinds,
        folder=folder,
        tag=request.tag.strip().lstrip("#").strip("/"),
        after=after,
        before=before,
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
    if not folder or (_is_folder(folder, outlet.paths) and _shows_any(folder, caller, outlet)):
        return folder
    with os.scandir(outlet.paths.root) as entries:
        top = sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
    shown = [name for name in top if _shows_any(name, caller, outlet)]
    raise BadArgument(
        "folder", wanted, _listed("a folder of the vault with notes in it; at the top are", shown)
    )


def _shows_any(folder: str, caller: Caller, outlet: Outlet) -> bool:
    """Tell whether something below a folder is shown; looked for no further than the first."""
    root = outlet.paths.root
    if outlet.excludes(folder):
        return False
    for at, folders, files in os.walk(root / folder):
        inside = PurePath(at).relative_to(root).as_posix()
        if any(outlet.shows(f"{inside}/{name}", caller) for name in files):
            return True
        folders[:] = [name for name in folders if not outlet.excludes(f"{inside}/{name}")]
    return False


def _is_folder(folder: str, paths: VaultPaths) -> bool:
    try:
        return paths.absolute(folder).is_dir()
    except PathRefused:
        return False


def _listed(what: str, names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN_FOLDERS]) or "none yet"
    more = len(names) - _SHOWN_FOLDERS
    return f"{what}: {shown}" + (f" and {more} more" if more > 0 else "")


def _day(name: str, text: str) -> str:
    try:
        return date.fromisoformat(text[:10]).isoformat() if text else ""
    except ValueError:
        raise BadArgument(name, text, "an ISO date like 2026-02-20") from None
