"""Messages of several days stand under their dates: a question of when is answered by them."""

from __future__ import annotations

from collections.abc import Sequence


def dated(said: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines, each given with its day, with a date where a day begins if there are several.

    A line without a day belongs to that of the line before.
    """
    several = len({day for day, _ in said if day}) > 1
    shown: list[str] = []
    before = ""
    for day, line in said:
        if several and day and day != before:
            before = day
            shown.append(f"— {day} —")
        shown.append(line)
    return shown
