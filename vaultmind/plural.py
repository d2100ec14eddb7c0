"""Numbers with their noun, in words."""

from __future__ import annotations


def counted(number: int, noun: str, many: str = "") -> str:
    """Return `1 note`, `2 notes`, `1,000 notes`; `many` is a plural that is not just an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
