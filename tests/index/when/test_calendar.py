"""Stretches of the calendar."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.when import calendar
from vaultmind.index.when.calendar import Stretch

DAYS = st.dates(date(1950, 1, 1), date(2080, 1, 1))


@pytest.mark.parametrize(
    ("year", "sunday", "orthodox"),
    [
        (2023, date(2023, 4, 9), date(2023, 4, 16)),
        (2024, date(2024, 3, 31), date(2024, 5, 5)),
        (2025, date(2025, 4, 20), date(2025, 4, 20)),
        (2026, date(2026, 4, 5), date(2026, 4, 12)),
    ],
)
def test_easter_is_from_friday_to_monday_in_both_churches(
    year: int, sunday: date, orthodox: date
) -> None:
    west, east = calendar.feast("easter", year), calendar.feast("easter", year, east=True)
    assert west.start + timedelta(days=2) == sunday
    assert east.start + timedelta(days=2) == orthodox


def test_thanksgiving_is_the_fourth_thursday() -> None:
    assert calendar.feast("thanksgiving", 2025).start == date(2025, 11, 27)
    assert calendar.feast("thanksgiving", 2026).start == date(2026, 11, 26)


def test_a_winter_is_named_by_the_year_in_which_it_ends() -> None:
    assert calendar.season("winter", 2023) == Stretch(date(2022, 12, 1), date(2023, 3, 1))


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


def test_a_month_ago_from_the_last_of_march_is_about_the_last_of_february() -> None:
    stretch = calendar.counted("m", date(2026, 3, 31), -1)
    assert stretch.start < date(2026, 2, 28) < stretch.end


@given(DAYS, st.integers(1, 400), st.integers(0, 2))
def test_a_third_lies_in_its_whole(start: date, days: int, which: int) -> None:
    whole = Stretch(start, start + timedelta(days=days))
    part = calendar.third(whole, which)
    assert whole.start <= part.start < part.end <= whole.end
    assert not part.sure
