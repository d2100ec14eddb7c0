"""A fact that is written without a model is understood without the talk that it comes from."""

from __future__ import annotations

import pytest

from vaultmind.consolidate.facts.closed import closed, dangles, runs
from vaultmind.consolidate.facts.extract import extract
from vaultmind.consolidate.facts.own import GAP, is_gap, shown_gaps
from vaultmind.consolidate.facts.talk import Said
from vaultmind.consolidate.facts.types import MEANS, REASONS
from vaultmind.types import Message


def said(text: str, whole: str = "") -> Said:
    return Said(text, "m1", 0, "user", whole=whole or text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I'm a nurse in Leeds", "I'm a nurse in Leeds"),
        ("By the way, I live in Cardiff", "I live in Cardiff"),
        ("Jestem wegetarianką, więc bez szynki", "Jestem wegetarianką"),
        ("Я живу в Казани", "Я живу в Казани"),
    ],
)
def test_what_names_the_person_and_says_something_lasting_is_read_alone(
    text: str, kept: str
) -> None:
    assert closed(said(text)) == kept


@pytest.mark.parametrize(
    "text",
    [
        "It's on 21 June and apparently I'm the only organised one",
        "Not anymore, she moved to Gdańsk in February",
        "Two bed terrace in Stirchley",
        "Me and Jo",
        "She's lovely, 90",
        "Due on 12 May",
        "Marine biology",
        "I teach there on Mondays",
        "Mam tam pokój z widokiem",
        "Я там работаю с марта",
        "И он у нас врач",
        "Cold, drizzle, nine open parcels",
        f"I keep {GAP} in the shed",
    ],
)
def test_what_leans_on_the_talk_has_no_closed_form(text: str) -> None:
    assert list(runs(said(text))) == []


def test_in_the_middle_of_a_sentence_the_person_is_named_by_a_word() -> None:
    whole = "gotuję po pracy, kończę o szóstej w Gdyni"
    assert list(runs(said("kończę o szóstej w Gdyni", whole))) == []


@pytest.mark.parametrize("text", ["it is on the 21st", "she likes tea", "", "ona woli kawę"])
def test_what_was_asked_for_is_kept_unless_it_dangles(text: str) -> None:
    assert dangles(text)
    assert not dangles("never push on Fridays")


def test_what_is_not_certain_waits_as_a_candidate() -> None:
    found = extract([Message("user", "My sister Ola moved there in March", "", id="m1")])
    assert found.facts == ()
    assert [one.reason for one in found.dropped] == ["unclear alone"]


def test_what_was_taken_out_is_neither_a_fact_nor_shown() -> None:
    quote = "“" + "a long thing that somebody else has said about it all" + "”"
    told = [
        Message("user", f"Remember {quote}.", "", id="m1"),
        Message("user", f"Keep {quote}. {quote}.", "", id="m2"),
    ]
    found = extract(told)
    texts = [one.text for one in (*found.facts, *found.dropped)]
    assert not any(GAP in text or text == "…" for text in texts)
    assert is_gap(f"{GAP}.") and shown_gaps(f"Keep {GAP}.") == "Keep …."


def test_every_reason_is_told_in_words() -> None:
    assert set(MEANS) == set(REASONS)
    assert not any("evidence" in words or "polarity" in words for words in MEANS.values())
