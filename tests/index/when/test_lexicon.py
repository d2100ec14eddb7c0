"""The tables and rules of each language are whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.when.finding import LANGUAGES, lexicon_of
from vaultmind.index.when.lexicon import LED, fold
from vaultmind.index.when.reading import _READERS

BOUNDS = ("since", "after", "before", "until", "between", "early", "middle", "late", "beside")


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_rule_has_a_reader_and_every_pattern_compiles(code: str) -> None:
    lexicon = lexicon_of(code)
    assert {meaning.partition(":")[0] for meaning in lexicon.meanings} <= set(_READERS)
    assert lexicon.pattern.groups > len(lexicon.rules)
    assert all(lexicon.before_it(name) for name in BOUNDS)
    assert lexicon.to_come.pattern
    assert lexicon.is_over.pattern
    assert lexicon.join.pattern


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_word_is_folded_so_that_it_can_be_found(code: str) -> None:
    lexicon = lexicon_of(code)
    tables = (lexicon.numbers, lexicon.ordinals, lexicon.units, lexicon.months)
    tables += (lexicon.weekdays, lexicon.seasons, lexicon.feasts)
    words = [form for table in tables for form in table]
    words += [*lexicon.cues, *lexicon.names, *lexicon.some, *lexicon.several]
    assert [word for word in words if fold(word) != word] == []
    literal = [re.sub(r"\\.|\{\w+:?", "", rule) for _, rule in lexicon.rules]
    assert [rule for rule in literal if fold(rule) != rule] == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_twelve_months_seven_days_four_seasons(code: str) -> None:
    lexicon = lexicon_of(code)
    assert set(lexicon.months.values()) == set(range(1, 13))
    assert set(lexicon.weekdays.values()) == set(range(7))
    assert set(lexicon.seasons.values()) == {"spring", "summer", "autumn", "winter"}
    assert set(lexicon.units.values()) == set("hdwmqy")
    assert lexicon.some <= set(lexicon.numbers)
    assert lexicon.names <= set(lexicon.months)


def test_rules_that_take_their_lead_are_rules() -> None:
    known = {meaning for code in LANGUAGES for meaning in lexicon_of(code).meanings}
    assert known >= LED


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)
