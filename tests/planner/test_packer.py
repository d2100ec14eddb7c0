"""Packing: never over the budget, as good as can be, the same each time."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.planner.packing.packer import MOST_STEPS, Offer, bound, pack

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
def test_a_packing_is_the_best_there_is_and_never_over_budget(
    files: list[list[Offer]], budget: int
) -> None:
    packed = pack(files, budget)

    taken = [offers[at] for offers, at in zip(files, packed.chosen, strict=True) if at is not None]
    assert packed.tokens == sum(one.tokens for one in taken) <= budget
    assert packed.value >= 0.95 * best_of(files, budget) - 1e-9
    assert packed.value >= best_of(files, budget) - 1e-4  # but for what decides between equals


@given(FILES, st.integers(0, 150))
def test_the_bound_is_never_below_the_best(files: list[list[Offer]], budget: int) -> None:
    assert bound(files, budget) >= best_of(files, budget) - 1e-9


@given(FILES, st.integers(0, 150))
def test_the_same_offers_are_packed_the_same(files: list[list[Offer]], budget: int) -> None:
    assert pack(files, budget) == pack([[*offers] for offers in files], budget)


@given(FILES, st.integers(MOST_STEPS, 20 * MOST_STEPS))
def test_a_budget_of_many_thousands_is_kept_to(files: list[list[Offer]], budget: int) -> None:
    large = [[Offer(one.value, one.tokens * 900) for one in offers] for offers in files]

    packed = pack(large, budget)

    assert packed.tokens <= budget
    assert packed.value >= 0.95 * best_of(large, budget - 20 * 6) - 1e-4


def test_of_equal_files_the_one_that_earlier_work_changed_is_taken() -> None:
    plain, causal = [Offer(0.5, 10)], [Offer(0.5, 10, causal=0.9)]

    assert pack([plain, causal], 10).chosen == (None, 0)


def test_of_equal_files_the_fresh_one_is_taken() -> None:
    stale, fresh = [Offer(0.5, 10, fresh=False)], [Offer(0.5, 10)]

    assert pack([stale, fresh], 10).chosen == (None, 0)


def test_of_equal_files_the_first_is_taken() -> None:
    assert pack([[Offer(0.5, 10)], [Offer(0.5, 10)]], 10).chosen == (0, None)


def test_what_is_worth_nothing_is_left_out_though_there_is_room() -> None:
    assert pack([[Offer(-0.01, 5)], [Offer(0.2, 5)]], 100).chosen == (None, 0)
