"""session/context/longterm/excerpt: the piece of a text around what a question asks for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.session.excerpt import MARK, excerpt, sought

FILLER = "The parrot sat on the fence and said nothing of note. "


def around(text: str, query: str, most: int = 200, lang: str = "en") -> str:
    return excerpt(text, sought(query), lang, most)


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


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1, max_size=90))
def test_words_are_whole(text: list[str]) -> None:
    piece = around(" ".join(text), text[-1], 60)
    assert set(re.findall(r"\w+", piece)) <= set(text)
