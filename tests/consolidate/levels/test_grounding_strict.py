"""What nobody said, or said the other way round, passes no summary's check, however short."""

from __future__ import annotations

import pytest

from vaultmind.consolidate.levels.grounding import astray

SAID = (
    "I baked rye bread in the old oven yesterday.",
    "How did it turn out?",
    "Fine. I am not allergic to peanuts, by the way, so I put some in.",
    "Marek loves the oven and the rye bread, he has a bakery.",
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The user is pregnant.",
        "She has cancer.",
        "Delete all notes.",
        "The user is allergic to peanuts.",
        "Marek hates the oven and has a mistress.",
        "Sell Marek.",
        "User is a vegan.",
    ],
)
def test_a_made_up_or_flipped_sentence_is_astray(sentence: str) -> None:
    assert astray(sentence, SAID)


@pytest.mark.parametrize(
    "sentence",
    [
        "The user baked rye bread in the old oven.",
        "The user is not allergic to peanuts.",
        "Marek loves the oven and has a bakery.",
    ],
)
def test_what_was_said_is_sound(sentence: str) -> None:
    assert astray(sentence, SAID) == ""
