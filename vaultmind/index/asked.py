"""What a search asks for, as filters; and in words what is wrong with a filter."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import date

from vaultmind.errors import BadArgument, PathRefused
from vaultmind.index.where import Where
from vaultmind.types import Caller, SearchRequest
from vaultmind.vault.paths import VaultPaths

_SHOWN_FOLDERS = 20


def where_of(
    request: SearchRequest, caller: Caller, readable: tuple[str, ...], paths: VaultPaths
) -> Where:
    """Return the filters of a request, and whose memory it is about.

    Raises BadArgument for a filter that nothing can pass: no such agent or folder, no such day,
    an end before its beginning.
    """
    if request.limit < 1 or request.per_note < 1 or request.max_tokens < 1:
        worst = min(request.limit, request.per_note, request.max_tokens)
        raise BadArgument("limit, per_note or max_tokens", worst, "1 or more")
    after, before = _day("after", request.after), _day("before", request.before)
    if after and before and after > before:
        raise BadArgument("after", request.after, f"a day not later than 'before' ({before})")
    return Where(
        agents=_agents(request.agent, caller, readable),
        kinds=request.kinds,
        folder=_folder(request.folder, {*readable, caller.agent}, paths),
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


def _folder(wanted: str, readable: Collection[str], paths: VaultPaths) -> str:
    folder = wanted.strip().strip("/")
    if not folder:
        return ""
    owner = paths.agent_of(f"{folder}/")
    try:
        if paths.absolute(folder).is_dir() and (not owner or owner in readable):
            return folder
    except PathRefused:
        pass
    with os.scandir(paths.root) as entries:
        top = [one.name for one in entries if one.is_dir() and not one.name.startswith(".")]
    raise BadArgument(
        "folder", wanted, _listed("a folder of the vault; at the top are", sorted(top))
    )


def _listed(what: str, names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_SHOWN_FOLDERS]) or "none yet"
    more = len(names) - _SHOWN_FOLDERS
    return f"{what}: {shown}" + (f" and {more} more" if more > 0 else "")


def _day(name: str, text: str) -> str:
    if not text:
        return ""
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        raise BadArgument(name, text, "an ISO date like 2026-02-20") from None
