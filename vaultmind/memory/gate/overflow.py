"""What is too much for a brain moves to the archive, and comes back; used by the gate alone.

Two files change, so the order counts: the one that takes a fact is written first. A crash in
between leaves the fact twice, never not at all, and the next `shrink` takes the second one out.
"""

from __future__ import annotations

import stat as modes
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

from vaultmind.errors import NotFound, WriteConflict
from vaultmind.memory.audit.lines import load
from vaultmind.memory.brain import new_brain, parse_brain
from vaultmind.memory.limits import (
    Limits,
    Moved,
    Use,
    brain_tokens,
    doubles,
    restore,
    shrink,
    take_out,
)
from vaultmind.ports import Clock
from vaultmind.types import Fact
from vaultmind.vault.files import Change, FileStat, FileText, VaultReader, stat_of
from vaultmind.vault.paths import VaultPaths

TRIES = 5
"""How often a move is decided anew because the brain was edited in the middle of it."""

_AUDITS = "audit-*.jsonl"


class Edit(Protocol):
    """Changes a file by compare-and-swap; the gate's."""

    def __call__(self, relative: str, change: Change, /) -> object:
        """Change one file; `change` may be called again on newer text."""
        ...


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many tokens a brain may have, and down to how many it shrinks at most."""

    max_tokens: int = 500
    target_tokens: int = 300


class Overflow:
    """Moves facts between brain and archive. The caller holds the agent's lock."""

    def __init__(
        self, paths: VaultPaths, reader: VaultReader, edit: Edit, clock: Clock, sizes: Sizes
    ) -> None:
        self._paths = paths
        self._reader = reader
        self._edit = edit
        self._clock = clock
        self._sizes = sizes
        self._uses = _Uses(paths)

    def shrink(
        self, agent: str, keep: Collection[str] = (), language: str = "en"
    ) -> tuple[Fact, ...]:
        """Bring an agent's brain under its limit; return what moved, as it reads in the archive.

        Facts whose block ids are in `keep` stay. Raises DamagedMemory or UnreadableNote for an
        archive that can take nothing, WriteConflict or WriteFailed: the brain is then as it was.
        """
        self._mend(agent)
        for _ in range(TRIES):
            brain = self._read(self._paths.brain(agent))
            if brain is None or brain_tokens(brain.text) <= self._sizes.max_tokens:
                return ()
            limits = self._limits(agent, language, keep)
            if not shrink(brain.text, "", limits).facts:
                return ()
            moved = self._to_archive(agent, brain.text, limits)
            if self._swap_brain(agent, brain.text, moved.brain):
                return moved.facts
            self._mend(agent, moved.facts)
        raise WriteConflict(f"{self._paths.brain(agent)} kept changing; nothing was archived.")

    def restore(self, agent: str, block: str, language: str = "en") -> Fact | None:
        """Bring a fact of ours back from the archive; None where it holds none of that id.

        The brain may then be over its limit: `shrink` with the fact's block id in `keep`.
        """
        limits = self._limits(agent, language, ())
        archive = self._read(self._paths.archive(agent))
        moved: list[Moved | None] = [None]

        def back(file: FileText | None) -> str | None:
            text = file.text if file else new_brain(agent, language)
            moved[0] = restore(text, archive.text if archive else "", block, limits)
            return moved[0].brain if moved[0] else None

        self._edit(self._paths.brain(agent), back)
        if moved[0] is None:
            return None
        self._mend(agent)
        return moved[0].facts[0]

    def _to_archive(self, agent: str, brain: str, limits: Limits) -> Moved:
        """Write the archive with what a brain gives away; return both texts."""
        moved: list[Moved] = []

        def take(file: FileText | None) -> str | None:
            moved[:] = [shrink(brain, file.text if file else "", limits)]
            return moved[0].archive

        self._edit(self._paths.archive(agent), take)
        return moved[0]

    def _swap_brain(self, agent: str, before: str, after: str) -> bool:
        """Write the smaller brain, unless it is no longer the one that was weighed."""
        same: list[bool] = [False]

        def swap(file: FileText | None) -> str | None:
            same[0] = file is not None and file.text == before
            return after if same[0] else None

        self._edit(self._paths.brain(agent), swap)
        return same[0]

    def _mend(self, agent: str, unmoved: Collection[Fact] = ()) -> None:
        """Take out of the archive what the brain holds as well, and what did not move after all."""
        archive, brain = (
            self._read(path) for path in (self._paths.archive(agent), self._paths.brain(agent))
        )
        if archive is None:
            return
        known = parse_brain(brain.text).all() if brain else ()
        if not (unmoved or doubles(archive.text, known, self._paths)):
            return

        def mended(file: FileText | None) -> str | None:
            if file is None:
                return None
            text = take_out(file.text, unmoved)
            return take_out(text, doubles(text, known, self._paths))

        self._edit(self._paths.archive(agent), mended)

    def _limits(self, agent: str, language: str, keep: Collection[str]) -> Limits:
        return Limits(
            self._paths,
            agent,
            self._clock().date(),
            language,
            self._sizes.max_tokens,
            self._sizes.target_tokens,
            self._uses.of(agent),
            keep,
        )

    def _read(self, path: str) -> FileText | None:
        try:
            return self._reader.read(path)
        except NotFound:
            return None


