"""session/context/longterm/excerpt: the piece of a text around what a question asks for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.session.context.longterm.excerpt import MARK, excerpt, one_line, sought

LANGS = ("en", "pl", "ru")
FILLER = "The parrot sat on the fence and said nothing of note. "


def around(text: str, query: str, most: int = 200, lang: str = "en") -> str:
    return excerpt(text, sought(query, LANGS), lang, most)


def test_a_short_text_is_shown_whole() -> None:
    assert around("The door is 25 cm high.", "door") == "The door is 25 cm high."


def test_the_piece_stands_around_what_was_asked_for() -> None:
    text = FILLER * 10 + "The door of the oven is 25 cm high. " + FILLER * 10
    piece = around(text, "how high is the oven door")
    assert "door of the oven is 25 cm high" in piece
    assert piece.startswith(MARK)
    assert piece.endswith(MARK)
    assert len(piece) <= 200


def test_it_is_found_in_another_inflection() -> None:
    text = "Zdanie o niczym, zupełnie o niczym. " * 10 + "Piekłam bochenki w piecu u sąsiadki."
    assert "bochenki w piecu" in around(text, "piec na bochenek", lang="pl")


def test_where_nothing_matches_it_is_the_beginning_after_the_properties() -> None:
    text = f"aliases: the knee\nstatus: sore\n\n# Knee\n\n{FILLER * 10}"
    piece = around(text, "zebra")
    assert piece.startswith(f"{MARK}The parrot")


def test_a_property_that_answers_is_shown() -> None:
    text = f"deadline: 30 April\nstatus: sore\n\n# Knee\n\n{FILLER * 10}"
    assert "30 April" in around(text, "when is the deadline")


def test_it_is_one_line_without_marks() -> None:
    text = (
        "# Oven\n\n> [!note] Mortar\n> See [[Oven budget|the budget]] and **two** ==bricks== ^b1\n"
    )
    assert one_line(text) == "Mortar See the budget and two bricks"


def test_a_heading_alone_is_shown() -> None:
    assert one_line("## How it works\n") == "How it works"


@pytest.mark.parametrize("letter", ["я", "漢", "א", "e\u0301", "👩‍👩‍👧", "🏽"])
def test_no_letter_is_cut_in_two(letter: str) -> None:
    piece = around(letter * 400, "zebra", 50)
    assert len(piece) <= 50
    body = piece.removesuffix(MARK)
    assert body == letter * (len(body) // len(letter)) or letter == "👩‍👩‍👧"
    assert not body.endswith("\u200d")


def test_a_wall_of_one_word_is_cut() -> None:
    piece = around("word " * 20_000, "word of the day")
    assert len(piece) <= 200


words = st.lists(st.text("abcdefgh ząб漢😀.", min_size=1, max_size=12), min_size=1, max_size=60)


@given(words, st.text(max_size=30), st.integers(20, 200))
def test_a_piece_is_never_longer_and_holds_only_what_stands_there(
    text: list[str], query: str, most: int
) -> None:
    whole = " ".join(text)
    piece = around(whole, query, most)
    assert len(piece) <= most
    body = piece.removeprefix(MARK).removesuffix(MARK)
    assert body in one_line(whole)


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=90))
def test_words_are_whole(text: list[str]) -> None:
    piece = around(" ".join(text), text[-1], 60)
    assert set(re.findall(r"\w+", piece)) <= set(text)
