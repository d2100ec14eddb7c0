"""index/fusion: ranks, not scores, decide."""

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.fusion import RRF_K, Weights, fuse, weights_for

KEYS = st.lists(st.integers(0, 30), unique=True, max_size=20)
STRONG = weights_for(0.9)


def test_what_words_found_keeps_its_order_and_vectors_fill_in_below() -> None:
    fused = fuse([1, 2, 3], [9, 3], set(), STRONG)
    assert [item.key for item in fused] == [1, 2, 3, 9]


def test_a_chunk_in_another_language_stands_among_the_first() -> None:
    keys = [item.key for item in fuse([1, 2, 3, 4, 5], [9], {9}, STRONG)]
    assert keys.index(9) <= 3


def test_the_weaker_the_text_the_higher_another_language() -> None:
    keys = [item.key for item in fuse([1, 2, 3], [9], {9}, weights_for(0.1))]
    assert keys[0] == 9


def test_without_text_the_vectors_decide() -> None:
    assert [item.key for item in fuse([], [5, 4, 3], {4}, weights_for(0.0))] == [5, 4, 3]


def test_parts_say_where_a_score_comes_from() -> None:
    (first,) = fuse([7], [7], set(), Weights())
    assert first.parts == {"text": 1 / (RRF_K + 1), "vector": 1 / (RRF_K + 1)}


@given(KEYS, KEYS, st.sets(st.integers(0, 30)), st.floats(0, 2))
def test_every_item_comes_once_and_scores_fall(
    text: list[int], vector: list[int], foreign: set[int], share: float
) -> None:
    fused = fuse(text, vector, foreign, weights_for(share))
    assert {item.key for item in fused} == {*text, *vector}
    assert len(fused) == len({item.key for item in fused})
    scores = [item.score for item in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(abs(item.score - sum(item.parts.values())) < 1e-12 for item in fused)