@dataclass(frozen=True, slots=True)
class _Told:
    """What one audit file tells of a fact."""

    written: int = 0
    """How often it was remembered and written: more than once where it came back."""
    unchanged: int = 0
    restored: int = 0
    last: str = ""

    def plus(self, other: _Told) -> _Told:
        """Return what two files, or two lines, tell together."""
        return _Told(
            self.written + other.written,
            self.unchanged + other.unchanged,
            self.restored + other.restored,
            max(self.last, other.last),
        )

    @property
    def use(self) -> Use:
        """Return it as a fact's use."""
        again = self.unchanged + max(0, self.written - 1)
        return Use(self.restored, again, self.last)


class _Uses:
    """How often facts were said again or brought back: counted from the audit, a file at a time.

    A file that has not changed since is not read again.
    """

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self._counted: dict[str, tuple[FileStat, dict[str, _Told]]] = {}

    def of(self, agent: str) -> dict[str, Use]:
        """Return the uses of an agent's facts by block id, over all devices."""
        total: dict[str, _Told] = {}
        for path in sorted(self._paths.absolute(self._paths.memory(agent)).glob(_AUDITS)):
            found = path.lstat()
            if not modes.S_ISREG(found.st_mode):
                continue
            stamp = stat_of(found)
            known = self._counted.get(str(path))
            if known is None or known[0] != stamp:
                known = stamp, _count(path.read_text("utf-8", errors="replace"))
                self._counted[str(path)] = known
            for block, told in known[1].items():
                total[block] = total.get(block, _Told()).plus(told)
        return {block: told.use for block, told in total.items()}


def _count(text: str) -> dict[str, _Told]:
    """Return what an audit file tells of each block id."""
    found: dict[str, _Told] = {}
    for block, told in _lines(text):
        found[block] = found.get(block, _Told()).plus(told)
    return found


def _lines(text: str) -> Iterator[tuple[str, _Told]]:
    """Yield what single lines tell; one that an interrupted append wrote twice counts once."""
    last = ""
    for raw in text.split("\n"):
        again, last = raw == last, raw
        if again or not ('"remember"' in raw or '"restore"' in raw):
            continue
        line = load(raw)
        block = str(line.get("block") or "") if line else ""
        if line is None or not block:
            continue
        day, said = str(line.get("time") or "")[:10], (line.get("op"), line.get("outcome"))
        if said == ("remember", "written"):
            yield block, _Told(written=1, last=day)
        elif said == ("remember", "unchanged"):
            yield block, _Told(unchanged=1, last=day)
        elif said == ("restore", "written"):
            yield block, _Told(restored=1, last=day)
