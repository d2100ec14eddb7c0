"""Half letters: a JavaScript client that cuts an emoji in two is answered like any other."""

from __future__ import annotations

import json

import pytest

from vaultmind.serve.call import whole_json


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        (rb'"a \ud83d b"', "a \ufffd b"),
        (rb'"\uD83D\uDE00"', "\U0001f600"),
        (rb'"\ude00\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud83d\ud83d\ude00"', "\ufffd\U0001f600"),
        (rb'"\\ud83d"', "\\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (rb'"\u017c \n"', "\u017c \n"),
        (rb'"\ud83d', None),
    ],
)
def test_half_a_letter_becomes_one_that_can_be_kept(raw: bytes, meant: str | None) -> None:
    made = whole_json(raw)
    if meant is not None:
        assert json.loads(made) == meant
