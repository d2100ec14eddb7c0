"""In words: why the files of a plan were chosen, and why others were not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vaultmind.planner.types import Dropped, Layer, Piece, Understood
from vaultmind.types import Reason
from vaultmind.vault.oneline import one_line

MOST_DROPPED = 12
REASONS = 3
"""Of a file, that are told."""

NO_ROOM = "no room left in the token budget"
TOO_LITTLE = "low utility per token"
TOO_FAR = "ranked too low"
CHANGED = "changed while it was being planned"
GONE = "cannot be read any more"
EMPTY = "it is empty"


def told_intent(understood: Understood) -> str:
    """Return what the task was taken for."""
    why = f": {'; '.join(understood.reasons[:REASONS])}" if understood.reasons else ""
    sure = f"{understood.confidence:.0%} sure"
    return f"Taken for {understood.predicted} ({sure}, {understood.risk} risk){why}."


def told_files(
    files: Sequence[str], pieces: Sequence[Piece], reasons: Mapping[str, Sequence[Reason]]
) -> list[str]:
    """Return for each file why it was chosen, and which layers tell of it."""
    layers: dict[str, dict[Layer, None]] = {}
    for piece in pieces:
        layers.setdefault(piece.path, {})[piece.layer] = None
    return [_told_file(path, reasons.get(path, ()), [*layers.get(path, ())]) for path in files]


def _told_file(path: str, reasons: Sequence[Reason], layers: Sequence[Layer]) -> str:
    why = ", ".join(str(one) for one in reasons[:REASONS]) or "the best that is left"
    name = path if path.isprintable() else one_line(path)
    return f"{name} ({'+'.join(layers)}): {why}" if layers else f"{name}: {why}"


def told_dropped(files: Sequence[tuple[str, str]]) -> tuple[Dropped, ...]:
    """Return the best of the files that were left out, with the reason."""
    return tuple(Dropped(path, reason) for path, reason in files[:MOST_DROPPED])
