"""Whose a last line without an end is: a crash may have torn one of ours, a hand types others.

Both read alike. So while lines of ours are written it is kept in the state folder where each
begins, and where they end: what begins there and ends before is torn. Nothing is kept of what they
say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path

from vaultmind.episodes.notes.mending import mended
from vaultmind.vault.files import FileStat

FOLDER = "episodes-writing"
_SLACK_BYTES = 2
"""A line break of which it is not known whether it was written before the line."""
_LOST_BYTES = 6
"""What reading leaves out at most: a mark at the beginning, a letter that is torn at the end."""

log = logging.getLogger(__name__)


class Tears:
    """Knows which writes to notes did not come to their end. Its owner has a lock."""

    def __init__(self, state_dir: Path | None = None) -> None:
        self._folder = state_dir / FOLDER if state_dir else None
        self._begun: dict[str, tuple[int, ...]] = {}

    @contextmanager
    def writing(
        self, name: str, lines: Sequence[str], stat: Callable[[], FileStat | None]
    ) -> Iterator[None]:
        """Keep for as long as lines are written to a note how far they may have come.

        Where that fails and the note is as it was, nothing of ours can be torn.
        """
        before = stat()
        self.begin(name, before.size if before else 0, lines)
        try:
            yield
        except Exception:
            after = stat()
            if after is not None and before is not None and after.size <= before.size:
                self.over(name)
            raise
        self.over(name)

    def begin(self, name: str, start: int, lines: Sequence[str]) -> None:
        """Keep that lines are about to be written at the end of a note, which has `start` bytes."""
        sizes = (len(line.encode()) for line in lines)
        begun = self._begun[name] = tuple(accumulate(sizes, initial=start))
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file(self._folder, name).write_text(" ".join(map(str, begun)), "ascii")
        except OSError as error:  # a line that a crash tears is then taken for a hand's
            log.warning("it is not kept that %s is written to: %s", name, error)

    def mended(self, name: str, text: str) -> str:
        """Return a note without the half of a line of ours at its end, if it is one."""
        *starts, end = self._begun.get(name) or self._kept(name)
        last = text.rfind("\n") + 1
        size, begins = (len(part.encode("utf-8", "replace")) for part in (text, text[:last]))
        is_ours = any(-_LOST_BYTES <= begins - start <= _SLACK_BYTES for start in starts)
        return mended(text) if is_ours and size < end + _SLACK_BYTES else text

    def over(self, name: str) -> None:
        """Keep that nothing is being written to a note: all is there, or it has ended."""
        self._begun.pop(name, None)
        if self._folder is not None:
            with suppress(OSError):  # what is whole is longer than what is kept of it
                self._file(self._folder, name).unlink(missing_ok=True)

    def _kept(self, name: str) -> tuple[int, ...]:
        found: tuple[int, ...] = ()
        if self._folder is not None:
            with suppress(OSError, ValueError):  # nothing was being written, or that was torn, too
                kept = self._file(self._folder, name).read_text("ascii")
                found = tuple(map(int, kept.split()))
        return found or (0,)

    @staticmethod
    def _file(folder: Path, name: str) -> Path:
        return folder / name.replace("/", "~")
