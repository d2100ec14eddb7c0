"""A share drawn as a bar of text."""

from __future__ import annotations

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, FREE = "█", "░"


def bar(share: float, width: int) -> str:
    """Return a bar of `width` columns, filled to a share from 0 to 1, in eighths of a column."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    return (FULL * full + (EIGHTHS[rest] if rest else "")).ljust(width)
