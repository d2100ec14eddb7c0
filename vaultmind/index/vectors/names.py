"""Which of Chroma's collections stands for a name, and whose vectors they hold: one small file.

Every swap is one replacement of that file. Beside the collections that are served there may be a
second set, made with another embedder, that is being filled to take their place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

NEXT = "next."
"""What a name begins with that stands for the collection which is to replace it."""
_FILE = "names.json"


def staged(collection: str) -> str:
    """Return the name of the collection that is to replace one: it can be used like any other."""
    return f"{NEXT}{collection}"


@dataclass(frozen=True, slots=True)
class Names:
    """What stands for what. Nothing is changed: each method returns other names."""

    held: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By name: Chroma's name, and how many ids were deleted there."""
    made_by: str = ""
    """Id of the embedder whose vectors are served; empty where nobody said."""
    next_by: str = ""
    """Id of the embedder of the second set; empty where there is none."""

    @property
    def served(self) -> tuple[str, ...]:
        """Return the names that are served, in order."""
        return tuple(sorted(name for name in self.held if not name.startswith(NEXT)))

    def fresh(self, name: str) -> str:
        """Return a name of Chroma's that no collection has yet."""
        stem = name.removeprefix(NEXT)
        used = (self.held.get(one, ("0", 0))[0] for one in (stem, staged(stem)))
        number = 1 + max(int(real.rpartition(".")[2]) for real in used)
        return f"{stem}.{number}"

    def with_(self, name: str, real: str, deleted: int = 0) -> Names:
        """Return the names with one that stands for another collection."""
        return replace(self, held={**self.held, name: (real, deleted)})

    def without(self, name: str) -> Names:
        """Return the names without one."""
        return replace(self, held={one: held for one, held in self.held.items() if one != name})

    def staging(self, embedder: str) -> Names:
        """Return the names of those that are served, and an empty second set."""
        held = {name: self.held[name] for name in self.served}
        return Names(held, self.made_by, embedder)

    def promoted(self) -> Names:
        """Return the names with the second set in the place of the first."""
        held = {
            name.removeprefix(NEXT): held
            for name, held in self.held.items()
            if name.startswith(NEXT)
        }
        return Names(held, self.next_by)


def read_names(folder: Path) -> Names:
    """Return what a folder's file says; nothing where there is no file."""
    with suppress(FileNotFoundError):
        told: dict[str, Any] = json.loads((folder / _FILE).read_text("utf-8"))
        held = told["names"] if "made_by" in told else told  # an older file has the names alone
        pairs = {name: (str(real), int(deleted)) for name, (real, deleted) in held.items()}
        return Names(pairs, str(told.get("made_by", "")), str(told.get("next_by", "")))
    return Names()


def write_names(folder: Path, names: Names) -> None:
    """Put other names into the file, at once and whole."""
    temporary = folder / "names.tmp"
    told = {"names": dict(names.held), "made_by": names.made_by, "next_by": names.next_by}
    temporary.write_text(json.dumps(told), "utf-8")
    temporary.replace(folder / _FILE)
