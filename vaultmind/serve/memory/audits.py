"""The doctor's look at the audit: is every chain whole, is every file there, is none doubled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from vaultmind.memory.audit.chain import Checked, verify
from vaultmind.memory.audit.reading import audit_files
from vaultmind.plural import counted
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

Finding = tuple[Literal["ok", "warn", "fail"], str, str]
"""A result, what was found, and what to do about it."""
SHOWN = 10
"""Faults of one file that are named; the rest is a number."""
_COPY = re.compile(r"(audit|tombstones)-(?![A-Za-z0-9-]+\.jsonl$).+\.jsonl")

RESTORE = (
    "If that was not you, compare the file with a backup or your sync's history. The facts are in "
    "the notes and are not touched by this; `vaultmind undo` may find less."
)
RESTORE_END = "If you did not remove them, put the file back from a backup or your sync's history."
MISSING = (
    "Put it back from a backup or your sync's history. If you removed it yourself, this ends with "
    "the next change, which begins a new one."
)
COPY = (
    "It is not part of the log. Compare it with the file it was copied from, then remove it; a "
    "copy of tombstones still hides what it names."
)


@dataclass(slots=True)
class _Sum:
    """What all the sound files hold together."""

    files: int = 0
    chained: int = 0
    notes: dict[str, int] = field(default_factory=dict)

    def add(self, checked: Checked) -> None:
        self.files += 1
        self.chained += checked.chained
        for words, number in (
            ("written before lines were chained, which nothing vouches for", checked.unchained),
            ("with their words erased", checked.erased),
            ("torn by a crash", checked.torn),
        ):
            self.notes[words] = self.notes.get(words, 0) + number

    def words(self) -> str:
        if not self.files:
            return "Nothing was changed yet."
        rest = [f"{counted(number, 'line')} {words}" for words, number in self.notes.items()
                if number]  # fmt: skip
        said = f"{counted(self.chained, 'line')} in {counted(self.files, 'file')}, chained as they "
        return f"{said}were written{'; ' if rest else ''}{', '.join(rest)}."


def examine(app: App, caller: Caller) -> Iterator[Finding]:
    """Check the audit files that a caller may know of, of all devices; yield what was found."""
    known, total, faults = app.heads.all(), _Sum(), 0
    agents = tuple(app.index.outlet.readable_agents(caller))
    for path, _ in audit_files(app.paths, agents):
        relative = app.paths.relative(path)
        with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            checked = verify(lines, known.pop(relative, ""))
        total.add(checked)
        for number, fault in enumerate(checked.faults):
            faults += 1
            if number < SHOWN:
                where = f", line {fault.line}" if fault.line else ""
                mend = RESTORE if fault.line else RESTORE_END
                yield "fail", f"{relative}{where}: {fault.what}.", mend
        if (more := len(checked.faults) - SHOWN) > 0:
            yield "fail", f"{relative}: {counted(more, 'more fault')}.", RESTORE
    for relative in missing(app, agents, known):
        faults += 1
        yield "warn", f"{relative} is missing: this device has written to it.", MISSING
    for finding in _copies(app, agents):
        faults += 1
        yield finding
    if not faults:
        yield "ok", total.words(), ""


def missing(app: App, agents: tuple[str, ...], known: Iterable[str]) -> tuple[str, ...]:
    """Return the files that this device wrote and that are gone; not those of a removed agent."""
    return tuple(
        relative
        for relative in known
        if app.paths.agent_of(relative) in agents and not app.reader.exists(relative)
    )


def _copies(app: App, agents: tuple[str, ...]) -> Iterator[Finding]:
    """Yield the copies that a sync program made of audit and tombstone files."""
    for agent in agents:
        folder = app.paths.root / app.paths.memory(agent)
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        for name in (path.name for path in paths):
            if _COPY.fullmatch(name):
                relative = f"{app.paths.memory(agent)}/{name}"
                yield "warn", f"{relative} is a copy that a sync program made.", COPY
