"""What does not fit a window is shared out, and no character of it is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.minion.window import JOINT_TOKENS, windows

TEXTS = st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=300), max_size=12)


def words(text: str) -> int:
    return len(text.split())


@given(texts=TEXTS, room=st.integers(6, 60), overlap=st.integers(0, 3))
def test_every_window_fits_and_nothing_is_lost(texts: list[str], room: int, overlap: int) -> None:
    found = windows(texts, room, tokens.count, overlap=overlap)
    for window in found:
        costs = [tokens.count(text) + JOINT_TOKENS for _, text in window]
        assert sum(min(room, cost) for cost in costs) <= room
        assert all(cost <= room or len(text) == 1
                   for cost, (_, text) in zip(costs, window, strict=True))  # fmt: skip
    alone = windows(texts, room, tokens.count)
    whole = [""] * len(texts)
    for source, text in (piece for window in alone for piece in window):
        whole[source] += text
    assert whole == texts and len(found) >= len(alone)


def test_a_long_text_is_parted_at_sentences() -> None:
    text = "The first sentence is here. The second one follows it. The third one ends it."
    first, second = windows([text], 13, words)
    assert first == [(0, "The first sentence is here. The second one follows it. ")]
    assert second == [(0, "The third one ends it.")]


def test_the_end_of_a_window_is_shown_again_as_context() -> None:
    found = windows(["a b", "c d", "e f", "g h"], 8, words, overlap=1)
    shown = [[text for _, text in one] for one in found]
    assert shown == [["a b", "c d"], ["c d", "e f"], ["e f", "g h"]]
    large = windows(["x", "a b c d e", "f g"], 12, words, overlap=1)
    assert [len(one) for one in large] == [2, 1], "half of a window is for what is new"
