"""A client's JSON file that we change: read, edited as an object, written with a backup."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError

BACKUP = ".vaultmind-backup-"
_INDENT = re.compile(r"^[\[{]\s*?\n([ \t]+)\S")


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


def read(path: Path) -> tuple[str | None, dict[str, Any]]:
    """Return a file's text and the object in it; None and an empty one where there is no file.

    Raises ConfigError for a file that holds no JSON object.
    """
    try:
        text = path.read_text("utf-8-sig")
        content = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return None, {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.")
    return text, content


def changed(path: Path, edit: Callable[[dict[str, Any]], None]) -> Change:
    """Return the change that an edit of the object in a file makes; emptied, the file goes.

    Raises ConfigError for a file that cannot be edited, with what the edit would have put in.
    """
    try:
        before, content = read(path)
        after = copy.deepcopy(content)
        edit(after)
    except ConfigError as error:
        alone: dict[str, Any] = {}
        edit(alone)
        snippet = json.dumps(alone, ensure_ascii=False, indent=2)
        wanted = f"or add this by hand:\n{snippet}" if alone else "or take it out by hand."
        error.hint = f"It was left as it is. Mend it, {wanted}"
        raise
    if after == content:
        return Change(path, before, before)
    found = _INDENT.match(before or "")
    text = json.dumps(after, ensure_ascii=False, indent=found[1] if found else 2)
    return Change(path, before, f"{text}\n" if after else None)


def member(content: dict[str, Any], way: Sequence[str], empty: Any) -> Any:  # noqa: ANN401
    """Return the object or list at the end of a way of keys, made (as `empty`) where it is missing.

    Raises ConfigError where something else stands there.
    """
    found: Any = content
    for number, key in enumerate(way, 1):
        kind = type(empty) if number == len(way) else dict
        found = found.setdefault(key, kind())
        if not isinstance(found, kind):
            raise ConfigError(f"{'.'.join(way[:number])!r} holds something else than expected.")
    return found


def prune(content: dict[str, Any], way: Sequence[str]) -> None:
    """Take out what is empty along a way of keys."""
    inner = content.get(way[0])
    if len(way) > 1 and isinstance(inner, dict):
        prune(inner, way[1:])
    if inner in ({}, []):
        del content[way[0]]


def apply(change: Change, now: datetime) -> Path | None:
    """Write a change atomically; return the backup of what was there, if anything was."""
    real = change.path.resolve()  # a dotfiles user's link stays a link
    real.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if change.before is not None:
        backup = change.path.with_name(f"{change.path.name}{BACKUP}{now:%Y%m%d-%H%M%S-%f}")
        shutil.copy2(real, backup)
    if change.after is None:
        real.unlink()
        return backup
    temporary = real.with_name(f".{real.name}.vaultmind-{os.getpid()}")
    try:
        temporary.write_text(change.after, "utf-8")
        if change.before is not None:
            shutil.copymode(real, temporary)
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    return backup
