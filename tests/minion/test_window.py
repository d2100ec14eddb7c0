"""What does not fit a window is shared out, and no character of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.minion.window import JOINT_TOKENS, windows

TEXTS = st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), max_size=12)


@given(texts=TEXTS, room=st.integers(6, 60))
def test_every_window_fits_and_nothing_is_lost(texts: list[str], room: int) -> None:
    found = windows(texts, room, tokens.count)
    for window in found:
        costs = [tokens.count(text) + JOINT_TOKENS for text in window]
        assert sum(min(room, cost) for cost in costs) <= room
        assert all(cost <= room or len(text) == 1 for cost, text in zip(costs, window, strict=True))
    assert "".join(text for window in found for text in window) == "".join(texts)
