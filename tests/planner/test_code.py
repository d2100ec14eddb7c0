"""What is read from a file of Python, JavaScript or TypeScript."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultmind.planner.records import code_spans, language_of, read_code
from vaultmind.planner.types import FileRecord, Part

PYTHON = '''"""Carts 🛒 and what is in them."""
LIMIT: int = 5  # the most


@dataclass(frozen=True,
           slots=True)
class Cart(rates.Table, Coins, metaclass=Meta):
    """A cart 🛒 of things."""

    class State(StrEnum):
        @property
        async def closed(self, at: int = 3,  # when
                         *, by: str = "me") -> dict[str, int]:
            """Tell whether it is closed."""
            def local(): ...
            return local()

    def _sum(self): return 0
'''


def read(text: str, path: str = "shop/cart.py") -> FileRecord:
    return read_code(FileRecord(path, "", "code", language_of(path), "", 0), text)


def named(facts: FileRecord) -> dict[str, Part]:
    return {one.name: one for one in facts.definitions}


def test_definitions_of_python_nest_and_have_signatures_docs_and_lines() -> None:
    found = named(read(PYTHON))
    cart = found["Cart"]
    assert (cart.kind, cart.line, cart.last_line) == ("class", 5, 18)
    assert cart.signature == "class Cart(rates.Table, Coins, metaclass=Meta)"
    assert cart.summary == "A cart 🛒 of things."
    closed = found["Cart.State.closed"]
    assert closed.kind == "method" and closed.summary == "Tell whether it is closed."
    assert closed.signature == (
        'async def closed(self, at: int = 3, *, by: str = "me") -> dict[str, int]'
    )
    assert found["LIMIT"].kind == "constant" and found["LIMIT"].signature == "LIMIT: int = 5"


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.py", "(" * 200_000), ("a.tsx", "f(a)(" * 20_000), ("a.py", "try:\n" * 20_000)],
)
def test_what_is_no_code_ends_soon_and_raises_nothing(path: str, text: str) -> None:
    begun = time.thread_time()
    read(text, path)
    assert time.thread_time() - begun < 20  # minutes without the limits


def check(text: str, spans: list[tuple[int, int, str]]) -> None:
    """Every line that is not blank is in one span, in order."""
    covered = [row for first, last, _ in spans for row in range(first, last + 1)]
    assert covered == sorted(set(covered))
    rows = {row for row, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert rows <= set(covered)


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
@given(st.lists(PIECES, max_size=40), st.sampled_from(["py", "tsx", "js", "php"]))
def test_no_line_is_lost_or_held_twice(pieces: list[str], ending: str) -> None:
    text = "".join(pieces)
    check(text, code_spans(f"a.{ending}", text))
    for one in read(text, f"a.{ending}").definitions:
        assert 1 <= one.line <= one.last_line <= text.count("\n") + 1
