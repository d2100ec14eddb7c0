"""index/words/language: which language a text is in, without a guess where it says too little."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.index.words import language
from vaultmind.index.words.language import STEMMERS, detect


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Where did we put the recipe for the sourdough bread?", "en"),
        ("Gdzie jest przepis na chleb na zakwasie?", "pl"),
        ("Где рецепт хлеба?", "ru"),
        ("Де рецепт хліба, який ми її дали?", "uk"),
        ("Wo haben wir das Rezept für das Sauerteigbrot hingelegt?", "de"),
        ("今日は良い天気です", "ja"),
        ("东京都的天气", "zh"),
        ("서울에서 만났다", "ko"),
        ("Πού είναι η συνταγή;", "el"),
    ],
)
def test_sentences_are_told_apart(text: str, lang: str) -> None:
    assert detect(text) == lang


@pytest.mark.parametrize("text", ["ok", "", "12345 !!", "PostgreSQL"])
def test_a_text_that_says_too_little_gets_the_fallback(text: str) -> None:
    assert detect(text, "pl") == "pl"


def test_a_surer_text_overrides_the_fallback() -> None:
    assert detect("zrobić pranie, kupić mleko i chleb", "en") == "pl"


def test_code_and_links_are_not_looked_at() -> None:
    code = "```python\nfor line in file: print(the, and, with, what)\n```\n"
    assert detect(code + "Ten skrypt czyta plik i wypisuje każdą linię.") == "pl"


def test_russian_with_a_polish_word_is_russian() -> None:
    assert detect("Запомнил и онемел. Ни в тосте, ни в рифме. Dobrze?") == "ru"


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    assert detect(text, "xx") in {*STEMMERS, "ja", "zh", "ko", "th", "he", "ka", "xx"}


def test_a_full_temporary_folder_stops_nothing_and_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "Wczoraj kupiliśmy nowe meble kuchenne, a jutro przyjdzie stolarz."
    language._loaded.cache_clear()
    language._language.cache_clear()
    with monkeypatch.context() as full:
        full.setattr(tempfile, "tempdir", str(tmp_path / "full"))
        assert detect(text, "en") == "en"
        assert detect(text) == ""
    assert detect(text) == "pl"
