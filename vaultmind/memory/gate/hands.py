"""What of the gate an erasure works with. Implements `forget.erasing.Hands`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.types import Caller
from vaultmind.vault.files import Change


class ErasingHands:
    """Edits and removes by compare-and-swap, hides, and writes the audit."""

    def __init__(
        self,
        edit: Callable[[str, Change], object],
        remove: Callable[[str, str], None],
        hiding: Hiding,
        ledger: Ledger,
    ) -> None:
        self._edit = edit
        self._remove = remove
        self._hiding = hiding
        self._ledger = ledger

    def edit(self, relative: str, change: Change) -> object:
        """Change a file by compare-and-swap."""
        return self._edit(relative, change)

    def remove(self, relative: str, sha: str) -> None:
        """Remove a file that still has these bytes."""
        self._remove(relative, sha)

    def hide(self, refs: Iterable[Ref]) -> object:
        """Add messages to the tombstones for good, those that are hidden already included."""
        return self._hiding.hide(refs, erased=True)

    def note(self, caller: Caller, agent: str, reason: str) -> None:
        """Write an audit line `erase`, without text."""
        self._ledger.note(caller, agent, "erase", "written", reason=reason)
