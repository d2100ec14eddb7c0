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


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("2026-02-20", "2026-02-20", "2026-02-20"),
        ("2026-02-20T10:00:00+01:00", "2026-02-20", "2026-02-20"),
        ("2026-02", "2026-02-01", "2026-02-28"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("yesterday", "2026-11-21", "2026-11-21"),
        ("Last Week", "2026-11-09", "2026-11-15"),
        ("in February", "2026-02-01", "2026-02-28"),
        ("February", "2026-02-01", "2026-02-28"),
        ("Monday", "2026-11-16", "2026-11-16"),
        ("w lutym", "2026-02-01", "2026-02-28"),
        ("luty", "2026-02-01", "2026-02-28"),
        ("z zeszłego tygodnia", "2026-11-09", "2026-11-15"),
        ("3 maja 2025", "2025-05-03", "2025-05-03"),
        ("в прошлый вторник", "2026-11-17", "2026-11-17"),
        ("два дня назад", "2026-11-20", "2026-11-20"),
        ("letzte Woche", "2026-11-09", "2026-11-15"),
        ("el mes pasado", "2026-10-01", "2026-10-31"),
        ("la semaine dernière", "2026-11-09", "2026-11-15"),
    ],
)
def test_a_time_has_a_first_and_a_last_day(said: str, first: str, last: str) -> None:
    assert first_day("after", said, NOW) == first
    assert last_day("before", said, NOW) == last


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
