"""A host's transcript file, read as far as it goes and from there when it has grown.

Whole lines only: the last one, while the host is in the middle of it, is read the next time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from vaultmind.errors import BadArgument, NotFound

SUFFIX = ".jsonl"
KNOWN_BYTES = 256
MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line is passed over: no person's words are in it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which file was read, and how far; another file at the same path is read from its start."""

    file: tuple[int, int] = (0, 0)
    """Device and inode."""
    offset: int = 0
    before: bytes = b""
    """The last bytes before the offset: where others stand there, it was written anew."""


@dataclass(frozen=True, slots=True)
class Read:
    """Whole lines that were read, and where to go on."""

    lines: tuple[bytes, ...]
    place: Place
    more: bool = False
    """Whether there was more than might be read at once."""
    anew: bool = False
    """Whether it was read from its start: the first time, or since it is another file."""


def check_transcript(path: str) -> Path:
    """Return a transcript's path; raise BadArgument for one that can be none."""
    found = Path(path)
    try:
        nameable = "\0" not in os.fsencode(path).decode("latin-1")
    except UnicodeEncodeError:
        nameable = False  # half a character, as JSON can hold it
    if not nameable or not found.is_absolute() or found.suffix != SUFFIX:
        raise BadArgument("transcript_path", path, f"the absolute path of a {SUFFIX} file")
    return found


def read_on(path: Path, place: Place, max_bytes: int) -> Read:
    """Return the lines that follow a place, as many as fit, but one at least.

    Raises NotFound where there is no file yet, BadArgument for anything but a regular file of
    this user.
    """
    with _opened(path) as file:
        found = os.fstat(file.fileno())
        here = (found.st_dev, found.st_ino)
        anew = place.file != here or not place.offset or not _goes_on(file, place)
        start = 0 if anew else place.offset
        file.seek(start)
        lines: list[bytes] = []
        read = start
        for line, end in _lines(file, start):
            lines += [line] if line else []
            read = end
            if read - start >= max_bytes:
                break
        more = read - start >= max_bytes and read < found.st_size
        return Read(tuple(lines), Place(here, read, _before(file, read)), more, anew)


def _goes_on(file: BinaryIO, place: Place) -> bool:
    """Tell whether a file still is what was read of it, as far as its last bytes tell."""
    return _before(file, place.offset) == place.before


def _before(file: BinaryIO, offset: int) -> bytes:
    start = max(0, offset - KNOWN_BYTES)
    file.seek(start)
    return file.read(offset - start)


def _opened(path: Path) -> BinaryIO:
    """Return a transcript opened for reading; no link is followed, no pipe waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    allowed = "a regular file of your own"
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise NotFound(f"There is no transcript {str(path)!r} yet.") from None
    except OSError as error:
        raise BadArgument("transcript_path", str(path), allowed) from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
        os.close(descriptor)
        raise BadArgument("transcript_path", str(path), allowed)
    return os.fdopen(descriptor, "rb")


def _lines(file: BinaryIO, position: int) -> Iterator[tuple[bytes, int]]:
    """Yield each whole line and where it ends; an overlong one as empty, a torn one not."""
    while line := file.readline(MAX_LINE_BYTES):
        length = len(line)
        while line and not line.endswith(b"\n") and length >= MAX_LINE_BYTES:
            line = file.readline(MAX_LINE_BYTES)
            length += len(line)
        if not line.endswith(b"\n"):
            return
        position += length
        yield (line if length <= MAX_LINE_BYTES else b""), position
