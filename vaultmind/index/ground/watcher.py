"""Follows the vault through the system's file events, which are hints and never the truth.

What an event does not say (a lost queue, a folder that came or went) is looked up on disk by
whoever takes the hint.
"""

from __future__ import annotations

import errno
import logging
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from vaultmind.heavy import importing
from vaultmind.vault.exclude import OBSIDIAN_SETTINGS
from vaultmind.vault.scan import is_indexable

_OVERFLOW_LOGGER = "watchdog.observers.inotify_c"
_LIMIT = "the system's limit of watched folders is reached (fs.inotify.max_user_watches)"

log = logging.getLogger(__name__)


class Hints(Protocol):
    """Takes what the watcher has seen. Never blocks."""

    def files(self, paths: list[str]) -> None:
        """Files that changed, came or went, vault-relative."""
        ...

    def folder(self, path: str) -> None:
        """A folder that came, went or has another name now, vault-relative."""
        ...

    def everything(self) -> None:
        """Events were lost, or the rules of what is indexed changed."""
        ...


@dataclass(frozen=True, slots=True)
class Interest:
    """Which files a watcher tells of."""

    takes: Callable[[str], bool] = is_indexable
    """Tells of a path whether it is indexed."""
    governs: Callable[[str], bool] = lambda path: path == OBSIDIAN_SETTINGS
    """Tells of a path whether it says what is left out."""


class Watcher:
    """One observer over one vault."""

    def __init__(self, root: Path, hints: Hints, interest: Interest | None = None) -> None:
        self._root = root
        self._hints = hints
        self._interest = interest
        self._observer: Any = None
        self._overflow = _OverflowHandler(hints.everything)

    def start(self) -> str:
        """Begin to watch; return why that is not possible, or nothing."""
        self.close()
        with importing():
            from watchdog import events
            from watchdog.observers import Observer

        wanted = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.DirCreatedEvent,
            events.DirMovedEvent,
            events.DirDeletedEvent,
        ]
        # A folder that leaves the vault and comes back makes watchdog warn; where warnings are
        # errors, that would end its thread for the whole process.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        logging.getLogger(_OVERFLOW_LOGGER).addHandler(self._overflow)
        observer = Observer()
        handler: Any = _Handler(str(self._root), self._hints, self._interest)
        try:
            observer.schedule(handler, str(self._root), recursive=True, event_filter=wanted)
            observer.start()
        except OSError as error:
            log.warning("%s cannot be watched: %s", self._root, error)
            logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self._overflow)
            return _LIMIT if error.errno == errno.ENOSPC else f"{error.strerror or error}"
        self._observer = observer
        return ""

    @property
    def alive(self) -> bool:
        """Return whether events can still come."""
        observer = self._observer
        return observer is not None and all(
            thread.is_alive() for thread in (observer, *observer.emitters)
        )

    def close(self) -> None:
        """Stop watching."""
        logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self._overflow)
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None


class _OverflowHandler(logging.Handler):
    """The system's queue overflowing is told by a log line alone."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of watchdog's logger."""
        if "overflow" in record.getMessage().lower():
            self._lost()


class _Handler:
    """What watchdog calls for each event. An exception here would end its thread."""

    def __init__(self, root: str, hints: Hints, interest: Interest | None = None) -> None:
        self._root = root
        self._hints = hints
        self._interest = interest or Interest()

    def dispatch(self, event: Any) -> None:  # noqa: ANN401
        """Take an event; when it cannot be understood, everything is looked at."""
        try:
            self._take(event)
        except Exception:  # watchdog's thread must live
            log.exception("a file event could not be understood: %r", event)
            self._hints.everything()

    def _take(self, event: Any) -> None:  # noqa: ANN401
        ends = [self._relative(event.src_path), self._relative(event.dest_path)]
        paths = [path for path in ends if path is not None]
        if "" in paths:
            self._hints.everything()
        elif event.is_directory:
            for path in paths:
                self._hints.folder(path)
        else:
            if any(map(self._interest.governs, paths)):
                self._hints.everything()
            if files := [path for path in paths if self._interest.takes(path)]:
                self._hints.files(files)

    def _relative(self, path: str | bytes) -> str | None:
        """Return a path inside the vault, empty for the vault itself, None for none at all."""
        name = os.fsdecode(path)
        if name == self._root:
            return ""
        prefix = f"{self._root.rstrip(os.sep)}{os.sep}"
        return name[len(prefix) :].replace(os.sep, "/") if name.startswith(prefix) else None
