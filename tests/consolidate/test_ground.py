"""Claims in an agent's own words: those that the talk bears out, and those that are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vaultmind.consolidate.ground import supported
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


def why(claim: str, quote: str, messages: list[Message]) -> str | None:
    fault = supported(claim, messages, quote)
    return fault.reason if fault else None


def said(*texts: str) -> list[Message]:
    return [Message("user", text, MONDAY) for text in texts]


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: f"{talk['lang']}-{talk['id']}")
def test_true_claims_are_borne_out_and_made_up_ones_are_not(talk: dict[str, Any]) -> None:
    messages = [Message(one["role"], one["text"], MONDAY) for one in talk["messages"]]
    for claim in talk["claims"]:
        assert why(claim["text"], claim["quote"], messages) in WHY[claim["sort"]], claim


def test_a_name_may_have_been_said_by_anybody_and_a_quote_by_the_person_alone() -> None:
    talk = [Message("assistant", "Is Basia coming?", MONDAY), *said("Yes, she is coming.")]
    assert why("Basia is coming", "she is coming", talk) is None
    assert why("Basia is coming", "Is Basia coming", talk) == "not the user's words"
    assert why("Basia is coming", "she comes soon", talk) == "no evidence"


def test_a_quote_may_leave_words_out_but_not_turn_them_round() -> None:
    talk = said("We fly to Lisbon on Monday, with my wife Ann.")
    claim = "Flies to Lisbon with Ann"
    assert why(claim, "We fly to Lisbon … with my wife Ann", talk) is None
    assert why(claim, "with my wife Ann … We fly to Lisbon", talk) == "no evidence"


def test_no_secret_is_borne_out() -> None:
    key = "sk-proj-" + "Ab1" * 12
    assert why(f"Uses {key}", "", said(f"I use {key}")) == "secret"
