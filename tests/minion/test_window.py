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
def test_every_window_fits_and_brings_something_new(
    texts: list[str], room: int, overlap: int
) -> None:
    found = windows(texts, room, tokens.count, overlap=overlap)
    assert texts or found == ()
    for window in found:
        assert window.tokens <= room
        assert any(not piece.again for piece in window.pieces)
        longest = [tokens.count(one.text) + JOINT_TOKENS for one in window.pieces]
        assert all(cost <= room or len(piece.text) == 1
                   for cost, piece in zip(longest, window.pieces, strict=True))  # fmt: skip


def test_a_long_text_is_parted_at_sentences_and_says_its_number() -> None:
    text = "The first sentence is here. The second one follows it. The third one ends it."
    (first, second) = windows([text], 13, words)
    assert first.pieces[0].text == "The first sentence is here. The second one follows it. "
    assert (first.pieces[0].part, second.pieces[0].part, second.pieces[0].parts) == (1, 2, 2)


def test_the_end_of_a_window_is_shown_again_as_context() -> None:
    found = windows(["a b", "c d", "e f", "g h"], 8, words, overlap=1)
    shown = [[(piece.text, piece.again) for piece in one.pieces] for one in found]
    assert shown == [[("a b", False), ("c d", False)], [("c d", True), ("e f", False)],
                     [("e f", True), ("g h", False)]]  # fmt: skip
