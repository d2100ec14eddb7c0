"""index/search/passage: a long text is cut around what is asked for, within a budget."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.index.results import ending, passage, sought

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
FILLER = [
    f"On day {n} the garden was watered and nothing else was written down." for n in range(30)
]
ANSWER = "The heron built its nest on the old chimney in April."


def text_with(answer: str, at: int) -> str:
    return " ".join([*FILLER[:at], answer, *FILLER[at:]])


def test_what_holds_no_word_of_the_question_is_shown_from_its_beginning() -> None:
    shown = passage(text_with("", 0).strip(), sought("pelican", ["en"]), "en", 40)
    assert shown.startswith("On day 0")
    assert shown.endswith(" …")


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from(["heron ", "x", "żółw. ", "\n", "苍鹭", "🪿 "])).map("".join),
    st.sampled_from(["heron", "żółwie", "", "苍鹭"]),
    st.integers(1, 60),
)
@example(text="0. 0:0000:0:HERON:00000000000A0:HERON", query="heron", most=16)
def test_no_budget_is_exceeded_and_nothing_is_made_up(text: str, query: str, most: int) -> None:
    shown = passage(text, sought(query, ["en"]), "en", most)
    assert tokens.count(shown) <= most
    assert shown == text or shown.removeprefix("… ").removesuffix("…").rstrip() in text
    assert tokens.count(ending(text, most)) <= most
