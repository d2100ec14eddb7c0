"""A client's JSON file that we change: read, edited as an object, written with a backup."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError

BACKUP = ".vaultmind-backup-"


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; empty where there is none, or where it goes."""

    path: Path
    before: str
    after: str

    def write(self) -> Path | None:
        """Write it; return the backup of what was there, if anything was."""
        backup = None
        if self.before:
            now = f"{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}"
            backup = self.path.with_name(f"{self.path.name}{BACKUP}{now}")
            shutil.copy2(self.path, backup)
        if self.after:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.after, "utf-8")  # through a dotfiles user's link
        else:
            self.path.resolve().unlink()
        return backup


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a file's text and the object in it, both empty where there is no file.

    Raises ConfigError for a file that holds no JSON object.
    """
    try:
        text = path.read_text("utf-8-sig")
        content = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return "", {}
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
    found = re.match(r"[\[{]\s*?\n([ \t]+)\S", before)
    text = json.dumps(after, ensure_ascii=False, indent=found[1] if found else 2)
    return Change(path, before, f"{text}\n" if after else "")


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
