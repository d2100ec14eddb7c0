"""Times in questions and messages: found, read, and never by accident."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import when
from vaultmind.index.when import Span, mentioned, spans
from vaultmind.index.when.finding import LANGUAGES, MAX_CHARACTERS, MAX_SPANS

BASE = datetime(2026, 11, 18, 10, 0)
"""A Wednesday."""
LEAST = 0.92
"""Precision and recall on the labelled texts."""


def days(found: tuple[Span, ...]) -> list[tuple[str, str]]:
    return [(str(span.start)[:10], str(span.end)[:10]) for span in found]


def rows(name: str) -> list[dict[str, Any]]:
    text = (when.DATA / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", ["when_tuned.jsonl", "when_blind.jsonl", "when_hard.jsonl"])
def test_labelled_texts_are_read_as_they_are_meant(name: str) -> None:
    labelled = found = right = 0
    for row in rows(name):
        ask = mentioned if row["kind"] == "message" else spans
        hits = ask(row["text"], row["lang"], when.BASE)
        labelled, found = labelled + len(row["spans"]), found + len(hits)
        right += sum(any(when.is_right(tuple(s), h) for h in hits) for s in row["spans"])
    assert right / found >= LEAST
    assert right / labelled >= LEAST


def test_there_are_enough_labelled_questions_and_a_third_says_no_time() -> None:
    questions = [
        row
        for name in ("when_tuned.jsonl", "when_blind.jsonl")
        for row in rows(name)
        if row["kind"] == "question"
    ]
    assert len(questions) >= 150
    assert sum(not row["spans"] for row in questions) * 10 >= 3 * len(questions)
    assert {row["lang"] for row in questions} == set(LANGUAGES)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("May I march in the second row?", "en"),
        ("you may 3 times", "en"),
        ("Sun and Jan are colleagues", "en"),
        ("What did June say to April?", "en"),
        ("we sat on the mat", "en"),
        ("Spring Boot in 2048 megabytes", "en"),
        ("open Monday to Friday", "en"),
        ("the day after", "en"),
        ("Maja i Mai mają maj", "pl"),
        ("mam 2000 zł", "pl"),
        ("w środku listy", "pl"),
        ("Ile bierze za dzień pracy?", "pl"),
        ("od poniedziałku do piątku", "pl"),
        ("лет тебе сколько", "ru"),
        ("Март Лаар и Мая Плисецкая", "ru"),
        ("Guten Morgen, Herr August", "de"),
        ("der Mais und die Mark", "de"),
        ("la mañana es fría", "es"),
        ("Abril y Domingo comen", "es"),
        ("il a été malade, mais oui", "fr"),
        ("Mars est une planète", "fr"),
    ],
)
def test_words_that_look_like_dates_are_none(text: str, language: str) -> None:
    assert spans(text, language, BASE) == ()
    assert mentioned(text, language, BASE) == ()


@pytest.mark.parametrize(
    ("text", "language", "start", "end"),
    [
        ("from 3 to 5 May 2023", "en", "2023-05-03", "2023-05-06"),
        ("between March and May 2023", "en", "2023-03-01", "2023-06-01"),
        ("from November 2022 to February", "en", "2022-11-01", "2023-03-01"),
        ("since the beginning of May 2023", "en", "2023-05-01", "None"),
        ("until last week", "en", "None", "2026-11-16"),
        ("two days after 3 May 2023", "en", "2023-05-05", "2023-05-06"),
        ("the fifth of November 2024", "en", "2024-11-05", "2024-11-06"),
        ("03/14/2024", "en", "2024-03-14", "2024-03-15"),
        ("29 February", "en", "2024-02-29", "2024-03-01"),
        ("od maja do lipca 2024", "pl", "2024-05-01", "2024-08-01"),
        ("двадцать первого июля 2024", "ru", "2024-07-21", "2024-07-22"),
        ("с марта по май 2023 года", "ru", "2023-03-01", "2023-06-01"),
        ("03.05.2023", "de", "2023-05-03", "2023-05-04"),
        ("am Dienstag letzter Woche", "de", "2026-11-10", "2026-11-11"),
        ("el primer trimestre de 2025", "es", "2025-01-01", "2025-04-01"),
        ("im vierten Quartal 2025", "de", "2025-10-01", "2026-01-01"),
        ("the second half of 2025", "en", "2025-07-01", "2026-01-01"),
        ("between Easter and the end of June", "en", "2026-04-03", "2026-07-01"),
        ("hasta el jueves que viene", "es", "None", "2026-11-20"),
        ("à l’été 2023", "fr", "2023-06-01", "2023-09-01"),
        ("2023-05", "", "2023-05-01", "2023-06-01"),
        ("2023-05-03T10:00:00Z", "nn", "2023-05-03", "2023-05-04"),
    ],
)
def test_a_time_is_read(text: str, language: str, start: str, end: str) -> None:
    assert days(spans(text, language, BASE)) == [(start, end)]


@pytest.mark.parametrize("text", ["31 February 2023", "2023-13-45", "03/04/2023", "99.99.2023"])
def test_what_is_no_day_or_may_be_two_is_no_time(text: str) -> None:
    assert spans(text, "en", BASE) == ()


def test_the_words_are_those_of_the_text_with_their_own_letters() -> None:
    (found,) = spans("Co było W ZESZŁYM TYGODNIU?", "pl", BASE)
    assert found.text == "W ZESZŁYM TYGODNIU"
    assert found.explicit


def test_days_begin_at_the_midnight_of_the_one_who_asks() -> None:
    zone = timezone(timedelta(hours=9))
    (found,) = spans("yesterday", "en", datetime(2026, 11, 18, 1, 0, tzinfo=zone))
    assert found.start == datetime(2026, 11, 17, tzinfo=zone)
    (other,) = spans("yesterday", "en", datetime(2026, 11, 17, 16, 0, tzinfo=UTC))
    assert other.start == datetime(2026, 11, 16, tzinfo=UTC)


def test_a_guessed_year_is_not_explicit_and_a_said_one_is() -> None:
    assert [span.explicit for span in spans("in May 2023", "en", BASE)] == [True]
    assert [span.explicit for span in spans("in May", "en", BASE)] == [False]
    assert [span.explicit for span in spans("a few weeks ago", "en", BASE)] == [False]
    assert [span.explicit for span in spans("late 2023", "en", BASE)] == [False]


@pytest.mark.parametrize(
    ("past", "to_come", "language"),
    [
        ("I moved in March.", "The wedding is in March.", "en"),
        ("Wróciłem w marcu.", "Termin mamy w marcu.", "pl"),
        ("Я переехал в марте.", "В марте переезжаю.", "ru"),
        ("Im März habe ich geheiratet.", "Die Prüfung ist im März.", "de"),
        ("Me mudé en marzo.", "El examen es en marzo.", "es"),
        ("J'ai déménagé en mars.", "L'examen est en mars.", "fr"),
    ],
)
def test_a_message_says_by_its_sentence_whether_a_month_is_over(
    past: str, to_come: str, language: str
) -> None:
    said = datetime(2026, 11, 18)
    assert days(mentioned(past, language, said)) == [("2026-03-01", "2026-04-01")]
    assert days(mentioned(to_come, language, said)) == [("2027-03-01", "2027-04-01")]


def test_a_question_is_about_what_was_unless_it_says_otherwise() -> None:
    assert days(spans("When is the exam in March?", "en", BASE)) == [("2026-03-01", "2026-04-01")]
    assert days(spans("What will I do in March?", "en", BASE)) == [("2027-03-01", "2027-04-01")]


def test_code_and_addresses_of_a_message_are_not_looked_at() -> None:
    text = (
        "See `2024-01-01`, https://a.example/2024-02-02 and\n```\n2024-03-03\n```\non 2024-04-04."
    )
    assert days(mentioned(text, "en", BASE)) == [("2024-04-04", "2024-04-05")]


def test_without_a_language_it_is_the_one_whose_words_stand_there() -> None:
    assert days(spans("wczoraj", "", BASE)) == [("2026-11-17", "2026-11-18")]
    assert days(spans("на прошлой неделе", "", BASE)) == [("2026-11-09", "2026-11-16")]


def test_a_full_date_of_another_language_is_read_by_the_library() -> None:
    assert days(spans("o que houve em 3 de maio de 2023?", "pt", BASE)) == [
        ("2023-05-03", "2023-05-04")
    ]
    assert spans("12 macacos 2023", "pt", BASE) == ()
    assert spans("12 foo 2023", "tlh", BASE) == ()


def test_an_ordinary_question_does_not_load_the_library() -> None:
    code = (
        "import sys; from datetime import datetime; from vaultmind.index.when import spans\n"
        "found = spans('what happened last week, on 3 May 2023?', 'en', datetime(2026, 11, 18))\n"
        "assert len(found) == 2 and 'dateparser' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "last",
                "week",
                "ago",
                "3",
                "may",
                "2023",
                "since",
                "before",
                "the",
                "31",
                ".",
                ",",
                "–",
                "w",
                "od",
                "do",
                "maja",
                "temu",
                "dni",
                "lat",
                "в",
                "на",
                "прошлой",
                "неделе",
                "vor",
                "einer",
                "Woche",
                "hace",
                "il",
                "y",
                "a",
                "jours",
                "\n",
                "2023-05-03",
                "12/12/2022",
                "Q2",
            ]
        ),
        max_size=25,
    ),
    st.sampled_from([*LANGUAGES, "", "pt"]),
)
def test_any_heap_of_words_gives_sound_spans(words: list[str], language: str) -> None:
    text = " ".join(words)
    for found in (*spans(text, language, BASE), *mentioned(text, language, BASE)):
        assert found.text in text
        assert found.start is None or found.end is None or found.start < found.end
        assert found.start or found.end


@given(st.text(), st.sampled_from([*LANGUAGES, "", "xx"]))
def test_no_text_breaks_it(text: str, language: str) -> None:
    spans(text, language, BASE)
    mentioned(text, language, BASE)


def test_a_pasted_file_gives_a_few_spans() -> None:
    text = "".join(f"on {day} May 2023, and " for day in range(1, 29)) * 60
    assert len(text) > MAX_CHARACTERS
    assert 0 < len(mentioned(text, "en", BASE)) <= MAX_SPANS
