"""Adding to the end of a file so that a crash or a save in between loses nothing."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat as modes
from pathlib import Path

from vaultmind.vault.files import newline_of
from vaultmind.vault.replacing import (
    FileChanged,
    Replacement,
    digest,
    replace_file,
    wait_until_quiet,
    write_all,
)
from vaultmind.vault.swap import flush_folder

_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_TAIL = 4096
_ROUNDS = 20


def append_file(path: Path, raw: bytes) -> None:
    """Append bytes and flush them to disk, making the file when there is none.

    A torn last line is ended first. When the file is replaced or rewritten under our hands,
    the bytes are appended again to what stands there then, unless who rewrote it had read them
    already. Raises OSError with the file as it was, FileChanged when it is replaced without end.
    """
    for round_ in range(_ROUNDS):
        with contextlib.suppress(FileChanged, FileNotFoundError):
            wait_until_quiet(path)  # one that stays open for writing is appended to all the same
        if round_ and _holds(path, raw):
            return
        _part_from_other_names(path)
        if _appended(path, raw):
            return
    raise FileChanged


def _holds(path: Path, raw: bytes) -> bool:
    """Tell whether a file says the bytes already; what is appended is told apart by its ids."""
    try:
        return raw in path.read_bytes()
    except FileNotFoundError:
        return False


def _appended(path: Path, raw: bytes) -> bool:
    is_new = not os.path.lexists(path)
    descriptor = os.open(path, _FLAGS | os.O_CREAT, 0o666)
    try:
        before = os.fstat(descriptor)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if before.st_nlink > 1:
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
        write_all(descriptor, raw)
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
    if torn := _torn_bytes(tail):
        os.ftruncate(descriptor, size - torn)
    return newline_of(tail.decode(errors="replace")).encode()


def _torn_bytes(tail: bytes) -> int:
    """Return how many bytes at the end begin a UTF-8 character that does not end."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    decoder.decode(tail)
    return len(decoder.getstate()[0])


def _part_from_other_names(path: Path) -> None:
    """Give a file that has a second name (a hard link) a copy of its own.

    Appending to it would write to wherever the other name is, maybe outside our folder.
    """
    with contextlib.suppress(FileChanged, FileNotFoundError):
        if path.lstat().st_nlink > 1:
            raw = path.read_bytes()
            replace_file(Replacement(path, raw, digest(raw)))


def _at(descriptor: int, offset: int, size: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)
