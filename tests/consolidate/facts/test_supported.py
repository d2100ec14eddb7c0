"""Claims in an agent's own words: those that the talk bears out, and those that are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vaultmind.consolidate.facts.supported import supported
from vaultmind.types import Message

TALKS = [
    json.loads(line)
    for line in Path("tests/data/claims.jsonl").read_text("utf-8").splitlines()
    if line
]
WHY = {
    "true": (None,),
    "other": (None,),
    "negation": ("polarity",),
    "name": ("name not in evidence",),
    "number": ("number not in evidence", "date not in evidence"),
    "date": ("date not in evidence", "number not in evidence"),
}
MONDAY = "2026-11-23T10:00:00+01:00"


def said(*texts: str) -> list[Message]:
    return [Message("user", text, MONDAY) for text in texts]


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: f"{talk['lang']}-{talk['id']}")
def test_true_claims_are_borne_out_and_made_up_ones_are_not(talk: dict[str, Any]) -> None:
    messages = [Message(one["role"], one["text"], MONDAY) for one in talk["messages"]]
    for claim in talk["claims"]:
        assert supported(claim["text"], claim["quote"], messages) in WHY[claim["sort"]], claim


@pytest.mark.parametrize(
    ("claim", "quote", "fits"),
    [
        ("Flies on 24 November 2026", "I fly tomorrow", True),
        ("Flies on 25 November 2026", "I fly tomorrow", False),
        ("Flies on 24 November 2025", "I fly tomorrow", False),
        ("Meets the dentist on Friday at 3 pm", "I see the dentist on Friday at 15:00", True),
        ("Meets the dentist on Friday at 4 pm", "I see the dentist on Friday at 15:00", False),
        ("Birthday is 3 March", "my birthday is on the third of March", True),
        ("Urodziny są 3.03.", "mam urodziny trzeciego marca", True),
        ("Ma 37 lat", "mam trzydzieści siedem lat", True),
        ("The rent is 1,850 euros", "the rent is €1850", True),
        ("Lives in Krakow", "я живу в Кракове", True),
        ("Lives in Lodz", "я живу в Кракове", False),
        ("Magda works at Bosch", "mieszkam z Magdą, opowiadałem Magdzie o pracy w Boschu", True),
        ("Kasia lives in Berlin", "my sister Basia lives in Berlin", False),
        ("Катя живёт в Москве", "моя сестра Маша живёт в Москве", False),
        ("The user has a cat called Mruczek", "mam kota Mruczka", True),
        ("Viktor Stepanovich is the landlord", "письмо Виктору Степановичу", True),
        ("Uses PostgreSQL 15", "we run postgres 15", True),
        ("Works as a Site Reliability Engineer", "i'm the only SRE here", True),
        ("Works at Parker", "We sat with Ann in the park", False),
        ("Deploys on Tuesdays at 10:30", "we deploy on tue, half past ten", True),
        ("Kończy o 13:20", "kończymy o trzynastej dwadzieścia", True),
        ("Визит в 8:30", "идём в полдевятого", True),
        ("Визит в 10:30", "идём в полдевятого", False),
        ("The commute takes 90 minutes", "it is an hour and a half", True),
        ("The offer ends on 30 November", "the offer ends on Monday", True),
        ("The offer ends on 2 December", "the offer ends on Monday", False),
        ("Has two sons, Janek and Miłosz", "odbieram Janka i Miłosza", True),
        ("Salary comes on the 10th", "зарплата 10-го", True),
        ("Uses APA and no footnotes", "cytuję w APA, przypisów nie używam", True),
    ],
)
def test_numbers_names_and_dates_count_however_they_are_written(
    claim: str, quote: str, fits: bool
) -> None:
    assert (supported(claim, quote, said(quote)) is None) == fits


def test_a_name_may_have_been_said_by_anybody_and_a_quote_by_the_person_alone() -> None:
    talk = [Message("assistant", "Is Basia coming?", MONDAY), *said("Yes, she is coming.")]
    assert supported("Basia is coming", "she is coming", talk) is None
    assert supported("Basia is coming", "Is Basia coming", talk) == "not the user's words"
    assert supported("Basia is coming", "she comes soon", talk) == "no evidence"


def test_a_quote_may_leave_words_out_but_not_turn_them_round() -> None:
    talk = said("We fly to Lisbon on Monday, with my wife Ann.")
    claim = "Flies to Lisbon with Ann"
    assert supported(claim, "We fly to Lisbon … with my wife Ann", talk) is None
    assert supported(claim, "with my wife Ann … We fly to Lisbon", talk) == "no evidence"
