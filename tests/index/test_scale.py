"""recall.relevance: one scale for every embedder, and what its default lets in."""

from __future__ import annotations

from vaultmind.index.embed import STRONG, scale_of


def test_half_is_where_a_match_is_no_longer_a_weak_one() -> None:
    assert scale_of("use-0.2").reading(STRONG) == 0.5
    assert scale_of("use-0.2").reading(0.4716) > 0.5, "a right note that was missed once"
    assert scale_of("use-0.2").reading(0.44) < 0.5
