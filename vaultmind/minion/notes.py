"""What was learned of each model, kept in the state folder: settings that worked, speed, size."""

from __future__ import annotations

import json
import logging
import os
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FILE = "minion.json"
PACKAGE = "llama-cpp-python"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of one model."""

    safe: bool = False
    """Whether it runs with the careful settings alone: it crashed with the usual ones."""
    pid: int = 0
    """Of the process that has it open, if that still lives."""
    load_ms: float = 0.0
    memory_mb: float = 0.0
    """The most its process had."""
    jobs: int = 0
    prompt_tokens_per_second: float = 0.0
    tokens_per_second: float = 0.0
    """Both of the last job that was long enough to tell."""
    failure: str = ""
    """Why its last job failed; empty when it did not."""


def package_version() -> str:
    """Return the version of llama-cpp-python; empty when it is not installed."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return ""


def model_key(path: Path) -> str:
    """Return the name of a model's note: another file or llama.cpp has nothing learned yet."""
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return f"{path.name} {size} {package_version()}"


class Notes:
    """The file with the notes. It can be lost at any time: then things are learned anew."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()

    def of(self, key: str) -> Note:
        """Return what is known of a model."""
        return _note(self._read().get(key))

    def learn(self, key: str, **known: Any) -> None:  # noqa: ANN401
        """Keep what was learned of a model; the fields are those of `Note`."""
        with self._lock:
            held = self._read()
            note = replace(_note(held.get(key)), **known)
            held[key] = asdict(note)
            self._write(held)

    def _read(self) -> dict[str, Any]:
        try:
            held = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) else {}

    def _write(self, held: dict[str, Any]) -> None:
        temp = self._path.with_name(f".{FILE}.{os.getpid()}")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            temp.write_text(json.dumps(held, indent=1), "utf-8")
            temp.chmod(0o600)
            temp.replace(self._path)
        except OSError as error:  # nothing depends on it: the next crash teaches it again
            log.warning("%s could not be written: %s", self._path, error)
            with suppress(OSError):
                temp.unlink()


def _note(held: object) -> Note:
    """Return a note as it was kept; what does not look like one is left out."""
    if not isinstance(held, dict):
        return Note()
    kinds: dict[str, Any] = {item.name: type(item.default) for item in fields(Note)}
    sound = {
        name: kind(held[name])
        for name, kind in kinds.items()
        if isinstance(held.get(name), int | float | str) and _converts(kind, held[name])
    }
    return Note(**sound)


def _converts(kind: Any, value: object) -> bool:  # noqa: ANN401
    try:
        kind(value)
    except (TypeError, ValueError):
        return False
    return True
