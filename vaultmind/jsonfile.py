"""A file of JSON that belongs to another program: edited as an object, with a backup."""

from __future__ import annotations

import copy
import difflib
import json
import re
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError

BACKUP = ".vaultmind-backup-"
Content = dict[str, Any]


def read(path: Path) -> tuple[str, Content]:
    """Return a file's text and the object in it, both empty where there is no file.

    Raises ConfigError for a file that holds no JSON object.
    """
    try:
        text = path.read_text("utf-8-sig") if path.exists() else ""
        content = json.loads(text) if text.strip() else {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not hold a JSON object.")
    return text, content


def change(
    path: Path, edit: Callable[[Content], None], *, write: bool
) -> tuple[str, str, str | None]:
    """Edit the object in a file; return what changes as a diff, the new text and the backup.

    The backup is None where nothing was written, and empty where no file was before. Raises
    ConfigError for a file that cannot be edited.
    """
    try:
        before, content = read(path)
        after = copy.deepcopy(content)
        edit(after)
    except ConfigError as error:  # Zed's and VS Code's files may hold comments
        alone: Content = {}
        edit(alone)
        entry = json.dumps(alone, indent=2)
        error.hint = f"It was left alone. Fix it, or make the change by hand:\n{entry}"
        raise
    if after == content:
        return "", before, None
    found = re.match(r"[\[{]\s*?\n([ \t]+)\S", before)
    text = f"{json.dumps(after, ensure_ascii=False, indent=found[1] if found else 2)}\n"
    lines = before.splitlines(), text.splitlines()
    diff = "\n".join(difflib.unified_diff(*lines, f"{path} now", f"{path} then", lineterm="", n=2))
    if not write:
        return diff, text, None
    backup = f"{path}{BACKUP}{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}" if before else ""
    if backup:
        shutil.copy2(path, backup)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")  # through a dotfiles user's link
    return diff, text, backup


def member(content: Content, way: Sequence[str], empty: Any) -> Any:  # noqa: ANN401
    """Return the object or list at the end of a way of keys, made (as `empty`) where it is missing.

    Raises ConfigError where something else stands there.
    """
    found: Any = content
    for number, key in enumerate(way, 1):
        kind = type(empty) if number == len(way) else dict
        found = found.setdefault(key, kind())
        if not isinstance(found, kind):
            raise ConfigError(f"{'.'.join(way[:number])!r} is no {kind.__name__}.")
    return found


def prune(content: Content, way: Sequence[str]) -> None:
    """Take out what is empty along a way of keys."""
    inner = content.get(way[0])
    if len(way) > 1 and isinstance(inner, dict):
        prune(inner, way[1:])
    if inner in ({}, []):
        del content[way[0]]
