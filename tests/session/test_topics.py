"""Topics change by meaning, not by one odd message; labels are words that were said."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from vaultmind.session.topics import Topics, heading
from vaultmind.types import Message
from vaultmind.vault.transcript import parse_session, render_message

_SUBJECTS = {
    "en": (
        "sourdough starter flour oven crust loaf yeast dough kneading bakery",
        "sailboat rigging harbour mast anchor regatta keel current lighthouse skipper",
    ),
    "pl": (
        "zakwas mąka piekarnik skórka bochenek drożdże ciasto piekarnia formowanie żyto",
        "żaglówka takielunek przystań maszt kotwica regaty kil prąd latarnia szyper",
    ),
    "ru": (
        "закваска мука печь корочка буханка дрожжи тесто пекарня замес рожь",
        "парусник оснастка гавань мачта якорь регата киль течение маяк шкипер",
    ),
}
SUBJECTS = {code: [one.split() for one in both] for code, both in _SUBJECTS.items()}


def said(number: int, text: str, time: str = "") -> Message:
    role = "user" if number % 2 else "assistant"
    return Message(role, text, time, id=f"t:{number}", block=f"m{number}")


def about(words: Sequence[str], length: int, first: int = 1, seed: int = 3) -> list[Message]:
    rng = random.Random(seed)
    return [said(first + n, " ".join(rng.sample(words, 5)) + ".") for n in range(length)]


def changes(messages: Sequence[Message], language: str = "en") -> list[tuple[int, str]]:
    """Return after which message a topic began, and with which."""
    heard = Topics()
    return [
        (number, heard.topic.source)
        for number, message in enumerate(messages, 1)
        if heard.hear(message, language)
    ]


@pytest.mark.parametrize("language", SUBJECTS)
def test_another_subject_is_a_new_topic(language: str) -> None:
    bread, boats = SUBJECTS[language]
    assert changes([*about(bread, 14), *about(boats, 10, 15)], language) == [(16, "m15")]


def test_one_odd_message_changes_nothing() -> None:
    bread, boats = SUBJECTS["en"]
    talk = [*about(bread, 14), *about(boats, 1, 15), *about(bread, 14, 16, seed=4)]
    assert changes(talk) == []


def test_a_heading_that_looks_like_a_segment_is_none() -> None:
    assert heading("Segment 7 begins") == "## Segment 7 begins\n\n"
    read = parse_session(heading("Segment 7") + render_message(about(["a"] * 9, 1)[0]))
    assert read.messages[0].segment == 1
