"""How far the vector store is trusted: one that fails is filled anew, but not for ever."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable

from vaultmind.errors import IndexUnavailable
from vaultmind.index.embed import EmbedderAway
from vaultmind.index.filling import EmbedderFailed

MAX_RESETS = 3
"""Fresh starts of a store that keeps failing, before the index does without it."""

log = logging.getLogger(__name__)


class Trust:
    """Does what is to be done with a store, and remembers when that failed."""

    def __init__(self, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._resets = 0
        self.lost = False
        """Whether the store is to be thrown away."""
        self.reason = ""
        """Why it is, or was, in words."""

    def guarded(self, work: Callable[[], bool | None]) -> bool:
        """Do something with the store; when it fails, trust the store no more."""
        try:
            return bool(work())
        except (sqlite3.Error, IndexUnavailable, EmbedderFailed, EmbedderAway):
            raise
        except Exception as error:  # Chroma's native part raises what it likes
            if self._stopping():
                return False
            log.exception("the vector store failed")
            self.lost = True
            self.reason = f"The vectors are being rebuilt ({error})."
            return True

    def start_over(self, empty: Callable[[], None]) -> bool:
        """Begin with an empty store; False when that was done too often."""
        self._resets += 1
        if self._resets > MAX_RESETS:
            return False
        self.lost = False
        self.guarded(empty)
        return True

    def gained(self) -> None:
        """Note that the store took what it was given."""
        self._resets = 0
