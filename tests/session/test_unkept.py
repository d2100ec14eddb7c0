"""What a person asked not to keep stands in no summary and in nothing that a session leaves."""

from __future__ import annotations

import pytest

from vaultmind.session.active import active_context
from vaultmind.session.summary import Rolling, fold
from vaultmind.session.unkept import unkept
from vaultmind.types import Message

TRIP = ("We are planning the summer trip to Norway.", "A: Great, which month?")


def said(*texts: str) -> list[Message]:
    return [
        Message(
            "assistant" if text.startswith("A: ") else "user",
            text.removeprefix("A: "),
            f"2026-02-20T10:{n:02}:00+01:00",
            block=f"m{n}",
        )
        for n, text in enumerate(texts, 1)
    ]


def test_what_is_asked_about_a_matter_means_where_that_was_said() -> None:
    talk = said("Laura is pregnant.", "A: How nice for Laura!", *TRIP,
                "Don't remember what I said about Laura.")  # fmt: skip
    assert set(unkept(talk)) == {0, 1}


def test_no_summary_and_no_active_context_says_what_was_asked_not_to_be_kept() -> None:
    talk = said(*TRIP, "Off the record: my salary is 9417 zlotys.", "A: 9417 zlotys is good.",
                "We decided to leave on 4 July 2027.")  # fmt: skip
    folded = fold(Rolling(), talk, language="en")
    assert "9417" not in str(folded.lines) and "July" in str(folded.lines)
    text = active_context(talk)
    assert "9417" not in text and "July" in text


@pytest.mark.parametrize(
    "asks",
    [
        "I'd rather you didn't hold on to what I told you about my brother.",
        "Wolałbym, żebyś nie zachowywał nic z tego, co napisałem o bracie.",
        "Proszę tego u siebie nie przechowywać.",
    ],
)
def test_it_is_heard_in_words_that_nobody_wrote_a_rule_for(asks: str) -> None:
    assert 0 in unkept(said("My brother owes the bank 40 thousand.", asks))


def test_what_is_announced_is_meant() -> None:
    asks, told = "To, co teraz powiem, nie jest do zapisu, nie zapisuj tego.", "Mąż pije od roku."
    gone = unkept(said(*TRIP, asks, "A: I'm listening.", told, "A: Oh."))
    assert {2, 4} <= set(gone) and 0 not in gone


def test_all_that_comes_is_meant_where_that_is_said_but_what_is_to_be_remembered() -> None:
    talk = said(*TRIP, "From here on don't save anything I say.", "I was fired.", "I drink.",
                "Remember that my flight is at 6:40.")  # fmt: skip
    assert set(unkept(talk)) == {2, 3, 4}


@pytest.mark.parametrize(
    ("debt", "asks"),
    [
        ("I owe my brother 9311 euros.", "Please don't save that. Anyway, which flour is best?"),
        ("I owe my brother 9312 euros.", "Don't keep that. But do remember that I bought a bike."),
        ("Я должен брату 9316 евро.", "Не запоминай это. Но запомни, что я купил велосипед."),
    ],
)  # fmt: skip
def test_what_only_points_means_what_was_before_whatever_else_is_said(debt: str, asks: str) -> None:
    assert set(unkept(said(*TRIP, debt, asks))) == {2}
