"""index/search/passage: a long text is cut around what is asked for, within a budget."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultmind import tokens
from vaultmind.index.search.passage import STEMS_BEGIN_ALIKE, ending, passage, sought
from vaultmind.index.words.terms import fold, stems

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
FILLER = [
    f"On day {n} the garden was watered and nothing else was written down." for n in range(30)
]
ANSWER = "The heron built its nest on the old chimney in April."


def text_with(answer: str, at: int) -> str:
    return " ".join([*FILLER[:at], answer, *FILLER[at:]])


@pytest.mark.parametrize("at", [0, 3, 15, 29, 30])
def test_the_best_passage_is_shown_wherever_it_stands(at: int) -> None:
    text = text_with(ANSWER, at)
    shown = passage(text, sought("where did herons nest?", ["en"]), "en", 60)
    assert ANSWER in shown
    assert tokens.count(shown) <= 60
    assert shown.startswith("… ") == (at > 3)
    assert shown.endswith(" …") == (at < 29)
    assert shown.removeprefix("… ").removesuffix(" …") in text


def test_an_irregular_form_is_what_is_asked_for() -> None:
    text = text_with("We went to Gdańsk by night train.", 20)
    assert "Gdańsk" in passage(text, sought("where do we go by train?", ["en"]), "en", 60)


def test_where_several_words_stand_together_counts_more_than_one_often() -> None:
    text = " ".join(["The heron flew.", *FILLER[:9], ANSWER, *FILLER[9:], "A heron, a heron."])
    assert ANSWER in passage(text, sought("heron nest chimney", []), "en", 50)


@pytest.mark.parametrize(
    ("query", "answer", "lang"),
    [
        ("czapla na kominie", "Na starym kominie czaple założyły gniazdo.", "pl"),
        ("где цапли свили гнездо", "На старой трубе цапля свила гнездо.", "ru"),
        ("苍鹭的巢", "苍鹭在旧烟囱上筑了巢。", "zh"),
    ],
)
def test_it_is_found_in_other_inflections_and_scripts(query: str, answer: str, lang: str) -> None:
    assert answer in passage(text_with(answer, 20), sought(query, [lang]), lang, 70)


def test_what_holds_no_word_of_the_question_is_shown_from_its_beginning() -> None:
    shown = passage(text_with("", 0).strip(), sought("pelican", ["en"]), "en", 40)
    assert shown.startswith("On day 0")
    assert shown.endswith(" …")


def test_what_fits_is_whole() -> None:
    assert passage(ANSWER, sought("heron", ["en"]), "en", 100) == ANSWER
    assert ending(ANSWER, 100) == ANSWER


def test_an_ending_is_the_end() -> None:
    shown = ending(text_with(ANSWER, 30), 25)
    assert shown.startswith("… ")
    assert shown.endswith(ANSWER[-30:])
    assert tokens.count(shown) <= 25


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


@pytest.mark.parametrize("lang", sorted(STEMS_BEGIN_ALIKE))
def test_where_no_prefix_is_taken_off_a_stem_begins_as_its_word_does(lang: str) -> None:
    """Over the words of three languages that the morphology sets hold, whatever is stemmed."""
    told = "".join((DATA / f"morphology_{name}.jsonl").read_text("utf-8") for name in ("pl", "ru"))
    for word in set(re.findall(r"\w+", told)):
        assert {stem[:1] for stem in stems(word, lang)} == {fold(word)[:1]}, word
