"""Reading a file of the vault: its text exactly as it stands, its hash and its stamp."""

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from vaultmind.errors import NotFound, UnreadableNote
from vaultmind.vault.paths import VaultPaths

Newline = Literal["\n", "\r\n"]

OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No symlink is followed, and a named pipe called `x.md` does not block."""
_TORN = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})(?=\n)")
"""The beginning of a character whose end a crash cut off."""
_NO_TEXT = re.compile("[\0\udc80-\udcff]")
TEMP_PREFIX = ".vaultmind-"
"""Dot names are skipped by Obsidian, by most sync programs and by our own scan."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What tells that a file may have changed; equal stamps are taken as equal content."""

    mtime_ns: int
    ctime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it was read. `text` has its newlines as on disk and no byte order mark."""

    path: str
    """Vault-relative."""
    text: str
    sha: str
    """SHA-256 of the bytes on disk, in hex."""
    stat: FileStat
    """Taken before the bytes: a change during the read shows as another stamp later."""
    bom: bool
    newline: Newline
    """What most of its lines end in; `\\n` for a file of one line."""


Change = Callable[[FileText | None], str | None]
"""Takes a file as it stands (None: there is none), returns its new text (None: no write)."""


@dataclass(frozen=True, slots=True)
class VaultReader:
    """Reads files of the vault. `max_bytes` 0 means no limit."""

    paths: VaultPaths
    max_bytes: int

    def read(self, relative: str) -> FileText:
        """Return a file's text. Raises NotFound, UnreadableNote or PathRefused.

        Of a linked folder that is away also VaultNotFound.
        """
        return decode(relative, *read_bytes(self.paths.absolute(relative), self, relative))

    def read_broken(self, relative: str) -> str:
        """Return a file's lines of text, empty for each that is none. Raises as `read`."""
        raw, _ = read_bytes(self.paths.absolute(relative), self, relative)
        lines = raw.decode("utf-8-sig", "surrogateescape").split("\n")
        return "\n".join("" if _NO_TEXT.search(line) else line for line in lines)

    def stat(self, relative: str) -> FileStat | None:
        """Return a regular file's stamp; None when there is none. Raises PathRefused."""
        try:
            found = self.paths.absolute(relative).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UnreadableNote(relative, reason_of(error)) from error
        return stat_of(found) if modes.S_ISREG(found.st_mode) else None

    def exists(self, relative: str) -> bool:
        """Tell whether there is a regular file. Raises PathRefused."""
        return self.stat(relative) is not None


def read_bytes(path: Path, reader: VaultReader, relative: str) -> tuple[bytes, FileStat]:
    """Return a regular file's bytes and the stamp it had before they were read."""
    most = reader.max_bytes
    try:
        with os.fdopen(os.open(path, OPEN_FLAGS), "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if not modes.S_ISREG(found.st_mode):
                raise UnreadableNote(relative, "not a regular file")
            if 0 < most < found.st_size:
                raise UnreadableNote(relative, size_reason(found.st_size, most))
            return file.read(), stat_of(found)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"There is no file {relative!r} in the vault.") from error
    except OSError as error:
        raise UnreadableNote(relative, reason_of(error)) from error


def decode(relative: str, raw: bytes, stamp: FileStat) -> FileText:
    """Return a file's bytes as text; raise UnreadableNote when they are not UTF-8.

    A character torn at the very end, as a crash leaves it, is dropped; so is one at the end of a
    line, below which something was written since.
    """
    body = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError as error:
        if _TORN.search(body):
            return replace(decode(relative, _TORN.sub(b"", raw), stamp), sha=digest(raw))
        place = f"byte {error.start + len(raw) - len(body)}"
        raise UnreadableNote(relative, f"not UTF-8 ({place})") from error
    if "\0" in text:
        raise UnreadableNote(relative, "not text: it holds NUL bytes (binary, or UTF-16)")
    return FileText(relative, text, digest(raw), stamp, len(body) < len(raw), newline_of(text))


def newline_of(text: str) -> Newline:
    """Return what most lines of a text end in; `\\n` when it has one line."""
    pairs = text.count("\r\n")
    return "\r\n" if pairs and pairs * 2 >= text.count("\n") else "\n"


def line_span(text: str, start: int, end: int | None = None) -> tuple[int, int]:
    """Return the span of the whole lines that hold `start` to `end`, last newline included."""
    last = start if end is None or end <= start else end - 1
    first, stop = text.rfind("\n", 0, start) + 1, text.find("\n", last)
    return first, len(text) if stop < 0 else stop + 1


def end_line(text: str) -> str:
    """Return the text with its last line ended, if it has one that is not."""
    return text if not text or text.endswith("\n") else text + newline_of(text)


def with_newlines(text: str, newline: Newline) -> str:
    """Return the text with every line break as `newline`."""
    return re.sub(r"\r\n?|\n", newline, text)


def digest(raw: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return hashlib.sha256(raw).hexdigest()


def stat_of(found: os.stat_result) -> FileStat:
    """Return the stamp in a stat result."""
    return FileStat(found.st_mtime_ns, found.st_ctime_ns, found.st_size)


def size_reason(size: int, max_bytes: int) -> str:
    """Return the words for a file that is too large."""
    return f"{size / 1e6:.1f} MB is over the limit of {max_bytes / 1e6:g} MB"


def reason_of(error: OSError) -> str:
    """Return a system error in words, without the path."""
    if error.errno == errno.ELOOP:
        return "a symbolic link"
    return (error.strerror or type(error).__name__).lower()
