"""How files of a linked folder are cut into chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vaultmind.index.linked import (
    LARGEST,
    NamedLines,
    cut_code,
    cut_plainly,
    named_text,
)
from vaultmind.planner.sources import cut_by_definitions

CODE = '''"""A shop."""

import json


class Cart:
    """What is bought."""

    def add(self, item):
        return item


def total(cart):
    return sum(cart)
'''


def halves(path: str, text: str) -> Sequence[NamedLines]:
    return [(1, 4, ""), (5, 11, "Cart"), (12, 14, "total")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("cutter", [cut_plainly, cut_by_definitions])
def test_every_line_that_says_something_is_in_one_chunk(cutter: object, end: str) -> None:
    text = (CODE * 20).replace("\n", end)
    draft = cut_code("src/shop.py", text, cutter)  # type: ignore[arg-type]
    lines = [line for chunk in draft.chunks for line in chunk.text.split("\n") if line.strip()]
    assert lines == [line for line in text.split(end) if line.strip()]


def test_what_is_very_long_is_cut_again() -> None:
    body = "\n".join(f"    x{n} = {n} * 2  # {'y' * 40}" for n in range(200))
    text = f"def long():\n{body}\n"
    draft = cut_code("a.py", text, lambda path, text: [(1, text.count("\n"), "long")])
    assert len(draft.chunks) > 3
    assert all(len(chunk.text) <= LARGEST for chunk in draft.chunks)
    assert {chunk.anchor for chunk in draft.chunks} == {"#long"}


def test_comments_in_another_language_say_what_code_is_written_in() -> None:
    polish = "# Dodaje pozycję do koszyka i przelicza wartość zamówienia\nx = 1\n" * 6
    assert cut_code("koszyk.py", polish, cut_plainly).lang == "pl"
    assert cut_code("cart.py", "x = 1  # a › b\n" * 6, cut_plainly).lang == "en"


def test_a_name_brings_up_its_lines_or_those_of_what_holds_it() -> None:
    assert (named_text("a.py", CODE, "total", halves) or "").startswith("def total")
    assert (named_text("a.py", CODE, "Cart.add", halves) or "").startswith("class Cart")
    assert named_text("a.py", CODE, "Missing", halves) is None
