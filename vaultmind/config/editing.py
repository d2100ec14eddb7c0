"""Setting one key in a person's TOML file; comments, order and line endings stay."""

from __future__ import annotations

import json
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from vaultmind.errors import ConfigError

_HEADER = re.compile(r"\s*\[")


def set_in_file(path: Path, section: str, name: str, value: str) -> None:
    """Set `name` in a section of a TOML file, which is made if there is none.

    Raises ConfigError where the file cannot be understood or written; then it is as it was.
    """
    real = path.resolve()  # behind a link, as people who keep such files elsewhere have
    try:
        raw = real.read_bytes() if real.exists() else b""
        text = raw.decode("utf-8-sig")
        new = set_key(text, section, name, value)
        mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
        _write(real, mark + new.encode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be changed: {error}.", hint="Mend it first.") from error


def set_key(text: str, section: str, name: str, value: str) -> str:
    """Return a TOML text in which `section.name` is `value`, and all else as it was.

    Raises ConfigError where that cannot be done line by line.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    wanted: dict[str, Any] = tomllib.loads(text)
    lines = text.splitlines()
    held = wanted.get(section)
    if isinstance(held, str):  # the short form: `minion = "…"`
        lines = [f"# {line}" if re.match(rf"\s*{section}\s*=", line) else line for line in lines]
        lines = _placed(lines, section, "model", held)
        wanted[section] = {"model": held}
    lines = _placed(lines, section, name, value)
    wanted.setdefault(section, {})[name] = value
    new = "".join(f"{line}{end}" for line in lines)
    if tomllib.loads(new) != wanted:
        line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
        raise ConfigError(
            "The configuration is written in a way that cannot be changed line by line.",
            hint=f"Write it yourself, under [{section}]: {line}",
        )
    return new


def _placed(lines: list[str], section: str, name: str, value: str) -> list[str]:
    """Return lines with a key in its section: in its old place, or in a new one."""
    entry = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    header = re.compile(rf"\s*\[\s*{section}\s*\]\s*(#.*)?$")
    dotted = re.compile(rf"\s*{section}\s*\.\s*{name}\s*=")
    first_header = next((n for n, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    for number in range(first_header):
        if dotted.match(lines[number]):
            return [*lines[:number], f"{section}.{entry}", *lines[number + 1 :]]
    start = next((n for n, line in enumerate(lines) if header.match(line)), -1)
    if start < 0:
        gap = [""] if lines and lines[-1].strip() else []
        return [*lines, *gap, f"[{section}]", entry]
    for number in range(start + 1, len(lines)):
        if _HEADER.match(lines[number]):
            break
        if re.match(rf"\s*{name}\s*=", lines[number]):
            return [*lines[:number], entry + _comment(lines[number]), *lines[number + 1 :]]
    return [*lines[: start + 1], entry, *lines[start + 1 :]]


def _comment(line: str) -> str:
    """Return the comment that ends a line with one quoted value."""
    found = re.fullmatch(r"""[^"'#]*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*')(\s*#.*)""", line)
    return found[1] if found else ""


def _write(path: Path, raw: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temp.write_bytes(raw)
        temp.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        temp.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temp.unlink()
