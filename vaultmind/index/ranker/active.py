"""Which learned models are in use, as `models/active.json` of a memory folder says.

    {"version": 1, "planner": {"code": "code-2026-11-22-1a2b3c"}, "ranker": {"use": "shipped"},
     "before": [{"kind": "planner", "was": {"code": "shipped"}, "at": "2026-11-22T18:00:00+00:00"}]}

A model goes by its file's stem; `shipped` is the one that comes with the program. What is not named
is as if nobody had learnt: the planner's shipped weights, the last ranker by name. A file that
cannot be understood means shipped ones throughout: of several models it would be left to chance
which one ranks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

VERSION = 1
ACTIVE = "models/active.json"
"""Below the memory folder."""
SHIPPED_ID = "shipped"
WORDS = "words"
"""What the ranker of a search without an embedder is called."""
MAX_BYTES = 100_000
MAX_NAME = 100
MOST_BEFORE = 50
"""Changes that can be taken back."""

ModelKind = Literal["planner", "ranker"]
MODEL_KINDS: tuple[ModelKind, ...] = ("planner", "ranker")


@dataclass(frozen=True, slots=True)
class Switch:
    """A change of what is in use: what it was before."""

    kind: ModelKind
    was: Mapping[str, str]
    """Ids of models by what each ranks (`code`, `notes`; an embedder's name); empty for none
    named."""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Active:
    """What is in use."""

    planner: Mapping[str, str] = field(default_factory=dict)
    ranker: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Switch, ...] = ()
    """Oldest first."""
    fault: str = ""
    """Why the file could not be understood."""

    def of(self, kind: ModelKind) -> Mapping[str, str]:
        """Return the ids in use of a kind of model, by what each ranks."""
        return self.planner if kind == "planner" else self.ranker


def read_active(memory_folder: Path) -> Active:
    """Read what is in use from a memory folder; a file that is wrong is told in `fault`."""
    path = memory_folder / ACTIVE
    try:
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            return Active()
        if path.stat().st_size > MAX_BYTES:
            return Active(fault=f"{ACTIVE} is larger than {MAX_BYTES:,} bytes.")
        return parsed(path.read_bytes())
    except OSError as error:
        return Active(fault=f"{ACTIVE} cannot be read: {(error.strerror or 'unreadable').lower()}.")


def parsed(raw: bytes | str) -> Active:
    """Return what a file says is in use; never raises."""
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return Active(fault=f"{ACTIVE} is no JSON.")
    if not isinstance(told, dict) or told.get("version") != VERSION:
        return Active(fault=f"{ACTIVE} needs 'version': {VERSION}.")
    named: dict[str, dict[str, str]] = {}
    for kind in MODEL_KINDS:
        names = _names(told.get(kind, {}))
        if names is None:
            return Active(fault=f"{ACTIVE}: {kind!r} must name models by what they rank.")
        named[kind] = names
    before = told.get("before", [])
    switches = [_switch(one) for one in before] if isinstance(before, list) else []
    kept = tuple(one for one in switches if one is not None)[-MOST_BEFORE:]
    return Active(named["planner"], named["ranker"], kept)


def written(active: Active) -> str:
    """Return the text of the file: of the same, the same bytes."""
    told = {
        "version": VERSION,
        "planner": dict(sorted(active.planner.items())),
        "ranker": dict(sorted(active.ranker.items())),
        "before": [
            {"kind": one.kind, "was": dict(sorted(one.was.items())), "at": one.at}
            for one in active.before[-MOST_BEFORE:]
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _names(told: Any) -> dict[str, str] | None:  # noqa: ANN401
    """Return a table of names; None for what is none."""
    if not isinstance(told, dict):
        return None
    fine = all(isinstance(value, str) and len(value) <= MAX_NAME for value in told.values())
    return {str(key)[:MAX_NAME]: value for key, value in told.items()} if fine else None


def _switch(told: Any) -> Switch | None:  # noqa: ANN401
    if not isinstance(told, dict) or told.get("kind") not in MODEL_KINDS:
        return None
    was = _names(told.get("was"))
    return None if was is None else Switch(told["kind"], was, str(told.get("at", ""))[:MAX_NAME])
