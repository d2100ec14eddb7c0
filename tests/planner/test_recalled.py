"""Words of earlier work: within their share, in full where there is room, else shorter."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.planner.earlier.recalled import HEAD, JOIN, SHARE, told_within
from vaultmind.planner.types import EarlierWork

TEXT = st.text(max_size=300)
WORKS = st.builds(
    EarlierWork,
    st.just("main/2026-03-04_001"),
    st.just("2026-03-04"),
    TEXT,
    st.sampled_from(("success", "failed", "unknown")),
    st.floats(0, 1),
    st.lists(st.text(min_size=1, max_size=80), max_size=12).map(tuple),
    st.lists(TEXT, max_size=5).map(tuple),
    TEXT,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(WORKS, max_size=3), st.integers(1, 5000), st.text(max_size=400))
def test_what_is_told_costs_no_more_than_it_says_and_its_share(
    works: list[EarlierWork], budget: int, after: str
) -> None:
    told = told_within(works, budget)
    assert told.tokens <= budget * SHARE
    assert bool(told.text) is bool(told.works) is bool(told.tokens)
    whole = tokens.count(f"{told.text}{JOIN}{after}") if told.text else tokens.count(after)
    assert whole <= told.tokens + tokens.count(after)
    assert told.text.splitlines() == (
        [HEAD, *(one.text for one in told.works)] if told.text else []
    )


def test_a_work_that_does_not_fit_in_full_is_told_shorter() -> None:
    work = EarlierWork(
        "main/1", "2026-03-04", "refresh a token", "success", 0.9,
        ("a.py", "b.py"), ("once " * 20, "never twice " * 10), "because " * 20,
    )  # fmt: skip
    (full,) = told_within([work], 5000).works
    (short,) = told_within([work], 500).works
    assert "never twice" in full.text and "because:" in full.text
    assert len(short.text) < len(full.text) and "a.py, b.py" in short.text
    assert not told_within([work], 100).works
