"""Stretches of the calendar."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.when import calendar

DAYS = st.dates(date(1950, 1, 1), date(2080, 1, 1))


@given(DAYS, st.sampled_from("dwmqy"), st.integers(-30, 30))
def test_units_tile_the_calendar(base: date, unit: str, shift: int) -> None:
    one, following = (calendar.unit(unit, base, shift + more) for more in (0, 1))
    assert one.start < one.end == following.start
    assert calendar.unit(unit, base, 0).start <= base < calendar.unit(unit, base, 0).end


@given(DAYS, st.sampled_from("hdwmqy"), st.integers(1, 40))
def test_ago_is_before_and_ahead_is_after(base: date, unit: str, count: int) -> None:
    ago, ahead = (calendar.counted(unit, base, sign * count) for sign in (-1, 1))
    assert ago.start < ago.end <= base + timedelta(days=1)
    assert base <= ahead.start < ahead.end
    assert calendar.recent(unit, base, count).end == base + timedelta(days=1)
