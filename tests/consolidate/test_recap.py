"""An agent's recap: what the logged conversation bears out is kept, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vaultmind.consolidate.reported import MOST_SENTENCES, grounded
from vaultmind.types import Message

SESSION = "2026-02-20_001"
TALK = (
    ("user", "We decided to rebuild the bread oven in May, with Tomek."),
    ("assistant", "Then the bricks should be ordered by 12 April."),
    ("user", "Yes. The chimney is still open, I have to ask the neighbours about the smoke."),
)


def said(*talk: tuple[str, str]) -> list[Message]:
    return [
        Message(role, text, f"2026-02-20T10:{n:02}:00+01:00", block=f"m{n}")  # type: ignore[arg-type]
        for n, (role, text) in enumerate(talk, 1)
    ]


def kept(recap: str, talk: Sequence[tuple[str, str]] = TALK) -> list[str]:
    return [one.text for one in grounded(recap, said(*talk), "main", SESSION)[0]]


def test_a_paste_bears_nothing_out() -> None:
    talk = (("user", "Summarise this:\n\nThe board fired Quentin on 3 March."), *TALK)
    assert kept("The board fired Quentin on 3 March.", talk) == []


def test_a_list_is_read_by_its_lines_and_has_an_end() -> None:
    lines = "\n".join(f"- We rebuild the bread oven with Tomek, {n}" for n in "abcdefghijklmnop")
    kept_, left_out = grounded(f"# Recap\n{lines}", said(*TALK), "main", SESSION)
    assert len(kept_) == MOST_SENTENCES
    assert any(str(MOST_SENTENCES) in reason for _, reason in left_out)


@pytest.mark.parametrize(
    ("sentence", "stays"),
    [
        ("The user lives in Gdansk with Marek.", True),
        ("The user has an old oven.", True),
        ("The user is pregnant.", False),
        ("User is allergic to peanuts.", False),
        ("User owns seven cats.", False),
    ],
)
def test_what_a_recap_says_of_the_user_is_kept_where_it_was_said(
    sentence: str, stays: bool
) -> None:
    talk = (
        ("user", "I live in Gdansk with Marek. I baked rye bread in the old oven."),
        ("assistant", "You are a vegan and you own three cats."),
        ("user", "I am not allergic to peanuts."),
    )
    assert bool(kept(sentence, talk)) == stays
