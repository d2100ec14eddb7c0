"""memory/sensitive: what calls for caution, and what only looks like it."""

from __future__ import annotations

import pytest

from vaultmind.memory.sensitive import KINDS, sensitive

SENSITIVE = [
    ("Has diabetes", "health"),
    ("Is allergic to nuts", "health"),
    ("Takes antidepressants since March", "health"),
    ("Ma cukrzycę typu 2", "health"),
    ("Jest w ciąży", "health"),
    ("У него диабет", "health"),
    ("Лежал в больнице", "health"),
    ("Earns 5000 a month", "money"),
    ("Ma kredyt hipoteczny", "money"),
    ("Зарплата 100 тысяч", "money"),
    ("Is Catholic", "beliefs"),
    ("Głosuje na lewicę", "beliefs"),
    ("Ходит в церковь по воскресеньям", "beliefs"),
    ("Is gay", "sex"),
    ("Jest gejem", "sex"),
    ("Бисексуал", "sex"),
    ("Wife's phone is +48 600 700 800", "others"),
    ("Szef się rozwodzi", "others"),
    ("У мамы рак", "others"),
    ("The house is empty until 5 May", "whereabouts"),
    ("Kod do domofonu to 1234", "whereabouts"),
    ("Ключи под ковриком", "whereabouts"),
]
HARMLESS = [
    "The app's health check fails at night",
    "Prefers a rich text editor",
    "Technical debt in the parser is high",
    "The token budget is 4000",
    "Third-party libraries need a licence",
    "Dinner party on Friday",
    "Votes on pull requests by Monday",
    "Cancel the weekly report",
    "Is learning Rust",
    "Works at a bank",
    "My wife likes tea",
    "Runs `doctor` after each release",
    "Memory addresses are written in hex",
    "Writes docs on sessions and sextants",
    "Dług techniczny spłacany w piątki",
    "Lubi ryby i rakiety",
    "Kościotrup to jego ulubiony żart",
    "Żona lubi szachy",
    "Технический долг — по пятницам",
    "Любит ракеты и раковины",
    "Брат любит шахматы",
    "Пишет IP-адрес в лог",
]


@pytest.mark.parametrize(("text", "kind"), SENSITIVE)
def test_a_sensitive_fact_is_known_by_its_kind(text: str, kind: str) -> None:
    assert kind in sensitive(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_words_that_only_look_sensitive_are_not(text: str) -> None:
    assert sensitive(text) == frozenset()


def test_what_is_private_of_another_is_theirs_and_of_its_kind() -> None:
    assert sensitive("Brother has asthma") == {"health", "others"}
    assert sensitive("Has asthma") == {"health"}
    assert sensitive("") == frozenset()


def test_case_and_missing_diacritics_do_not_hide_it() -> None:
    assert sensitive("MA CUKRZYCE") == {"health"}
    assert {kind for text, _ in SENSITIVE for kind in sensitive(text)} == set(KINDS)
