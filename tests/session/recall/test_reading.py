"""recall.relevance: one scale for every embedder, and what its default lets in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.embedders.scale import STRONG, scale_of

SCORES = st.floats(0.0, 1.0)


@pytest.mark.parametrize("embedder", ["use-0.2", "e5-small", "", "unheard-of-1"])
@given(one=SCORES, other=SCORES)
def test_the_reading_keeps_the_order_and_the_ends(embedder: str, one: float, other: float) -> None:
    scale = scale_of(embedder)
    assert (scale.reading(0.0), scale.reading(1.0)) == (0.0, 1.0)
    low, high = sorted((one, other))
    assert 0.0 <= scale.reading(low) <= scale.reading(high) <= 1.0


def test_half_is_where_a_match_is_no_longer_a_weak_one() -> None:
    assert scale_of("use-0.2").reading(STRONG) == 0.5
    assert scale_of("use-0.2").reading(0.4716) > 0.5, "a right note that was missed once"
    assert scale_of("use-0.2").reading(0.44) < 0.5


def test_words_alone_need_less() -> None:
    assert scale_of("").reading(0.4) == 0.5
