"""Writing below the memory folder: no other file, no half file, no edit of a person's lost.

The new bytes go to a temporary file beside the old one; the two names are exchanged in one
step, and what came out is compared with what was read. A person's edit that slipped in is
put back. So at no moment is the file missing or half written, and no edit is lost. Where the
system cannot do one of these things (network drives, old kernels), the next best is done.
"""

from __future__ import annotations

import codecs
import ctypes
import errno
import fcntl
import os
import re
import secrets
import signal
import stat as modes
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from vaultmind.errors import NotFound, WriteConflict, WriteFailed
from vaultmind.vault.files import (
    OPEN_FLAGS,
    TEMP_PREFIX,
    Change,
    FileText,
    VaultReader,
    decode,
    digest,
    read_bytes,
    reason_of,
    stat_of,
)
from vaultmind.vault.paths import VaultPaths

TRIES = 25
"""How often a change starts anew because someone else's edit came first."""
STALE_SECONDS = 60.0
"""Age of a temporary file whose writer is surely gone."""
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class VaultWriter:
    """Writes files below the memory folder, or below another. One in a process for each; any
    thread.
    """

    def __init__(self, paths: VaultPaths, folder: str = "") -> None:
        self._paths, self._folder = paths, folder or paths.memory_dir
        self._reader = VaultReader(paths, max_bytes=0)
        self._locks: dict[str, threading.RLock] = {}

    def edit(self, relative: str, change: Change) -> FileText | None:
        """Apply a change to a file and return it as written; None when `change` declined.

        A text equal to the file's is not written. The byte order mark is kept; newlines are
        the change's own (`files.newline_of`, `files.with_newlines`). `change` may be called
        again, with newer text, up to `TRIES` times; it must not change anything itself.

        Raises PathRefused, UnreadableNote, WriteConflict (nothing written), WriteFailed (the
        old file is whole).
        """
        path = self._paths.writable(relative, self._folder)
        with self._writing(relative):
            for _ in range(TRIES - 1):
                with suppress(FileChanged):
                    return self._try(path, relative, change)
            return self._try(path, relative, change)

    def append(self, relative: str, text: str) -> None:
        """Append text to a file and flush it to disk; make the file when there is none.

        A last line without its newline, as a crash leaves it, is ended first.
        Raises PathRefused, WriteConflict, or WriteFailed (the file is as it was).
        """
        path = self._paths.writable(relative, self._folder)
        raw = storable(text).encode()
        with self._writing(relative):
            self._make_folder(path.parent, relative)
            append_file(path, raw)

    def remove(self, relative: str, sha: str = "") -> None:
        """Remove a file; with a hash, only what has it. Raises PathRefused, WriteFailed.

        WriteConflict where it is something else by now: then it stays.
        """
        path = self._paths.writable(relative, self._folder)
        with self._writing(relative):
            if sha and _hash_when_quiet(path) != sha:
                raise FileChanged
            path.unlink()
            flush_folder(path.parent)

    def sweep(self) -> None:
        """Remove temporary files that killed processes left in the folder."""
        oldest = time.time() - STALE_SECONDS
        for left in self._paths.absolute(self._folder).rglob(TEMP_PREFIX + "[0-9a-f]" * 16):
            with suppress(OSError):
                if left.lstat().st_mtime < oldest:
                    left.unlink()

    def _try(self, path: Path, relative: str, change: Change) -> FileText | None:
        before = self._settled(path, relative)
        new = change(before)
        if new is None:
            return None
        text = storable(new)
        if before is not None and text == before.text:
            return before
        bom = before is not None and before.bom
        raw = (codecs.BOM_UTF8 if bom else b"") + text.encode()
        self._make_folder(path.parent, relative)
        found = replace_file(path, raw, before.sha if before else "")
        return decode(relative, raw, stat_of(found))

    def _settled(self, path: Path, relative: str) -> FileText | None:
        """Return the file as it is while nobody writes it; None when there is none.

        A text read in the middle of a save would look damaged to whoever parses it.
        """
        try:
            raw, stamp = read_bytes(path, self._reader, relative)
            wait_until_quiet(path)
        except (FileNotFoundError, NotFound):
            return None
        if stat_of(path.lstat()) != stamp:
            raise FileChanged
        return decode(relative, raw, stamp)

    def _make_folder(self, folder: Path, relative: str) -> None:
        if not self._paths.root.is_dir():
            raise WriteFailed(f"{relative} was not written: the vault is not there.")
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _writing(self, relative: str) -> Iterator[None]:
        """Write a file alone; turn an error of the system into one that names it."""
        try:
            with self._locks.setdefault(relative, threading.RLock()):
                yield
        except FileChanged as error:
            raise WriteConflict(
                f"{relative} kept changing or was held open by another program.",
                hint="Nothing was written; try again when it is saved and closed.",
            ) from error
        except OSError as error:
            raise WriteFailed(
                f"{relative} could not be written: {reason_of(error)}.",
                hint="The file is as it was; check the disk's space and the folder's rights.",
            ) from error


def storable(text: str) -> str:
    """Return the text with what no UTF-8 text file can hold replaced: NUL, lone surrogates."""
    return _NOT_STORABLE.sub("\ufffd", text)


BUSY_SECONDS = 1.0
"""How long one try waits for another program that has the file open for writing."""
GRACE_SECONDS = 0.02
"""Where the system cannot say who writes: how long a file must stay the same to be taken."""
_POLL_SECONDS = 0.002
_ROUNDS = 100
_APPEND_ROUNDS = 20
_BUSY = ""
"""Stands for the hash of a file that someone still writes."""
_OWN = os.O_NOFOLLOW | os.O_CLOEXEC
_IS_MAC = sys.platform == "darwin"
_AT_FDCWD = () if _IS_MAC else (-100,)
_EXCHANGE, _NOREPLACE = 2, 4 if _IS_MAC else 1
"""Flags of a rename: swap the two names; take a name only where it is free."""
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


