"""Times in questions and messages: found, read, and never by accident."""

from __future__ import annotations

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import example, when
from vaultmind.errors import BadArgument
from vaultmind.index.when import (
    MAX_CHARACTERS,
    MAX_SPANS,
    Span,
    first_day,
    last_day,
    mentioned,
    spans,
)
from vaultmind.index.when_rules import LANGUAGES

BASE = datetime(2026, 11, 18, 10, 0)
"""A Wednesday."""
LEAST = 0.92
"""Precision and recall on the labelled texts."""


def days(found: tuple[Span, ...]) -> list[tuple[str, str]]:
    return [(str(span.start)[:10], str(span.end)[:10]) for span in found]


@pytest.mark.parametrize("name", ["when_tuned.jsonl", "when_blind.jsonl", "when_hard.jsonl"])
def test_labelled_texts_are_read_as_they_are_meant(name: str) -> None:
    lines = (example.DATA / name).read_text("utf-8").splitlines()
    score = when.score([json.loads(line) for line in lines])
    assert score.right / score.found >= LEAST
    assert score.right / score.labelled >= LEAST


@pytest.mark.parametrize(
    ("text", "language", "start", "end"),
    [
        ("since the beginning of May 2023", "en", "2023-05-01", "None"),
        ("two days after 3 May 2023", "en", "2023-05-05", "2023-05-06"),
        ("the fifth of November 2024", "en", "2024-11-05", "2024-11-06"),
        ("od maja do lipca 2024", "pl", "2024-05-01", "2024-08-01"),
        ("с марта по май 2023 года", "ru", "2023-03-01", "2023-06-01"),
        ("am Dienstag letzter Woche", "de", "2026-11-10", "2026-11-11"),
        ("the second half of 2025", "en", "2025-07-01", "2026-01-01"),
        ("between Easter and the end of June", "en", "2026-04-03", "2026-07-01"),
        ("hasta el jueves que viene", "es", "None", "2026-11-20"),
        ("à l’été 2023", "fr", "2023-06-01", "2023-09-01"),
        ("2023-05", "", "2023-05-01", "2023-06-01"),
    ],
)
def test_a_time_is_read(text: str, language: str, start: str, end: str) -> None:
    assert days(spans(text, language, BASE)) == [(start, end)]


@pytest.mark.parametrize(
    "text", ["31 February 2023", "2023-13-45", "03/04/2023", "99.99.2023", "x_last_night of y"]
)
def test_what_is_no_day_or_may_be_two_is_no_time(text: str) -> None:
    assert spans(text, "en", BASE) == ()


@given(st.text(), st.sampled_from([*LANGUAGES, "", "xx"]))
def test_no_text_breaks_it(text: str, language: str) -> None:
    spans(text, language, BASE)
    mentioned(text, language, BASE)


def test_a_pasted_file_gives_a_few_spans() -> None:
    text = "".join(f"on {day} May 2023, and " for day in range(1, 29)) * 60
    assert len(text) > MAX_CHARACTERS
    assert 0 < len(mentioned(text, "en", BASE)) <= MAX_SPANS


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
    "said", ["someday", "2026-13-40", "last week please find cats", "?", "last week, yesterday"]
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
