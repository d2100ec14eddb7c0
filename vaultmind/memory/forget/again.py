"""Whether a text says once more what was forgotten: the same, a part of it, or in other words."""

from __future__ import annotations

from vaultmind.memory.match import SAME_SHARE, echoed, same_fact, says, share_of


def repeats(text: str, forgotten: str) -> bool:
    """Tell whether a new fact repeats a forgotten one.

    It says all of it, or nothing but a good part of it, or its name and half of the rest.
    """
    if same_fact(text, forgotten) or says(text, forgotten) or echoed(text, forgotten):
        return True
    return says(forgotten, text) and share_of(text, forgotten) >= SAME_SHARE
