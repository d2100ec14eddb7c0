"""triggers: what points back in six languages, and what says nothing."""

from __future__ import annotations

import pytest

from vaultmind.session.recall.triggers import (
    LANGUAGES,
    find_trigger,
    language_of,
    phrases,
    small_words,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("As I said, the blue one", "back"),
        ("like I told you: no sugar", "back"),
        ("do it the way we agreed on", "back"),
        ("W tamtej sprawie napisz maila", "back"),
        ("Jak już mówiłem, wolę żytni", "back"),
        ("Wróćmy do pieca", "back"),
        ("Вернёмся к бюджету", "back"),
        ("как я уже говорила, завтра не могу", "back"),
        ("Wie gesagt: kein Zucker", "back"),
        ("como te dije, sin azúcar", "back"),
        ("comme je l'ai dit, sans sucre", "back"),
        ("when we talked about the oven, what was the price?", "explicit"),
        ("Kiedy rozmawialiśmy o piecu, jaka była cena?", "explicit"),
        ("когда мы говорили о печи, какая была цена?", "explicit"),
        ("What did I ask at the beginning?", "start"),
        ("O co pytałem na początku?", "start"),
        ("О чём я спросил в самом начале?", "start"),
    ],
)
def test_references_back_are_heard(text: str, kind: str) -> None:
    assert find_trigger(text).kind == kind


@pytest.mark.parametrize(
    "text",
    ["", "ok", "I bake bread", "go back to bed", "Piekę chleb", "Я пеку хлеб", "let's start", "🙂"],
)
def test_other_messages_are_no_references(text: str) -> None:
    assert not find_trigger(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_its_words(language: str) -> None:
    held = phrases(language)
    assert held.language == language
    assert held.header.rstrip().endswith(":")
    assert {kind for kind, _ in held.patterns} == {"back", "explicit", "start"}
    assert held.small <= small_words()


def test_an_unknown_language_gets_english() -> None:
    assert phrases("xx").header == "From earlier in this conversation:"
    assert language_of("Wczoraj byłem w sklepie i kupiłem świeży chleb.") == "pl"
    assert language_of("", "ru") == "ru"
    assert language_of("12", "xx") == "en"
