"""The doctor's look at the audit: copies that a sync program made, and lines nobody can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from vaultmind.memory.audit import audit_files, parse_line
from vaultmind.plural import counted
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

Finding = tuple[Literal["ok", "warn", "fail"], str, str]
"""A result, what was found, and what to do about it."""
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")
COPY = (
    "It is not part of the log. Compare it with the file it was copied from, then remove it; a "
    "copy of tombstones still hides what it names."
)


def examine(app: App, caller: Caller) -> Iterator[Finding]:
    """Look at the audit files that a caller may know of, of all devices; yield what was found."""
    lines = files = torn = 0
    agents = tuple(app.index.outlet.readable_agents(caller))
    for path, _ in audit_files(app.paths, agents):
        raws = [raw for raw in path.read_text("utf-8", errors="replace").split("\n") if raw.strip()]
        files += 1
        lines += len(raws)
        torn += sum(parse_line(raw) is None for raw in raws)
    copies = [*_copies(app, agents)]
    yield from copies
    if copies:
        return
    said = (
        f"{counted(lines, 'line')} in {counted(files, 'file')}"
        if files
        else "Nothing was changed yet"
    )
    yield "ok", said + (f", {torn} of them torn by a crash." if torn else "."), ""


def _copies(app: App, agents: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the copies that a sync program made of audit and tombstone files."""
    for agent in agents:
        folder = app.paths.root / app.paths.memory(agent)
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        for name in (path.name for path in paths):
            if _COPY.fullmatch(name):
                relative = f"{app.paths.memory(agent)}/{name}"
                yield "warn", f"{relative} is a copy that a sync program made.", COPY
