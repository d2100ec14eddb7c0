"""index/when/days: a filter's day in a date or in words of time, and a clear no to all else."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument
from vaultmind.index.when.days import first_day, last_day

NOW = datetime(2026, 11, 22, 11, 30, tzinfo=ZoneInfo("Europe/Warsaw"))
"""A Sunday."""


def test_an_open_time_has_one_of_them() -> None:
    assert first_day("after", "since March", NOW) == "2026-03-01"
    assert last_day("before", "before Christmas", NOW) == "2025-12-23"
    with pytest.raises(BadArgument, match="an end"):
        last_day("before", "since March", NOW)
    with pytest.raises(BadArgument, match="a beginning"):
        first_day("after", "before Christmas", NOW)


@pytest.mark.parametrize(
    "said",
    [
        "someday",
        "2026-13-40",
        "2026-02-30",
        "last week please find cats",
        "?",
        "last week, yesterday",
    ],
)
def test_what_says_no_one_time_is_refused_with_what_is_allowed(said: str) -> None:
    with pytest.raises(BadArgument) as caught:
        first_day("after", said, NOW)
    assert caught.value.field == "after"
    assert "2026-02-20" in caught.value.allowed and "last week" in caught.value.allowed


@given(st.text(max_size=80))
def test_any_text_is_a_day_or_refused(said: str) -> None:
    for day in (first_day, last_day):
        try:
            assert datetime.fromisoformat(day("after", said, NOW))
        except BadArgument as error:
            assert error.field == "after"
