"""A file's stamp: what tells that nobody has changed it meanwhile."""

from __future__ import annotations

import time

from vaultmind.errors import VaultMindError
from vaultmind.vault.files import FileStat, VaultReader

SAVING_TRIES, SAVING_SECONDS = 20, 0.01
"""How often, and after how long, it is looked whether an editor has saved an emptied file."""


def stamp_of(reader: VaultReader, path: str) -> FileStat | None:
    """Return a file's stamp; None where it cannot be looked at."""
    try:
        return reader.stat(path)
    except VaultMindError:
        return None


def await_saved(reader: VaultReader, path: str) -> None:
    """Wait a moment for an editor that has emptied a file and is about to write it."""
    for _ in range(SAVING_TRIES):
        stat = stamp_of(reader, path)
        if stat is None or stat.size:
            return
        time.sleep(SAVING_SECONDS)
