"""What a summary's sentence may say: numbers, names and decisions stand in its sources."""

from __future__ import annotations

import pytest

from vaultmind.consolidate.facts.astray import astray

TALK = (
    "Anna: We decided to move the launch of the garden site to 12 May, budget 1,200 euros.",
    "Assistant: Good. Tom will paint the fence on Monday at 7pm, then.",
    "Anna: I would like twenty tulips, no roses.",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Anna decided to move the launch to 12 May.",
        "The launch moves to May, with a budget of 1200 euros.",
        "On Monday at 19:00 Tom paints the fence.",
        "Anna would like 20 tulips.",
        "Planning the garden, they spoke of tulips.",
    ],
)
def test_what_was_said_in_other_words_is_sound(sentence: str) -> None:
    assert astray(sentence, TALK) == ""


def test_polish_and_russian_are_compared_by_their_stems() -> None:
    talk = ("Zdecydowaliśmy, że remont kuchni zaczynamy w maju, koszt 3000 zł.",)
    assert astray("Remont kuchni zaczyna się w maju i kosztuje 3000 zł.", talk) == ""
    assert "month" in astray("Remont kuchni zaczyna się w czerwcu.", talk)
    talk = ("Мы решили ехать в Казань в июле на поезде, билеты стоят 5000 рублей.",)
    assert astray("Решили ехать в Казань на поезде, билеты по 5000 рублей.", talk) == ""
    assert "самару" in astray("Решили ехать в Самару на поезде.", talk)
