"""Who may change whose memory. Pure: the caller, the target and the level decide.

Levels: 0 read only, 1 suggest, 2 auto (default), 3 full. They bind agents, never the person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vaultmind.types import Caller

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


def decide(caller: Caller, target: str, level: int, op: Operation) -> Decision:
    """Return whether a caller may change a target's facts. `level` is the target's."""
    if caller.kind == "person":
        return Decision("allow", "the person's own command")
    if caller.agent != target:
        return Decision(
            "deny", f"{caller.agent} may read {target}'s memory, not {op} anything in it"
        )
    if level <= READ_ONLY:
        return Decision("deny", f"{target} may only read its memory (autonomy 0)")
    if level == SUGGEST:
        return Decision("suggest", f"{target} may only suggest changes (autonomy 1)")
    return Decision("allow", f"autonomy {min(level, FULL)}")


def keeps_records(level: int) -> bool:
    """Tell whether an agent of this level has its conversations kept."""
    return level > READ_ONLY
