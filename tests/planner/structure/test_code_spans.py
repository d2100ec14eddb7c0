"""Code is cut where its definitions begin and end, and no line is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.planner.structure.code import Span, code_spans, read_code

ROOT = Path(__file__).parents[3]
BODY = "".join(f"    value_{n} = compute(value_{n - 1}, {n})\n" for n in range(1, 60))
PYTHON = f'''"""Carts."""
import os
import json

LIMIT = 5
OTHER = 6


# Adds what it is given.
# Twice.
@cached
def add(a, b):
    return a + b


class Cart:
    """A cart."""

    size: int = 0

    @property
    def small(self):
        return 1

    def large(self):
{BODY.replace("    value", "        value")}

def tail(): return 1
'''


def held(text: str, spans: list[Span]) -> list[str]:
    lines = text.split("\n")
    return ["\n".join(lines[one.first_line - 1 : one.last_line]) for one in spans]


def check(text: str, spans: list[Span]) -> None:
    """Every line that is not blank is in one span, in order."""
    covered = [row for one in spans for row in range(one.first_line, one.last_line + 1)]
    assert covered == sorted(set(covered))
    rows = {row for row, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert rows <= set(covered)


def test_names_of_spans_are_those_of_definitions() -> None:
    text = (ROOT / "vaultmind/index/index.py").read_text("utf-8")
    names = {one.name for one in read_code("index.py", text, "python").definitions}
    assert {one.name for one in code_spans("index.py", text, "python")} <= names | {""}


@pytest.mark.parametrize("text", ["", "\n\n  \n", "x" * 5000, "a\n" * 5000, "\ufeffx = 1\r\n"])
def test_odd_texts_are_cut_too(text: str) -> None:
    check(text, code_spans("a.py", text, "python"))


PIECES = st.sampled_from(
    [
        "def f(a):\n", "class A:\n", "    def m(self):\n", "        return 1\n", "@deco\n",
        "# note 🎉\n",
        "x = (\n", ")\n", '"""\n', "\n", "   \n", "\r\n", "é = 1; y = 2\n", "if x:\n",
        "function g() {\n",
        "}\n", "/* a\n", "*/ b\n", "const q = () => {\n", "export default {\n", "`${\n", "\t\tz\n",
        "w" * 1300 + "\n", "\x0c\n", "\u2028", "tail",
    ]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=40), st.sampled_from(["python", "tsx", "javascript", "php"]))
def test_no_line_is_lost_or_held_twice(pieces: list[str], language: str) -> None:
    text = "".join(pieces)
    check(text, code_spans("a", text, language))
    for one in read_code("a", text, language).definitions:
        assert 1 <= one.line <= one.last_line <= text.count("\n") + 1
