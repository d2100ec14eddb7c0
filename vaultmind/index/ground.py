"""The folder that an index is of: which of its files are taken and how, and what follows it.

A vault is one ground; a folder that the person linked (`index.linked`) is another. All else, from
the database to the search, is the same for both.
"""

from __future__ import annotations

import errno
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from vaultmind.errors import VaultNotFound
from vaultmind.heavy import importing
from vaultmind.index.notes import Chunked, Place, chunk_file, place_of
from vaultmind.index.reading import Part, Read, read_part
from vaultmind.redact import blank_passages
from vaultmind.vault.exclude import OBSIDIAN_SETTINGS, Rules, rules_for
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.scan import Scan, is_indexable, scan

_OVERFLOW_LOGGER = "watchdog.observers.inotify_c"
_LIMIT = "the system's limit of watched folders is reached (fs.inotify.max_user_watches)"
VAULT_FORMAT = "6"
"""Raise it when the same bytes of a vault would give other chunks, terms or ties."""

log = logging.getLogger(__name__)


class Hints(Protocol):
    """Takes what the watcher has seen. Never blocks."""

    def mark(self, paths: list[str]) -> None:
        """Take files, or folders (`A/`), that changed, came or went."""
        ...

    def everything(self) -> None:
        """Take that events were lost, or that the rules of what is indexed changed."""
        ...


class Watcher:
    """Follows a folder by the system's file events, which are hints and never the truth.

    What an event does not say (a lost queue, a folder that came or went) is looked up on disk by
    whoever takes the hint.
    """

    def __init__(
        self,
        root: Path,
        hints: Hints,
        takes: Callable[[str], bool] = is_indexable,
        governs: Callable[[str], bool] = OBSIDIAN_SETTINGS.__eq__,
    ) -> None:
        """`takes` tells of a path whether it is indexed, `governs` whether it says what is not."""
        self._root = root
        self._hints = hints
        self._takes, self._governs = takes, governs
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
        handler: Any = self
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

    def dispatch(self, event: Any) -> None:  # noqa: ANN401
        """Take an event of watchdog; when it cannot be understood, everything is looked at."""
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
            self._hints.mark([f"{path}/" for path in paths])
        else:
            if any(map(self._governs, paths)):
                self._hints.everything()
            self._hints.mark([path for path in paths if self._takes(path)])

    def _relative(self, path: str | bytes) -> str | None:
        """Return a path inside the vault, empty for the vault itself, None for none at all."""
        name = os.fsdecode(path)
        root = str(self._root)
        if name == root:
            return ""
        prefix = f"{root.rstrip(os.sep)}{os.sep}"
        return name[len(prefix) :].replace(os.sep, "/") if name.startswith(prefix) else None


class _OverflowHandler(logging.Handler):
    """The system's queue overflowing is told by a log line alone."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record of watchdog's logger."""
        if "overflow" in record.getMessage().lower():
            self._lost()


class Ground(Protocol):
    """A folder to be indexed. Paths are relative to it, with `/`."""

    @property
    def paths(self) -> VaultPaths:
        """Return what reads and names its files: it refuses symlinks and whatever leads out."""
        ...

    @property
    def format(self) -> str:
        """Return what changes when the same bytes would give other chunks: all is indexed anew."""
        ...

    def check(self) -> None:
        """Raise VaultNotFound while the folder is not there: nothing may leave the index then."""
        ...

    def rules(self) -> Rules:
        """Return what is left out, as files and settings say now."""
        ...

    def scan(self, rules: Rules, max_bytes: int) -> Scan:
        """Return every file that is taken; raises VaultNotFound."""
        ...

    def place_of(self, path: str) -> Place | None:
        """Return what a file is, or None for what is never indexed."""
        ...

    def takes(self, path: str) -> bool:
        """Tell whether a path names a kind of file that is indexed."""
        ...

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        ...

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return the text of a file's part as it is shown; None where its anchor names nothing."""
        ...

    def watcher(self, hints: Hints) -> Watcher:
        """Return what follows the folder, not yet started."""
        ...


class VaultGround:
    """A vault: its notes, its canvases, and what the agents keep in the memory folder."""

    def __init__(self, paths: VaultPaths, exclude: tuple[str, ...] = ()) -> None:
        """Take as `exclude` the globs of what the person never wants indexed."""
        self.paths = paths
        self._exclude = exclude

    @property
    def format(self) -> str:
        """Return the version of how a vault is cut into chunks."""
        return VAULT_FORMAT

    def check(self) -> None:
        """Raise VaultNotFound while the vault is not there."""
        check_folder(self.paths.root, "vault")

    def rules(self) -> Rules:
        """Return our rules, the configured globs and Obsidian's excluded files."""
        return rules_for(self.paths, self._exclude)

    def scan(self, rules: Rules, max_bytes: int) -> Scan:
        """Return every note and canvas; raises VaultNotFound."""
        return scan(self.paths, rules, max_bytes)

    def place_of(self, path: str) -> Place | None:
        """Return what a vault-relative path is, or None for what is never indexed."""
        return place_of(path, self.paths)

    def takes(self, path: str) -> bool:
        """Tell whether a path names a note or a canvas."""
        return is_indexable(path)

    def cut(self, path: str, file: FileText, place: Place) -> Chunked:
        """Return the chunks of a file."""
        return chunk_file(path, file, place)

    def read(self, path: str, part: Part, text: str) -> Read | None:
        """Return a part as it is shown, without private passages and keys."""
        return read_part(part, text if part.form == "canvas" else blank_passages(text))

    def watcher(self, hints: Hints) -> Watcher:
        """Return what follows the vault."""
        return Watcher(self.paths.root, hints)


def check_folder(root: Path, name: str) -> None:
    """Raise VaultNotFound while a folder is not there, as when its disk is unplugged."""
    if not root.is_dir():
        raise VaultNotFound(f"The {name} {root} is not there.")


def walked(root: Path, folder: str, ground: Ground, rules: Rules) -> Iterator[str]:
    """Yield the files below a folder of a ground that are taken, by what their names say."""
    if rules.excluded(f"{folder}/"):
        return
    for where, folders, names in os.walk(root / folder):
        inside = Path(where).relative_to(root).as_posix()
        folders[:] = [name for name in folders if not rules.excluded(f"{inside}/{name}/")]
        yield from (f"{inside}/{name}" for name in names if ground.takes(name))
