"""What extraction did not keep, told in the audit so that a person can see it and why.

Told once: a run that was cut short and begins again finds what it told before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from vaultmind.memory.audit.drops import counted_rest, drops_of
from vaultmind.memory.audit.lines import DROP
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.redact import blank_private, mask
from vaultmind.types import Caller, MemoryWrite, MessageRef
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import VaultPaths

TOLD = 20
"""Facts of one session that get a line each; the rest are counted in one more."""
MAX_CHARS = 200
DROPPED = "dropped"
"""The outcome of a line that tells of a fact which was not kept."""
TOO_MANY = "too many"
FORGOTTEN = "forgotten"
TAKEN_BACK = "taken back"
_UNTOLD = frozenset({"secret", "private", "asked not to keep", FORGOTTEN})
"""Reasons for which the words of a fact stand nowhere, not even here."""
_BLOCK = re.compile(r"m\d+")

Dropped = tuple[str, str, tuple[str, ...]]
"""A fact that was not kept, why, and the blocks or ids of the messages that it came from."""


class Dropping:
    """Tells the audit what was dropped. The caller holds the agent's lock."""

    def __init__(self, paths: VaultPaths, ledger: Ledger) -> None:
        self._paths = paths
        self._ledger = ledger

    def tell(self, agent: str, session: str, dropped: Sequence[Dropped], caller: Caller) -> int:
        """Write a line for each fact that was dropped and not told before; return how many."""
        before = drops_of(self._paths, agent, session)
        known = Counter((one.text, one.reason, one.block) for one in before if not one.counts)
        room = TOLD - known.total()
        rest: Counter[str] = Counter()
        told = 0
        for text, reason, evidence in dropped:
            block = next((one for one in reversed(evidence) if _BLOCK.fullmatch(one)), "")
            line = (_safe(text, reason), reason, block)
            if known[line] > 0:
                known[line] -= 1
            elif room > told:
                self._note(agent, session, line, caller)
                told += 1
            else:
                rest[reason] += 1
        counts = tuple(rest.most_common())
        if counts and not any(one.counts == counts for one in before):
            self._note(agent, session, ("", counted_rest(counts), ""), caller)
        return told + rest.total()

    def tell_one(self, write: MemoryWrite, reason: str) -> None:
        """Write a line for a write of extraction that the gate dropped.

        One that no message said is of no session, and is told among the agent's others.
        """
        ref = write.evidence or MessageRef(write.agent, "", "")
        evidence = (ref.block,)
        self.tell(write.agent, ref.session, ((write.text, reason, evidence),), write.caller)

    def _note(self, agent: str, session: str, line: tuple[str, str, str], caller: Caller) -> None:
        text, reason, block = line
        ref = MessageRef(agent, session, block) if session else None
        evidence = self._ledger.evidence(ref)
        self._ledger.note(
            caller, agent, DROP, DROPPED, after=text, reason=reason, evidence=evidence
        )


def _safe(text: str, reason: str) -> str:
    """Return the words of a dropped fact as they may be told."""
    if reason in _UNTOLD:
        return ""
    safe = one_line(mask(blank_private(text)).text)
    return safe if len(safe) <= MAX_CHARS else safe[: MAX_CHARS - 1].rstrip() + "…"