class FileChanged(Exception):
    """The file is not what was read: someone else wrote it, or still does."""


def replace_file(path: Path, raw: bytes, expected: str) -> os.stat_result:
    """Write a file whose bytes have the hash `expected`; with an empty one, a new file.

    Return the stamp that the new file had before it took its name. Raises FileChanged with
    everyone else's last version in place, OSError with the old file whole.
    """
    with _temporary(path, raw) as (temp, found):
        try:
            if expected:
                _swap_in(temp, path, expected, digest(raw))
            else:
                place(temp, path)
        except (FileExistsError, FileNotFoundError) as error:
            raise FileChanged from error
        flush_folder(path.parent)
    return found


def append_file(path: Path, raw: bytes) -> None:
    """Append bytes and flush them to disk, making the file when there is none.

    A last line without its newline is ended first. When the file is replaced or rewritten under
    our hands, the bytes are appended again to what stands there then, unless who rewrote it had
    read them already. Raises OSError with the file as it was, FileChanged when it is replaced
    without end.
    """
    for round_ in range(_APPEND_ROUNDS):
        with suppress(FileChanged, FileNotFoundError):
            wait_until_quiet(path)  # one that stays open for writing is appended to all the same
        with suppress(FileNotFoundError):
            if round_ and raw in path.read_bytes():
                return
        if _appended(path, raw):
            return
    raise FileChanged


def wait_until_quiet(path: Path) -> None:
    """Return once nobody has the file open for writing; raise FileChanged when that lasts.

    Raises FileNotFoundError when there is no file.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        seen = os.fstat(descriptor)
        while not (answer := quiet(descriptor)):
            time.sleep(_POLL_SECONDS if answer is False else GRACE_SECONDS)
            before, seen = seen, os.fstat(descriptor)
            same = (before.st_mtime_ns, before.st_size) == (seen.st_mtime_ns, seen.st_size)
            if answer is None and same:
                return
            if time.monotonic() > deadline:
                raise FileChanged
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Make renames in a folder survive a power cut, where the system lets folders be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- replacing ----------------------------------------------------------------------------


@contextmanager
def _temporary(path: Path, raw: bytes) -> Iterator[tuple[Path, os.stat_result]]:
    """Write the bytes to a file beside the old one, with its mode; remove what is left."""
    temp = path.with_name(f"{TEMP_PREFIX}{secrets.token_hex(8)}")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OWN, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(descriptor, path.lstat().st_mode & 0o7777)
            file.write(raw)
            file.flush()
            os.fsync(descriptor)
            found = os.fstat(descriptor)
        yield temp, found
    finally:
        temp.unlink(missing_ok=True)


def _swap_in(temp: Path, path: Path, expected: str, ours: str) -> None:
    if _hash_when_quiet(path) != expected:
        raise FileChanged
    if not exchange(temp, path):
        temp.replace(path)
        return
    placed, came_out = ours, _hash_when_quiet(temp)
    if came_out == expected:
        return
    for _ in range(_ROUNDS):  # what came out goes back, or what was saved since: the newest
        exchange(temp, path)
        again = _hash_when_quiet(temp)
        if again in (placed, _BUSY):
            break
        placed, came_out = came_out, again
    raise FileChanged


def _hash_when_quiet(path: Path) -> str:
    try:
        wait_until_quiet(path)
        return digest(path.read_bytes())
    except (FileChanged, OSError):
        return _BUSY


def _appended(path: Path, raw: bytes) -> bool:
    """Append once; tell whether the bytes stand at the path now."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _OWN, 0o666)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        before = os.fstat(descriptor)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        size = before.st_size
        added = raw if not size or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n" + raw
        written = 0
        try:
            written = file.write(added)
            file.write(added[written:])  # a full disk takes a part, and says so the second time
        except OSError:
            if os.fstat(descriptor).st_size == size + written:
                os.ftruncate(descriptor, size)
            raise
        os.fsync(descriptor)
        kept = os.pread(descriptor, len(added), file.tell() - len(added)) == added
        after = os.fstat(descriptor)
    try:
        return kept and os.path.samestat(after, path.lstat())
    except FileNotFoundError:
        return False


# --- what the system offers ---------------------------------------------------------------


def exchange(one: Path, other: Path) -> bool:
    """Swap two files' names in one step; return False where the system cannot.

    Raises FileNotFoundError when either is missing, OSError for what else goes wrong.
    """
    return _renamed(one, other, _EXCHANGE)


def place(source: Path, target: Path) -> None:
    """Rename a file to a name that must be free; raise FileExistsError when it is not."""
    if not _renamed(source, target, _NOREPLACE):
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "file exists", str(target))
        source.replace(target)


def quiet(descriptor: int) -> bool | None:
    """Tell whether nobody has this file open for writing; None where the system cannot say.

    Linux grants a read lease only on such a file. It is given back at once; should someone
    open the file in that instant, the kernel's signal is one that nothing listens to.
    """
    if not hasattr(fcntl, "F_SETSIG"):  # macOS
        return None
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _renamed(one: Path, other: Path, flag: int) -> bool:
    rename = _rename_call()
    if rename is None:
        return False
    if rename(*_AT_FDCWD, os.fsencode(one), *_AT_FDCWD, os.fsencode(other), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _rename_call() -> Any:  # noqa: ANN401
    """Return the system's rename with flags; None where it has none."""
    name = "renamex_np" if _IS_MAC else "renameat2"
    return getattr(ctypes.CDLL(None, use_errno=True), name, None)
