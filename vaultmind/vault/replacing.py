"""Putting a new file in an old one's place, unless someone else wrote it meanwhile; appending.

The new bytes go to a temporary file beside the old one; the two names are exchanged in one
step, and what came out is compared with what was read. A person's edit that slipped in is
put back. So at no moment is the file missing or half written, and no edit is lost.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat as modes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vaultmind.vault.files import OPEN_FLAGS, newline_of
from vaultmind.vault.swap import exchange, flush_folder, place, quiet

TEMP_PREFIX = ".vaultmind-"
"""Dot names are skipped by Obsidian, by most sync programs and by our own scan."""
_TEMP_NAME = re.compile(rf"{re.escape(TEMP_PREFIX)}[0-9a-f]{{16}}")
STALE_TEMP_SECONDS = 60.0
BUSY_SECONDS = 1.0
"""How long one try waits for another program that has the file open for writing."""
GRACE_SECONDS = 0.02
"""Where the system cannot say who writes: how long a file must stay the same to be taken."""
_POLL_SECONDS = 0.002
_ROUNDS = 100
_APPEND_ROUNDS = 20
_TAIL = 4096
_BUSY = ""
"""Stands for the hash of a file that someone still writes."""
_OWN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class FileChanged(Exception):
    """The file is not what was read: someone else wrote it, or still does."""


def digest(raw: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return hashlib.sha256(raw).hexdigest()


def replace_file(path: Path, raw: bytes, expected: str) -> os.stat_result:
    """Write a file whose bytes have the hash `expected`; with an empty one, a new file.

    Return the stamp that the new file had before it took its name. Raises FileChanged with
    everyone else's last version in place, OSError with the old file whole.
    """
    with _temporary(path, raw) as (temp, found):
        if expected:
            _swap_in(temp, path, expected, digest(raw))
        else:
            try:
                place(temp, path)
            except FileExistsError as error:
                raise FileChanged from error
        flush_folder(path.parent)
    return found


def append_file(path: Path, raw: bytes) -> None:
    """Append bytes and flush them to disk, making the file when there is none.

    A torn last line is ended first. When the file is replaced or rewritten under our hands,
    the bytes are appended again to what stands there then, unless who rewrote it had read them
    already. Raises OSError with the file as it was, FileChanged when it is replaced without end.
    """
    for round_ in range(_APPEND_ROUNDS):
        with contextlib.suppress(FileChanged, FileNotFoundError):
            wait_until_quiet(path)  # one that stays open for writing is appended to all the same
        with contextlib.suppress(FileNotFoundError):
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


def sweep(folder: Path) -> None:
    """Remove temporary files that a killed process left a minute ago or more."""
    oldest = time.time() - STALE_TEMP_SECONDS
    for left in folder.glob(f"{TEMP_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _TEMP_NAME.fullmatch(left.name) and left.lstat().st_mtime < oldest:
                left.unlink()


@contextmanager
def _temporary(path: Path, raw: bytes) -> Iterator[tuple[Path, os.stat_result]]:
    """Write the bytes to a file beside the old one, with its mode; remove what is left."""
    temp = path.with_name(f"{TEMP_PREFIX}{secrets.token_hex(8)}")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OWN, 0o666)
    try:
        try:
            with contextlib.suppress(FileNotFoundError):
                _keep_mode(descriptor, path.lstat())
            _write_all(descriptor, raw)
            os.fsync(descriptor)
            found = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        yield temp, found
    finally:
        temp.unlink(missing_ok=True)


def _keep_mode(descriptor: int, found: os.stat_result) -> None:
    if found.st_uid != os.fstat(descriptor).st_uid:
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, found.st_mode & 0o7777)


def _write_all(descriptor: int, raw: bytes) -> None:
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _swap_in(temp: Path, path: Path, expected: str, ours: str) -> None:
    try:
        if _hash_when_quiet(path) != expected:
            raise FileChanged
        if not exchange(temp, path):
            temp.replace(path)
            return
    except FileNotFoundError as error:
        raise FileChanged from error
    try:
        came_out = _hash_when_quiet(temp)
    except BaseException:
        exchange(temp, path)
        raise
    if came_out != expected:
        _give_back(temp, path, came_out, ours)
        raise FileChanged


def _give_back(temp: Path, path: Path, held: str, placed: str) -> None:
    """Put what came out of `path` back, or what was written there meanwhile: the newest.

    `held` is the hash of what is in `temp`, `placed` of what we last put at `path`.
    """
    for _ in range(_ROUNDS):
        try:
            exchange(temp, path)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                place(temp, path)
            return
        came_out = _hash_when_quiet(temp)
        if placed in (came_out, _BUSY):
            return
        held, placed = came_out, held


def _hash_when_quiet(path: Path) -> str:
    try:
        wait_until_quiet(path)
    except FileChanged:
        return _BUSY
    return digest(path.read_bytes())


def _appended(path: Path, raw: bytes) -> bool:
    """Append once; tell whether the bytes stand at the path now."""
    is_new = not os.path.lexists(path)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _OWN, 0o666)
    try:
        before = os.fstat(descriptor)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if before.st_nlink > 1:  # a hard link: its other name may be outside of our folder
            old = path.read_bytes()
            with contextlib.suppress(FileChanged):
                replace_file(path, old, digest(old))
            return False
        added = _mended_tail(descriptor, before.st_size) + raw
        end = _write_at_end(descriptor, added)
        os.fsync(descriptor)
        kept = _at(descriptor, end - len(added), len(added)) == added
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        flush_folder(path.parent)
    try:
        return kept and os.path.samestat(after, path.lstat())
    except FileNotFoundError:
        return False


def _write_at_end(descriptor: int, raw: bytes) -> int:
    """Write and return where it ends; take a part back when the disk fills."""
    size = os.fstat(descriptor).st_size
    try:
        _write_all(descriptor, raw)
    except OSError:
        if 0 < os.fstat(descriptor).st_size - size < len(raw):
            os.ftruncate(descriptor, size)
        raise
    return os.lseek(descriptor, 0, os.SEEK_CUR)


def _mended_tail(descriptor: int, size: int) -> bytes:
    """Return the newline a torn last line lacks; cut off a character torn in the middle."""
    tail = _at(descriptor, max(0, size - _TAIL), _TAIL)
    if not tail or tail.endswith(b"\n"):
        return b""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text = decoder.decode(tail)
    if torn := len(decoder.getstate()[0]):
        os.ftruncate(descriptor, size - torn)
    return newline_of(text).encode()


def _at(descriptor: int, offset: int, size: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)
