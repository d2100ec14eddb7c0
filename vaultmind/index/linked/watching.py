"""Follows a linked folder on Linux, folder by folder, so that what is left out costs no watch.

watchdog watches all below a folder, and a `node_modules` alone may hold more folders than the
system lets one person watch. Elsewhere one watch is for a whole tree, and watchdog serves.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import select
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from vaultmind.index.ground.watcher import Hints
from vaultmind.index.linked.rules import governs
from vaultmind.vault.exclude import Rules

MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO = 0x2, 0x8, 0x40, 0x80
CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x100, 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x40000000
_ONLY_FOLDERS, _NOT_THROUGH_LINKS, _NOT_UNLINKED = 0x01000000, 0x02000000, 0x04000000
_WANTED = (
    MODIFY | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
    | _ONLY_FOLDERS | _NOT_THROUGH_LINKS | _NOT_UNLINKED
)  # fmt: skip
"""Of inotify(7)."""
_HEAD = struct.Struct("iIII")
_BUFFER = 1 << 16
_LIMIT = "the system's limit of watched folders is reached (fs.inotify.max_user_watches)"

log = logging.getLogger(__name__)


class FolderWatcher:
    """One watch for each folder that is not left out. Implements index.ground.ground.Watching."""

    def __init__(
        self,
        root: Path,
        hints: Hints,
        takes: Callable[[str], bool],
        rules: Callable[[], Rules],
    ) -> None:
        """Take what tells whether a file is indexed, and what reads the rules as they are now."""
        self._root = os.fspath(root)
        self._hints = hints
        self._takes = takes
        self._read_rules = rules
        self._inotify: _Inotify | None = None
        self._thread: threading.Thread | None = None
        self._excluded: Callable[[str], bool] = lambda path: False
        self._unsure = False

    def start(self) -> str:
        """Begin to watch; return why that is not possible, or nothing."""
        self.close()
        try:
            self._inotify = _Inotify()
            self._follow()
        except OSError as error:
            log.warning("the linked folder %s cannot be watched: %s", self._root, error)
            self.close()
            return _LIMIT if error.errno == errno.ENOSPC else (error.strerror or str(error))
        self._thread = threading.Thread(target=self._run, name="linked", daemon=True)
        self._thread.start()
        return ""

    @property
    def alive(self) -> bool:
        """Return whether events can still come."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def watched(self) -> tuple[str, ...]:
        """Return the folders that are watched, the root as an empty path."""
        return self._inotify.folders if self._inotify else ()

    def close(self) -> None:
        """Stop watching."""
        inotify, thread, self._thread = self._inotify, self._thread, None
        if inotify is not None:
            inotify.wake()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        if inotify is not None:
            inotify.close()
        self._inotify = None

    def _run(self) -> None:
        inotify = self._inotify
        try:
            while inotify is not None and (events := inotify.events()) is not None:
                for folder, mask, name in events:
                    if not self._take(folder, mask, name):
                        return
                if self._unsure:  # once for many events: a branch may have been switched
                    self._follow()
                    self._hints.everything()
        except Exception:  # the thread's last word: the index compares, and starts another
            log.exception("%s is no longer followed", self._root)
        finally:
            if self._thread is not None:
                self._hints.everything()

    def _follow(self) -> None:
        """Watch what is not left out by the rules as they are now, and nothing else."""
        self._unsure = False
        self._excluded = self._read_rules().excluded
        inotify = self._inotify
        if inotify is None:
            return
        for folder in inotify.folders:
            if folder and self._excluded(f"{folder}/"):
                inotify.forget(folder)
        if not inotify.watch(self._root, ""):
            raise OSError(errno.ENOENT, "it is not there")
        self._watch_below("")

    def _watch_below(self, folder: str) -> None:
        inotify = self._inotify
        waiting = [folder]
        while waiting and inotify is not None:
            for inside in _folders_in(self._root, waiting.pop()):
                if not self._excluded(f"{inside}/") and inotify.watch(
                    f"{self._root}/{inside}", inside
                ):
                    waiting.append(inside)

    def _take(self, folder: str, mask: int, name: str) -> bool:
        """Take an event; return False where nothing more can come."""
        if mask & OVERFLOW:
            self._unsure = True
            return True
        path = f"{folder}/{name}" if folder and name else folder or name
        if not path:
            return not mask & (DELETE_SELF | MOVE_SELF | UNMOUNT | IGNORED)
        if mask & IS_FOLDER and name:
            self._take_folder(path, mask)
        elif name and governs(path):
            self._unsure = True
        elif name and self._takes(path) and not self._excluded(path):
            self._hints.files([path])
        return True

    def _take_folder(self, path: str, mask: int) -> None:
        inotify = self._inotify
        if inotify is None:
            return
        if mask & (DELETE | MOVED_FROM):
            inotify.forget(path)
            self._hints.folder(path)
        elif mask & (CREATE | MOVED_TO) and not self._excluded(f"{path}/"):
            if inotify.watch(f"{self._root}/{path}", path):
                self._watch_below(path)
            self._hints.folder(path)


class _Inotify:
    """The system's file events for some folders, by watch."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _error()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders that are watched."""
        return tuple(self._watches)

    def watch(self, path: str, folder: str) -> bool:
        """Watch a folder under a name; return False where there is none (any more)."""
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), _WANTED)
        if watch < 0:
            error = _error()
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
                return False
            raise error
        former = self._folders.get(watch)
        if former is not None and former != folder:  # it was moved
            self._watches.pop(former, None)
        self._folders[watch], self._watches[folder] = folder, watch
        return True

    def forget(self, folder: str) -> None:
        """Watch a folder, and what lies in it, no longer."""
        inside = f"{folder}/"
        for one in [one for one in self._watches if one == folder or one.startswith(inside)]:
            watch = self._watches.pop(one)
            self._folders.pop(watch, None)
            self._libc.inotify_rm_watch(self._descriptor, watch)

    def events(self) -> list[tuple[str, int, str]] | None:
        """Wait for events and return them: folder, mask, name. None when woken to end."""
        ready, _, _ = select.select([self._descriptor, self._wake_read], [], [])
        if self._wake_read in ready:
            return None
        raw = os.read(self._descriptor, _BUFFER)
        return list(self._parsed(raw))

    def wake(self) -> None:
        """Make whoever waits for events return."""
        with suppress(OSError):
            os.write(self._wake_write, b"!")

    def close(self) -> None:
        """Let go of the descriptors; the system drops the watches."""
        for descriptor in (self._descriptor, self._wake_read, self._wake_write):
            with suppress(OSError):
                os.close(descriptor)

    def _parsed(self, raw: bytes) -> Iterator[tuple[str, int, str]]:
        at = 0
        while at + _HEAD.size <= len(raw):
            watch, mask, _, size = _HEAD.unpack_from(raw, at)
            at += _HEAD.size
            name = os.fsdecode(raw[at : at + size].rstrip(b"\0"))
            at += size
            folder = self._folders.get(watch)
            if mask & OVERFLOW:
                yield "", mask, ""
            elif folder is not None:
                if mask & IGNORED:
                    self._drop(watch, folder)
                yield folder, mask, name

    def _drop(self, watch: int, folder: str) -> None:
        self._folders.pop(watch, None)
        if self._watches.get(folder) == watch:
            del self._watches[folder]


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


def _folders_in(root: str, folder: str) -> Iterator[str]:
    """Yield the folders that lie in one, none of them a link."""
    try:
        with os.scandir(f"{root}/{folder}" if folder else root) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield f"{folder}/{entry.name}" if folder else entry.name
    except OSError:
        return
