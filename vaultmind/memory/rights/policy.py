"""The words of a decision: levels, verdicts, and one more care for what is sensitive.

Levels: 0 read only, 1 suggest, 2 auto (default), 3 full. They bind agents, never the person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.memory.audit import FOUND
from vaultmind.memory.sensitive import sensitive
from vaultmind.types import MemoryWrite

Verdict = Literal["deny", "suggest", "allow"]
VERDICTS: tuple[Verdict, ...] = ("deny", "suggest", "allow")
"""From what permits least to what permits most."""

Operation = Literal["remember", "replace", "forget"]

READ_ONLY, SUGGEST, AUTO, FULL = 0, 1, 2, 3
LEVELS = (READ_ONLY, SUGGEST, AUTO, FULL)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a caller may do, and the reason in words."""

    verdict: Verdict
    reason: str


def inferred(write: MemoryWrite) -> bool:
    """Tell whether nobody asked for a write: it was read out of a conversation, or reported."""
    return write.how in FOUND and write.caller.kind != "person"


def cautious(write: MemoryWrite, decision: Decision, *, enabled: bool) -> Decision:
    """Return a decision one level more careful where an agent would keep something sensitive."""
    if not enabled or decision.verdict != "allow" or write.caller.kind == "person":
        return decision
    if write.op == "forget" or not (kinds := sensitive(write.text)):
        return decision
    return Decision("suggest", f"it touches {', '.join(sorted(kinds))}, which waits for the person")
