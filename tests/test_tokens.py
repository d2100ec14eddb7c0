"""tokens: an estimate by script, the same however often it is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        (" ", 1),
        ("bread", 1),
        ("internationalisation", 4),
        ("żółć", 3),
        ("достопримечательность", 8),
        ("1234567", 3),
        ("東京都", 3),
        ("one, two", 3),
        ("one\n\n\ntwo", 3),
    ],
)
def test_each_script_has_its_price(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


@given(st.text(max_size=200), st.integers(1, 40))
def test_a_clipped_text_is_a_prefix_within_the_budget(text: str, most: int) -> None:
    clipped = tokens.clip(text, most, mark="")
    assert text.startswith(clipped)
    assert tokens.count(clipped) <= most
