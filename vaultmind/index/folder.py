"""The folder that an index is of: which of its files are taken and how, and what follows it.

A vault is one; a folder that the person linked (`index.linked`) is another.
"""

from __future__ import annotations

import errno
import logging
import os
import warnings
from collections.abc import Callable
from typing import Any

from vaultmind.errors import VaultNotFound
from vaultmind.heavy import importing
from vaultmind.index.notes import Chunked, Place, chunk_file, place_of
from vaultmind.vault.files import FileText, VaultReader
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import OBSIDIAN_SETTINGS, Rules, Scan, scan

_OVERFLOW_LOGGER = "watchdog.observers.inotify_c"
_LIMIT = "the system's limit of watched folders is reached (fs.inotify.max_user_watches)"
VAULT_FORMAT = "12"
"""Raise it when the same bytes of a vault would give other chunks, terms, ties or records."""

log = logging.getLogger(__name__)


class VaultFolder:
    """A vault to be indexed: its notes, its canvases, and what the agents keep in it.

    Paths are relative to it, with `/`.
    """

    what = "vault"
    format = VAULT_FORMAT
    """Changes when the same bytes would give other chunks: then all is indexed anew."""

    def __init__(
        self, paths: VaultPaths, exclude: tuple[str, ...] = (), max_bytes: int = 0
    ) -> None:
        """Take the globs of what the person never wants indexed, and the largest file; 0 any."""
        self.paths, self.exclude = paths, exclude
        self.reader = VaultReader(paths, max_bytes)
        self.rules = self.new_rules()
        """What is left out, as it was when last looked at: another object when anew."""

    def new_rules(self) -> Rules:
        """Return what is left out, as files and settings say now."""
        return Rules(self.paths, self.exclude)

    def check(self) -> None:
        """Raise VaultNotFound while it is not there: nothing may leave the index then."""
        if not self.paths.root.is_dir():
            raise VaultNotFound(f"The {self.what} {self.paths.root} is not there.")

    def scan(self, below: str = "") -> Scan:
        """Return every file that is taken, of all or of one folder (`A/`); see vault.scan."""
        return scan(self.paths, self.rules, self.reader.max_bytes, self.place_of, below)

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for what is never indexed."""
        return place_of(path, self.paths)

    def governs(self, path: str) -> bool:
        """Tell whether a file says what is left out."""
        return path == OBSIDIAN_SETTINGS

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        return chunk_file(path, file, place)

    def defined(self, path: str, text: str, name: str) -> str | None:
        """Return what code defines under a name; None where there is none."""
        return None


class Watcher(logging.Handler):
    """Follows a folder by the system's file events, which are hints and never the truth.

    Takes what to call with changed paths: folders end in `/`, and an empty one means that it cannot
    tell. That the system's queue overflowed is told by a line in watchdog's log alone, so it
    handles that, too.
    """

    def __init__(self, source: VaultFolder, mark: Callable[[list[str]], None]) -> None:
        super().__init__(logging.WARNING)
        self._source, self._root, self._mark = source, source.paths.root, mark
        self._observer: Any = None

    def start(self) -> str:
        """Begin to watch; return why that is not possible, or nothing."""
        self.stop()
        with importing():
            from watchdog import events
            from watchdog.observers import Observer

        files = ("FileCreatedEvent", "FileModifiedEvent", "FileMovedEvent", "FileDeletedEvent")
        folders = ("DirCreatedEvent", "DirMovedEvent", "DirDeletedEvent")
        wanted = [getattr(events, name) for name in (*files, *folders)]
        # A folder that leaves the vault and comes back makes watchdog warn; where warnings are
        # errors, that would end its thread for the whole process.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        observer: Any = Observer()
        try:
            observer.schedule(self, str(self._root), recursive=True, event_filter=wanted)
            observer.start()
        except OSError as error:
            log.warning("%s cannot be watched: %s", self._root, error)
            return _LIMIT if error.errno == errno.ENOSPC else f"{error.strerror or error}"
        logging.getLogger(_OVERFLOW_LOGGER).addHandler(self)
        self._observer = observer
        return ""

    @property
    def alive(self) -> bool:
        """Return whether events can still come."""
        observer = self._observer
        return observer is not None and all(
            thread.is_alive() for thread in (observer, *observer.emitters)
        )

    def stop(self) -> None:
        """Stop watching."""
        logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self)
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of watchdog's logger."""
        if "overflow" in record.getMessage().lower():
            self._mark([""])

    def dispatch(self, event: Any) -> None:  # noqa: ANN401
        """Take an event of watchdog; when it cannot be understood, everything is looked at."""
        try:
            ends = (os.fsdecode(one) for one in (event.src_path, event.dest_path) if one)
            inside = (os.path.relpath(one, self._root).replace(os.sep, "/") for one in ends)
            paths = ["" if one == "." else one for one in inside if not one.startswith("..")]
            if "" in paths or any(map(self._source.governs, paths)):
                self._mark([""])
            elif event.is_directory:
                self._mark([f"{path}/" for path in paths])
            else:
                self._mark([*filter(self._source.place_of, paths)])
        except Exception:  # watchdog's thread must live
            log.exception("a file event could not be understood: %r", event)
            self._mark([""])
