"""Writing below the memory folder: no other file, no half file, no edit of a person's lost."""

from __future__ import annotations

import codecs
import contextlib
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vaultmind.errors import NotFound, PathRefused, VaultMindError, WriteConflict, WriteFailed
from vaultmind.vault.files import (
    Change,
    FileText,
    VaultReader,
    decode,
    newline_of,
    read_bytes,
    reason_of,
    stat_of,
)
from vaultmind.vault.paths import VaultPaths
from vaultmind.vault.replacing import (
    TEMP_PREFIX,
    FileChanged,
    append_file,
    digest,
    flush_folder,
    replace_file,
    wait_until_quiet,
)

_TEMP_NAME = re.compile(rf"{re.escape(TEMP_PREFIX)}[0-9a-f]{{16}}")
STALE_SECONDS = 60.0
"""Age of a temporary file whose writer is surely gone."""
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class VaultWriter:
    """Writes files of the memory folder. One in a process for each vault; any thread."""

    def __init__(self, paths: VaultPaths) -> None:
        self._paths = paths
        self._reader = VaultReader(paths, max_bytes=0)
        self._locks: dict[str, threading.RLock] = {}

    def edit(self, relative: str, change: Change, tries: int = 5) -> FileText | None:
        """Apply a change to a file and return it as written; None when `change` declined.

        A text equal to the file's is not written. The byte order mark is kept; newlines are
        the change's own (`edits.newline_of`, `edits.with_newlines`). `change` may be called
        again, with newer text, up to `tries` times; it must not change anything itself.

        Raises PathRefused, UnreadableNote, WriteConflict (nothing written), WriteFailed (the
        old file is whole).
        """
        path = self._paths.writable(relative)
        with self._writing(relative):
            for _ in range(tries):
                with contextlib.suppress(FileChanged):
                    return self._try(path, relative, change)
        raise _conflict(relative, tries)

    def append(self, relative: str, text: str) -> None:
        """Append text to a file and flush it to disk; make the file when there is none.

        A last line without its newline, as a crash leaves it, is ended first.
        Raises PathRefused, WriteConflict, or WriteFailed (the file is as it was).
        """
        path = self._paths.writable(relative)
        raw = storable(text).encode()
        with self._writing(relative):
            self._make_folder(path.parent, relative)
            try:
                append_file(path, raw)
            except FileChanged as error:
                raise _conflict(relative) from error

    def remove(self, relative: str, sha: str) -> None:
        """Remove a file whose bytes still have this SHA-256.

        Raises NotFound, PathRefused, WriteFailed; WriteConflict when it holds something else.
        """
        path = self._paths.writable(relative)
        with self._writing(relative):
            if digest(path.read_bytes()) != sha:
                raise _conflict(relative)
            path.unlink()
            flush_folder(path.parent)

    def sweep(self) -> None:
        """Remove temporary files that killed processes left in the memory folder."""
        oldest = time.time() - STALE_SECONDS
        for left in (self._paths.root / self._paths.memory_dir).rglob(f"{TEMP_PREFIX}*"):
            with contextlib.suppress(OSError):
                if _TEMP_NAME.fullmatch(left.name) and left.lstat().st_mtime < oldest:
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
        return FileText(relative, text, digest(raw), stat_of(found), bom, newline_of(text))

    def _settled(self, path: Path, relative: str) -> FileText | None:
        """Return the file as it is while nobody writes it; None when there is none.

        A text read in the middle of a save would look damaged to whoever parses it.
        """
        try:
            wait_until_quiet(path)
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
        except VaultMindError:
            raise
        except FileNotFoundError as error:
            raise NotFound(f"There is no file {relative!r} in the vault.") from error
        except OSError as error:
            if error.filename and Path(error.filename).is_symlink():
                raise PathRefused(relative, "a symbolic link") from error
            raise WriteFailed(
                f"{relative} could not be written: {reason_of(error)}.",
                hint="The file is as it was; check the disk's space and the folder's rights.",
            ) from error


def storable(text: str) -> str:
    """Return the text with what no UTF-8 text file can hold replaced: NUL, lone surrogates."""
    return _NOT_STORABLE.sub("\ufffd", text)


def _conflict(relative: str, tries: int = 0) -> WriteConflict:
    times = f"; tried {tries} times" if tries else ""
    return WriteConflict(
        f"{relative} kept changing or was held open by another program{times}.",
        hint="Nothing was written; try again when it is saved and closed.",
    )
