"""Packing: never over the budget, as good as can be, the same each time."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.pack import bound, pack
from vaultmind.planner.pieces import Offer

OFFERS = st.builds(
    Offer,
    st.floats(-0.2, 1.0).map(lambda value: round(value, 3)),
    st.integers(1, 60),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
FILES = st.lists(st.lists(OFFERS, max_size=3), max_size=6)


def best_of(files: list[list[Offer]], budget: int) -> float:
    """Return the best value there is, by trying everything."""
    best = 0.0
    for chosen in product(*([None, *offers] for offers in files)):
        taken = [one for one in chosen if one is not None]
        if sum(one.tokens for one in taken) <= budget:
            best = max(best, sum(one.value for one in taken))
    return best


@given(FILES, st.integers(0, 150))
def test_the_bound_is_never_below_the_best(files: list[list[Offer]], budget: int) -> None:
    assert bound(files, budget) >= best_of(files, budget) - 1e-9


@given(FILES, st.integers(0, 150))
def test_the_same_offers_are_packed_the_same(files: list[list[Offer]], budget: int) -> None:
    assert pack(files, budget) == pack([[*offers] for offers in files], budget)
