"""Spans: what lies in them, how near the rest is, and what a filter may be made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.when import Span, closeness, covers

DAY = timedelta(days=1)
WEEK = Span(datetime(2026, 11, 9), datetime(2026, 11, 16), "last week", True)
SINCE = Span(datetime(2026, 3, 1), None, "since March", False)
BEFORE = Span(None, datetime(2025, 12, 24), "before Christmas", True)
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1))


def test_the_first_instant_is_in_and_the_last_is_out() -> None:
    assert covers(WEEK, datetime(2026, 11, 9))
    assert covers(WEEK, datetime(2026, 11, 15, 23, 59))
    assert not covers(WEEK, datetime(2026, 11, 16))
    assert not covers(WEEK, datetime(2026, 11, 8, 23, 59))


def test_an_open_end_reaches_for_ever() -> None:
    assert covers(SINCE, datetime(2089, 1, 1))
    assert covers(BEFORE, datetime(1951, 1, 1))


def test_closeness_is_one_inside_and_half_after_half_a_length() -> None:
    assert closeness(WEEK, datetime(2026, 11, 12)) == 1.0
    assert closeness(WEEK, datetime(2026, 11, 9) - 3.5 * DAY) == pytest.approx(0.5)
    assert closeness(SINCE, datetime(2026, 3, 1) - timedelta(days=30)) == pytest.approx(0.5)


@given(MOMENTS, st.sampled_from([WEEK, SINCE, BEFORE]))
def test_closeness_is_between_nought_and_one_and_one_only_inside(
    moment: datetime, span: Span
) -> None:
    near = closeness(span, moment)
    assert 0.0 <= near <= 1.0
    assert covers(span, moment) <= (near == 1.0)


@given(st.integers(0, 400), st.integers(0, 400))
def test_what_is_farther_away_is_never_nearer(one: int, other: int) -> None:
    near, far = sorted((one, other))
    start = datetime(2026, 11, 9)
    assert closeness(WEEK, start - far * DAY) <= closeness(WEEK, start - near * DAY)


def test_a_moment_without_a_zone_is_in_the_spans() -> None:
    aware = Span(
        datetime(2026, 11, 9, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC), "last week", True
    )
    assert closeness(aware, datetime(2026, 11, 9)) == 1.0
    assert closeness(WEEK, datetime(2026, 11, 9, tzinfo=UTC)) == 1.0
