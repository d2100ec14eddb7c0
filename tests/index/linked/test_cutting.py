"""How files of a linked folder are cut into chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vaultmind.index.linked import (
    NamedLines,
    cut_code,
    cut_plainly,
    named_text,
)
from vaultmind.planner.records import code_spans

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
@pytest.mark.parametrize("cutter", [cut_plainly, code_spans])
def test_every_line_that_says_something_is_in_one_chunk(cutter: object, end: str) -> None:
    text = (CODE * 20).replace("\n", end)
    draft = cut_code("src/shop.py", text, cutter)  # type: ignore[arg-type]
    lines = [line for chunk in draft.chunks for line in chunk.text.split("\n") if line.strip()]
    assert lines == [line for line in text.split(end) if line.strip()]


def test_a_name_brings_up_its_lines_or_those_of_what_holds_it() -> None:
    assert (named_text("a.py", CODE, "total", halves) or "").startswith("def total")
    assert (named_text("a.py", CODE, "Cart.add", halves) or "").startswith("class Cart")
    assert named_text("a.py", CODE, "Missing", halves) is None
