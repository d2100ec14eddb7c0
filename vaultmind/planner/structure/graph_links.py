"""Which file a link of a note means: as Obsidian finds it, or by a path relative to the note."""

from __future__ import annotations

import posixpath

from vaultmind.index.ties import folded
from vaultmind.planner.structure.graph_places import Asking, folder_of


def linked(asking: Asking, name: str) -> str:
    """Return the file that a link means; empty: there is none, or it is the note itself.

    A path from the note's folder or from the root is taken as it stands; else any file whose path
    ends so: one of the same folder first, then the one with the shortest path.
    """
    target = name.partition("|")[0].partition("#")[0].strip()
    if not target or target.startswith("//") or ":" in target.partition("/")[0]:
        return ""
    exact = _exact(asking, target)
    if exact:
        return exact if exact != asking.path else ""
    wanted = folded(target.strip("/"))
    while wanted.startswith(("./", "../")):
        wanted = wanted.partition("/")[2]
    found = [path for path in asking.files(wanted) if f"/{folded(path)}".endswith(f"/{wanted}")]
    here = folder_of(asking.path)
    found.sort(key=lambda path: (folder_of(path) != here, path.count("/"), len(path), path))
    return found[0] if wanted and found and found[0] != asking.path else ""


def _exact(asking: Asking, target: str) -> str:
    """Return the file that a path names: from the note's folder if it says so, or from the root."""
    folder = folder_of(asking.path)
    beside = posixpath.normpath(posixpath.join(folder, target.lstrip("/")))
    rooted = posixpath.normpath(target.lstrip("/"))
    both = [beside, rooted] if target.startswith(".") else [rooted, beside]
    if "/" not in target:
        both = [beside]  # its own folder first; elsewhere it is looked for by its name
    return asking.first(f"{path}{ending}" for path in both for ending in ("", ".md"))
