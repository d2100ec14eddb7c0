"""How far the vector store is trusted: one that fails is filled anew, after longer and longer."""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from vaultmind.errors import IndexUnavailable
from vaultmind.index.embedders.embed import EmbedderAway
from vaultmind.index.embedders.patient import Pauses
from vaultmind.index.vectors.filling import EmbedderFailed

_FULL = re.compile(r"disk is full|no space left|not enough space|quota exceeded", re.IGNORECASE)
_FULL_BELOW = 100_000
"""Bytes free: with less a store fails in other words too, since it cannot begin a file."""
NO_SPACE = "No space is left on the disk of the state folder: free some."

log = logging.getLogger(__name__)


class Trust:
    """Does what is to be done with a store, and remembers when that failed."""

    def __init__(self, stopping: Callable[[], bool], folder: Path) -> None:
        """Take the folder whose disk the store is on."""
        self._stopping = stopping
        self._folder = folder
        self._pauses = Pauses()
        self.lost = False
        """Whether the store is to be thrown away."""
        self.reason = ""
        """Why it is, or was, as a sentence."""

    @property
    def resting(self) -> bool:
        """Tell whether it is too early to begin with an empty store."""
        return self.lost and self._pauses.due_seconds > 0

    def pause_seconds(self, most: float) -> float:
        """Return when there is to be an empty store, at most so."""
        return min(self._pauses.due_seconds, most) if self.lost else most

    def guarded(self, work: Callable[[], bool | None]) -> bool:
        """Do something with the store; when it fails, trust the store no more, and do nothing."""
        if self.lost:
            return True
        try:
            return bool(work())
        except (sqlite3.Error, IndexUnavailable, EmbedderFailed, EmbedderAway):
            raise
        except Exception as error:  # Chroma's native part raises what it likes
            if self._stopping():
                return False
            log.exception("the vector store failed")
            self._lose()
            self.reason = why(error, self._folder, "The vector store failed")
            return True

    def start_over(self, empty: Callable[[], None]) -> None:
        """Begin with an empty store; what fails is to be done again."""
        self.lost = False
        try:
            self.guarded(empty)
        except Exception:
            self._lose()
            raise

    def why(self, error: Exception) -> str:
        """Return as sentences why the database, or an embedder, failed."""
        if isinstance(error, EmbedderAway):
            return str(error)
        return why(error, self._folder, "The index database failed")

    def gained(self) -> None:
        """Note that the store took what it was given."""
        self._pauses.over()
        self.reason = ""

    def _lose(self) -> None:
        self.lost = True
        self._pauses.failed()


def why(error: Exception, folder: Path, what: str) -> str:
    """Return as a sentence why something failed, and what to do about it if that is known."""
    said = " ".join(f"{error}".split()).rstrip(".") or type(error).__name__
    return NO_SPACE if _FULL.search(said) or _is_full(folder) else f"{what} ({said})."


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _FULL_BELOW
    except OSError:
        return False
