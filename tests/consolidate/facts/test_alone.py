"""A fact is understood, and holds, without the talk that it comes from."""

from __future__ import annotations

import pytest

from vaultmind.consolidate.facts.alone import is_gap, says_itself, shown_gaps, without_gaps
from vaultmind.consolidate.facts.extract import extract
from vaultmind.consolidate.facts.own import GAP
from vaultmind.types import Message


@pytest.mark.parametrize(
    "text",
    [
        "Cold, drizzle, nine open parcels",
        "Uncle Tom, Ewa with Jan, Kasia, Marek, and Grandma if she can climb the stairs",
        "Due on 12 May",
        "Five things I have to tell my landlord, worst first",
        "Short ones only when we are in a hurry",
        "One always stays with the neighbour",
        "In Polish this time, because my aunt is listening",
        "Dwie sprawy, o które muszę zapytać szefa",
        "Krótkie tylko wtedy, gdy się spieszę",
        "Teraz po angielsku, bo słucha szef",
        "Ból pleców, deszcz, dziesięć paczek",
        "Три вопроса, которые надо задать врачу",
        "Короткие только если спешу",
        "Сейчас по-английски, потому что она слушает",
        "Срок до 12 мая",
        "Насморк, дождь, девять коробок",
    ],
)
def test_what_says_nothing_by_itself_is_no_fact(text: str) -> None:
    assert not says_itself(text)


def test_a_mark_and_its_joint_are_cut() -> None:
    assert without_gaps("‹private passage› and I work four days") == "I work four days"
    assert without_gaps(f"I like green tea, and {GAP} is mine") == "I like green tea"
    assert without_gaps(f"Keep {GAP}.") == ""
    assert without_gaps("I work four days") == "I work four days"


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
