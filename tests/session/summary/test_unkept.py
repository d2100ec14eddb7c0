"""What a person asked not to keep stands in no summary and in nothing that a session leaves."""

from __future__ import annotations

import pytest

from vaultmind.session.summary import Rolling, active_context, astray, fold, unkept
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


@pytest.mark.parametrize(
    "asks",
    [
        "Don't remember this: my sister Laura is pregnant and leaves Peter in June.",
        "Don't remember this: Laura is pregnant.",
        "Nie zapisuj tego: mój kolega Jan ma długi na 40 tysięcy złotych.",
        "Не запоминай этого: у Олега роман с начальницей, ключ под ковриком.",
        "Off the record: my salary is 9417 zlotys.",
        "Merk dir das nicht: Laura ist schwanger.",
    ],
)
def test_what_is_named_is_meant_and_not_what_was_said_before_it(asks: str) -> None:
    assert set(unkept(said(*TRIP, asks))) == {2}


@pytest.mark.parametrize(
    "asks",
    ["Don't remember what I just said.", "Please don't keep that.", "Nie zapamiętuj tego."],
)
def test_what_only_points_means_what_was_said_before_it_also_at_the_end(asks: str) -> None:
    assert set(unkept(said("I like tea.", *TRIP, asks))) == {1, 2, 3}


@pytest.mark.parametrize(
    "asks",
    [
        "erase this conversation from your head",
        "keep it to yourself",
        "let this chat vanish",
        "niech to nie trafi do notatek",
        "nie rozpowiadaj tego",
        "udawaj, że tego nie słyszałeś",
        "zachowaj to dla siebie",
        "to nie do notatek",
        "ani słowa o tym w pamięci",
    ],
)
def test_it_is_heard_in_everyday_words(asks: str) -> None:
    assert 0 in unkept(said("My sister Laura is pregnant.", asks))


def test_what_is_asked_about_a_matter_means_where_that_was_said() -> None:
    talk = said("Laura is pregnant.", "A: How nice for Laura!", *TRIP,
                "Don't remember what I said about Laura.")  # fmt: skip
    assert set(unkept(talk)) == {0, 1, 4}


def test_what_asks_nothing_hides_nothing() -> None:
    texts = ("I keep a record of my runs.", "Don't forget to note that I like tea.",
             "I did not save the file this morning, note the error.")  # fmt: skip
    assert not unkept(said(*TRIP, *texts))


def test_no_summary_and_no_active_context_says_what_was_asked_not_to_be_kept() -> None:
    talk = said(*TRIP, "Off the record: my salary is 9417 zlotys.", "A: 9417 zlotys is good.",
                "We decided to leave on 4 July 2027.")  # fmt: skip
    folded = fold(Rolling(), talk, language="en")
    assert "9417" not in str(folded.lines) and "July" in str(folded.lines)
    text = active_context(talk, Rolling(), 300, "en")
    assert "9417" not in text and "July" in text


def test_what_was_folded_before_it_was_asked_for_goes_from_the_summary() -> None:
    talk = said("My salary is 9417 zlotys since March.", "Please don't keep that.")
    folded = fold(Rolling(), talk[:1], language="en")
    assert {one.block for one in folded.lines} == astray(folded, talk)
