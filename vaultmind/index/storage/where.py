"""Filters of a search, as SQL over `chunks c`: they come before ranking, not after."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmind.types import Kind

_DATE = """CASE WHEN c.time <> '' THEN substr(c.time, 1, 10) ELSE (
    SELECT strftime('%Y-%m-%d', f.mtime_ns / 1000000000, 'unixepoch', 'localtime')
    FROM files f WHERE f.path = c.path) END"""

_OLDER = "(c.block GLOB 'm[0-9]*' AND CAST(substr(c.block, 2) AS INTEGER) < ?)"
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

    @property
    def is_of_collections(self) -> bool:
        """Tell whether the collections of vectors that are asked hold just what passes."""
        return not (self.folder or self.tag or self.after or self.before or self.running)

    def sql(self) -> tuple[str, list[str | int]]:
        """Return a condition on `c` and its parameters."""
        parts: list[str] = []
        values: list[str | int] = []
        if self.agents is not None:
            parts.append(f"c.agent IN ({_marks(len(self.agents) + 1)})")
            values += ["", *self.agents]
        if self.kinds:
            parts.append(f"c.kind IN ({_marks(len(self.kinds))})")
            values += self.kinds
        if self.folder:
            parts.append("substr(c.path, 1, length(?)) = ?")
            values += [f"{self.folder}/"] * 2
        if self.tag:
            parts.append("(instr(c.tags, ?) OR instr(c.tags, ?))")
            values += [f" {self.tag.casefold()} ", f" {self.tag.casefold()}/"]
        for sign, day in ((">=", self.after), ("<=", self.before)):
            if day:
                parts.append(f"{_DATE} {sign} ?")
                values.append(day)
        if self.running:
            older = _OLDER if (number := message_number(self.since)) else "0"
            parts.append(f"(c.path <> ? OR {older})")
            values += [self.running, *([number] if number else [])]
        return " AND ".join(parts) or "1", values


def message_number(block: str) -> int:
    """Return the number of a message's block id, `m7`: 7; 0 for one that has none."""
    match = _NUMBERED.fullmatch(block)
    return int(match[1]) if match else 0


def _marks(count: int) -> str:
    return ", ".join("?" * count)
