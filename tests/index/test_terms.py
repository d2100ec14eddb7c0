"""index/words/terms and stopwords: what full text holds of a text, and what it looks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.words import terms
from vaultmind.index.words.terms import fold, index_terms, query_terms, stems, words

LANGS = ("en", "pl", "ru")


@pytest.mark.parametrize(
    ("typed", "folded"),
    [
        ("Żółć", "zolc"),
        ("Ёлка", "елка"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Æ", "ae"),
    ],
)
def test_case_and_diacritics_do_not_matter(typed: str, folded: str) -> None:
    assert fold(typed) == folded


@pytest.mark.parametrize(
    ("lang", "one", "other"),
    [
        ("en", "recipes", "recipe"),
        ("pl", "lodówki", "lodówka"),
        ("pl", "lodówkami", "lodowka"),
        ("ru", "рецептов", "рецепты"),
        ("de", "Häuser", "haus"),
    ],
)
def test_an_inflection_shares_a_stem(lang: str, one: str, other: str) -> None:
    assert set(stems(one, lang)) & set(stems(other, lang))


def test_an_english_word_in_a_russian_text_is_stemmed_as_english() -> None:
    assert stems("deployments", "ru") == stems("deployment", "en")


def test_identifiers_are_kept_whole_and_in_parts() -> None:
    found = words("snake_case camelCase gpt4")
    assert found == ["snake", "case", "camelcase", "gpt4"]
    assert index_terms("camelCase gpt4", "en")[0] == "camelcase camel case gpt4 gpt 4"


def test_a_path_or_a_version_is_looked_for_as_a_phrase_too() -> None:
    phrases = {term.words for term in query_terms("index/text.py since v1.5.9", LANGS)}
    assert ("index", "text", "py") in phrases
    assert ("v1", "v", "1", "5", "9") in phrases


def test_scripts_without_spaces_become_pairs() -> None:
    assert index_terms("東京都", "ja") == ("東 京 都", "東京 京都")
    assert [term.stems for term in query_terms("東京都", LANGS)[1:]] == [("東京",), ("京都",)]


def test_vowel_signs_stay_in_the_word() -> None:
    assert len(words("रोटी कपड़ा")) == 2


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("Where did we put the recipe?", {"put", "recipe"}),
        ("gdzie jest moja książka", {"ksiazka"}),
        ("где мой рецепт", {"рецепт"}),
        ("sam war", {"sam", "war"}),
        ("NAS address", {"nas", "address"}),
        ("WHERE IS THE RECIPE", {"recipe"}),
        ("where is the NAS", {"nas"}),
        ("the US visa and the IT office", {"us", "visa", "it", "office"}),
        ("the oven OR the stove", {"oven", "stove"}),
        ("dlaczego NAS nie działa", {"nas", "dziala"}),
    ],
)
def test_stop_words_are_those_of_the_querys_language(query: str, telling: set[str]) -> None:
    assert {term.plain for term in query_terms(query, LANGS) if not term.stop} == telling


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("went", "go"),
        ("bought", "buying"),
        ("Children", "child"),
        ("left", "leaving"),
        ("mice", "mouse"),
    ],
)
def test_irregular_forms_of_english_have_the_stem_of_their_base(form: str, base: str) -> None:
    assert set(stems(base, "en")) <= set(stems(form, "en"))
    assert set(stems(base, "en")) <= set(index_terms(form, "en")[1].split())
    assert set(stems(form, "pl")).isdisjoint(stems(base, "en")) or form.isupper()


def test_a_form_that_is_a_word_of_its_own_is_both() -> None:
    assert set(stems("saw", "en")) == {"saw", "see"}


def test_special_names_are_words() -> None:
    assert words("C++ and C# 🍞") == ["cplusplus", "and", "csharp", "u1f35e"]


@given(st.text(max_size=300))
def test_any_text_gives_tokens_that_full_text_keeps_whole(text: str) -> None:
    for column in index_terms(text, "en"):
        assert all(token and '"' not in token for token in column.split())
    for term in query_terms(text, LANGS):
        assert all((*term.words, *term.stems))


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_the_fast_way_finds_the_same_tokens_as_the_thorough_one(text: str) -> None:
    if not terms._SPECIAL.search(text):
        thorough = [match.group() for match in terms._TOKEN.finditer(text)]
        assert terms._SIMPLE.findall(text) == thorough
