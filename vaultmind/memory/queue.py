"""The queue of suggestions: Suggestions.md in the vault, read and changed as one thing.

Every change goes through `edit`, the gate's compare-and-swap: a person's edit that comes first
is kept, and the change is made again to the newer text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from vaultmind.errors import DamagedMemory, NotFound, UnreadableNote
from vaultmind.memory.audit import FOUND
from vaultmind.memory.suggestion_words import Failure, SettledAs
from vaultmind.memory.suggestions import (
    Listed,
    Suggestion,
    add,
    expire,
    known,
    new_id,
    parse,
    settle,
    suggestion_of,
    tell,
)
from vaultmind.ports import Clock
from vaultmind.types import MemoryWrite
from vaultmind.vault.files import Change, FileText, VaultReader
from vaultmind.vault.paths import VaultPaths

PER_SESSION = 5
AT_ONCE = 25
"""So many suggestions of extraction wait at most: of one conversation, and of all."""


Edit = Callable[[str, Change], object]
"""Changes a file of the memory folder by compare-and-swap; may call the change again."""


@dataclass(frozen=True, slots=True)
class Put:
    """What became of a suggestion: new, or needless because it waits already or was rejected.

    `full`: extraction has suggested so much that one more would hide the rest.
    """

    state: Literal["new", "waiting", "rejected", "full"]
    id: str = ""


class Queue:
    """The suggestions of one vault. Any thread."""

    def __init__(
        self,
        paths: VaultPaths,
        reader: VaultReader,
        edit: Edit,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._paths = paths
        self._reader = reader
        self._edit = edit
        self._clock = clock
        self._rng = rng

    @property
    def path(self) -> str:
        """Return the vault-relative path of Suggestions.md."""
        return self._paths.suggestions

    def put(self, write: MemoryWrite, language: str = "en") -> Put:
        """Make a suggestion of a write whose texts are safe to store, unless it was made before.

        The file is made where it is missing. Raises DamagedMemory, which names the file, where
        nothing can be added to it; WriteConflict and WriteFailed when nothing was written.
        """
        time = self._clock().isoformat(timespec="seconds")
        done: list[Put] = []

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            one = suggestion_of(write, new_id(text, self._rng), time)
            same = known(text, one)
            if same:
                state: Literal["waiting", "rejected"] = "rejected" if same.outcome else "waiting"
                done.append(Put(state, same.suggestion.id))
                return None
            if _is_full(text, one):
                done.append(Put("full"))
                return None
            done.append(Put("new", one.id))
            return add(text, one, self._paths, language)

        self._change(change)
        return done[-1]

    def seen(self, write: MemoryWrite) -> Put | None:
        """Return the suggestion that makes one of this write needless; None for a new one."""
        same = known(self._text(), suggestion_of(write, "", ""))
        if same is None:
            return None
        return Put("rejected" if same.outcome else "waiting", same.suggestion.id)

    def is_full(self, write: MemoryWrite) -> bool:
        """Tell whether so many suggestions of extraction wait that one more would be too many."""
        return _is_full(self._text(), suggestion_of(write, "", ""))

    def listed(self) -> tuple[Listed, ...]:
        """Return every suggestion that is not settled, in the file's order.

        Raises UnreadableNote for a file that is no text.
        """
        return tuple(one for one in parse(self._text()) if one.state != "settled")

    def waiting(self, agent: str = "") -> int:
        """Return how many wait for the person: for one agent's memory, or for anybody's.

        An accepted one that could not be applied waits again. Raises UnreadableNote.
        """
        return sum(not one.is_due and agent in ("", one.suggestion.agent) for one in self.listed())

    def due(self) -> tuple[Listed, ...]:
        """Return those that the person ticked or rejected and that nobody acted on yet.

        Read as a writer reads, while nobody saves the file: half a save may hold half a fact.
        """
        found: list[tuple[Listed, ...]] = [()]

        def look(file: FileText | None) -> None:
            found.append(parse(file.text) if file else ())

        self._change(look)
        return tuple(one for one in found[-1] if one.is_due)

    def tell(self, expected: Suggestion, failure: Failure | None) -> None:
        """Say under a suggestion why it could not be applied; without a failure, say it no more.

        Nothing where it is gone or says something else by now. Raises DamagedMemory.
        """

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            found = next((one for one in parse(text) if one.suggestion == expected), None)
            return tell(text, found, failure) if found and not found.outcome else None

        self._change(change)

    def settle(
        self, suggestion_id: str, as_: SettledAs, expected: Suggestion | None = None
    ) -> bool:
        """Move a suggestion to the settled ones, dated today.

        False where it does not wait any more, or does not say what was `expected`: somebody
        changed it meanwhile, and it is left as it stands. Raises DamagedMemory.
        """
        today = self._clock().date().isoformat()
        done = [False]

        def change(file: FileText | None) -> str | None:
            text = file.text if file else ""
            same = [one for one in parse(text) if one.suggestion.id == suggestion_id]
            stands = expected is None or any(one.suggestion == expected for one in same)
            try:
                new = settle(text, suggestion_id, as_, today) if stands else None
            except NotFound:
                new = None
            done.append(new is not None)
            return new

        self._change(change)
        return done[-1]

    def expire(self) -> tuple[Suggestion, ...]:
        """Settle what has waited too long as expired, and return it."""
        now = self._clock()
        gone: list[tuple[Suggestion, ...]] = [()]

        def change(file: FileText | None) -> str | None:
            if file is None:
                return None
            new, expired = expire(file.text, now)
            gone.append(expired)
            return new if expired else None

        if any(one.state == "waiting" for one in self.listed()):
            self._change(change)
        return gone[-1]

    def _change(self, change: Change) -> None:
        try:
            self._edit(self.path, change)
        except (DamagedMemory, UnreadableNote) as error:
            reason = error.reason if isinstance(error, UnreadableNote) else error.message
            raise DamagedMemory(
                f"{self.path} cannot be used: {reason}",
                hint="Nothing was changed. Repair the file or rename it; a new one will be made.",
            ) from error

    def _text(self) -> str:
        try:
            return self._reader.read(self.path).text
        except NotFound:
            return ""


def _is_full(text: str, new: Suggestion) -> bool:
    if new.how not in FOUND:
        return False
    of_extraction = [
        one.suggestion
        for one in parse(text)
        if one.state == "waiting" and one.suggestion.how in FOUND
    ]
    same = sum(_from(one) == _from(new) for one in of_extraction)
    return same >= PER_SESSION or len(of_extraction) >= AT_ONCE


def _from(one: Suggestion) -> tuple[str, str]:
    """Return the conversation that a suggestion comes from."""
    return (one.evidence.agent, one.evidence.session) if one.evidence else (one.agent, "")
