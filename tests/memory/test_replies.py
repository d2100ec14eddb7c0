"""memory/replies: the person is answered in their own language, with fact and file."""

from __future__ import annotations

import string

import pytest

from vaultmind.memory.replies import _DONE, LANGUAGES, phrase, told
from vaultmind.types import Outcome


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_every_sentence_with_the_same_values(lang: str) -> None:
    assert _DONE[lang].keys() == _DONE["en"].keys()
    for name, text in _DONE[lang].items():
        assert fields(text) == fields(_DONE["en"][name]), name


def test_an_unknown_language_is_answered_in_english() -> None:
    assert phrase("fi", "skip") == phrase("en", "skip")


def test_what_was_done_names_the_fact_and_the_file() -> None:
    outcome = Outcome("written", "main", fact="Lubi sernik", path="VaultMind/x/brain.md")
    said = told("pl", "remember", outcome, "lubi sernik")
    assert "Lubi sernik" in said and "brain.md" in said and "Zapamiętałem" in said


def test_what_was_not_found_offers_the_nearest() -> None:
    outcome = Outcome("not_found", "main", nearest=("Tea with milk", "Tea shop closes at six"))
    said = told("en", "forget", outcome, "tea")
    assert "“tea”" in said and "- Tea with milk" in said


def test_a_fact_that_took_anothers_place_names_both() -> None:
    outcome = Outcome("written", "main", fact="Lives in Gdańsk", before="Lives in Kraków")
    said = told("en", "remember", outcome, "Lives in Gdańsk")
    assert "instead of" in said.lower() or "“Lives in Kraków”" in said
    waiting = Outcome("suggested", "main", fact="Lives in Gdańsk", before="Lives in Kraków")
    assert "Lives in Kraków → Lives in Gdańsk" in told("pl", "remember", waiting, "")
