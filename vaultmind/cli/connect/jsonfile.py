"""A client's JSON file that we change: read, written with a backup, and known as it was before."""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError

BACKUP = ".vaultmind-backup-"


@dataclass(frozen=True, slots=True)
class Change:
    """A configuration file before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Tell whether anything would change."""
        return self.before != self.after


def apply(change: Change, now: datetime) -> Path | None:
    """Write a change atomically; return the backup of what was there, if anything was."""
    real = change.path.resolve()  # a dotfiles user's link stays a link
    if change.after is None:
        real.unlink()
        return None
    change.path.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if change.before is not None:
        backup = _free(change.path, f"{BACKUP}{now:%Y%m%d-%H%M%S}")
        shutil.copy2(change.path, backup)
    temporary = real.with_name(f".{real.name}.vaultmind-{os.getpid()}")
    try:
        temporary.write_bytes(change.after.encode())
        if change.before is not None:
            shutil.copymode(real, temporary)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    return backup


def origins(path: Path) -> Iterator[str | None]:
    """Yield what the file may have been before our change: its backups, newest first, or none."""
    for backup in sorted(path.parent.glob(f"{glob.escape(path.name)}{BACKUP}*"), reverse=True):
        with suppress(ConfigError):
            yield read(backup)
    yield None


def _free(path: Path, ending: str) -> Path:
    """Return a name beside a file that nothing has yet: two changes may fall in one second."""
    free, number = path.with_name(path.name + ending), 1
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}{ending}-{number}")
    return free


def read(path: Path) -> str | None:
    """Return the file's text, its BOM and newlines as they are; None where there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error


def parse(path: Path, text: str) -> dict[str, Any]:
    """Return the object that a file's text holds. Raises ConfigError for any other."""
    body = text.lstrip("\ufeff")
    try:
        content = json.loads(body) if body.strip() else {}
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.")
    return content
