"""Putting a new file in an old one's place, unless someone else wrote it meanwhile.

The new bytes go to a temporary file beside the old one; the two names are exchanged in one
step, and what came out is compared with what was read. A person's edit that slipped in is
put back. So at no moment is the file missing or half written, and no edit is lost.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vaultmind.vault.files import OPEN_FLAGS
from vaultmind.vault.swap import exchange, flush_folder, place, quiet

TEMP_PREFIX = ".vaultmind-"
"""Dot names are skipped by Obsidian, by most sync programs and by our own scan."""
STALE_TEMP_SECONDS = 60.0
BUSY_SECONDS = 1.0
"""How long one try waits for another program that has the file open for writing."""
GRACE_SECONDS = 0.02
"""Where the system cannot say who writes: how long a file must stay the same to be taken."""
_POLL_SECONDS = 0.002
_ROUNDS = 100
_BUSY = ""
"""Stands for the hash of a file that someone still writes."""


class FileChanged(Exception):
    """The file is not what was read: someone else wrote it, or still does."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """New bytes for a file whose old bytes have the hash `expected`; empty: no file yet."""

    path: Path
    raw: bytes
    expected: str = ""


def digest(raw: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return hashlib.sha256(raw).hexdigest()


def replace_file(new: Replacement) -> os.stat_result:
    """Write a replacement and return the stamp it had before it took its name.

    Raises FileChanged with everyone else's last version in place, OSError with the old file
    whole.
    """
    with _temporary(new) as (temp, found):
        if new.expected:
            _swap_in(temp, new)
        else:
            _create(temp, new.path)
    return found


def wait_until_quiet(path: Path) -> None:
    """Return once nobody has the file open for writing; raise FileChanged when that lasts.

    Raises FileNotFoundError when there is no file.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    descriptor = os.open(path, OPEN_FLAGS)
    try:
        while (answer := quiet(descriptor)) is False:
            if time.monotonic() > deadline:
                raise FileChanged
            time.sleep(_POLL_SECONDS)
        if answer is None:
            _wait_for_grace(descriptor, deadline)
    finally:
        os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove temporary files that a killed process left a minute ago or more.

    One that holds neither what was there nor what was to be there came out of an exchange
    that was cut short: it is somebody's edit, and stays.
    """
    oldest = time.time() - STALE_TEMP_SECONDS
    for left in folder.glob(f"{TEMP_PREFIX}*"):
        with contextlib.suppress(OSError):
            if left.lstat().st_mtime < oldest and _is_ours(left):
                left.unlink()


def _is_ours(left: Path) -> bool:
    if left.suffix == ".part":
        return True
    parts = left.name.removeprefix(TEMP_PREFIX).split("-")
    return _short(digest(left.read_bytes())) in parts


def _short(sha: str) -> str:
    return sha[:16]


@contextmanager
def _temporary(new: Replacement) -> Iterator[tuple[Path, os.stat_result]]:
    """Write the bytes to a file beside the old one, with its mode; remove what is left.

    Its name tells `sweep` what may be in it.
    """
    names = "-".join((secrets.token_hex(4), _short(new.expected), _short(digest(new.raw))))
    temp = new.path.with_name(f"{TEMP_PREFIX}{names}")
    part = temp.with_name(f"{temp.name}.part")
    try:
        found = _written(part, new)
        part.rename(temp)
        yield temp, found
    finally:
        part.unlink(missing_ok=True)
        temp.unlink(missing_ok=True)


def _written(part: Path, new: Replacement) -> os.stat_result:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(part, flags | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.suppress(FileNotFoundError):
            _keep_mode(descriptor, new.path.lstat())
        write_all(descriptor, new.raw)
        os.fsync(descriptor)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _keep_mode(descriptor: int, found: os.stat_result) -> None:
    if found.st_uid != os.fstat(descriptor).st_uid:
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, found.st_mode & 0o7777)


def write_all(descriptor: int, raw: bytes) -> None:
    """Write every byte, in as many calls as the system needs."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _create(temp: Path, path: Path) -> None:
    try:
        place(temp, path)
    except FileExistsError as error:
        raise FileChanged from error
    flush_folder(path.parent)


def _swap_in(temp: Path, new: Replacement) -> None:
    try:
        if _hash_when_quiet(new.path) != new.expected:
            raise FileChanged
        if not exchange(temp, new.path):
            temp.replace(new.path)
            return flush_folder(new.path.parent)
    except FileNotFoundError as error:
        raise FileChanged from error
    try:
        flush_folder(new.path.parent)
        came_out = _hash_when_quiet(temp)
    except BaseException:
        exchange(temp, new.path)
        raise
    if came_out != new.expected:
        _give_back(temp, new.path, came_out, digest(new.raw))
        raise FileChanged
    return None


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


def _wait_for_grace(descriptor: int, deadline: float) -> None:
    seen = os.fstat(descriptor)
    while time.monotonic() < deadline:
        time.sleep(GRACE_SECONDS)
        now = os.fstat(descriptor)
        if (now.st_mtime_ns, now.st_size) == (seen.st_mtime_ns, seen.st_size):
            return
        seen = now
    raise FileChanged
