"""memory/amend: a correction by a word changes that word; one by a sentence, the sentence."""

from __future__ import annotations

import pytest

from vaultmind.memory.amend import amended


@pytest.mark.parametrize(
    ("fact", "old", "new", "wanted"),
    [
        ("I live in Gdańsk", "Gdańsk", "Łódź", "I live in Łódź"),
        ("mieszkam w Gdańsku", "Gdańsku", "Łodzi", "mieszkam w Łodzi"),
        ("mieszkam w Gdańsku", "w Gdańsku", "w Łodzi", "mieszkam w Łodzi"),
        ("mieszkam w Gdańsku", "Gdańsk", "w Łodzi", "mieszkam w Łodzi"),
        ("я живу в Праге", "в Праге", "в Брно", "я живу в Брно"),
        ("я живу в Праге", "Прага", "в Брно", "я живу в Брно"),
        ("I live in Gdańsk", "in Gdańsk", "Łódź", "I live in Łódź"),
        ("I live in Gdańsk", "Gdańsk", "I live in Łódź", "I live in Łódź"),
        ("I live in Gdańsk", "I live in Gdańsk", "I moved to Łódź", "I moved to Łódź"),
        ("The meeting is on Monday at 9", "Monday", "Tuesday", "The meeting is on Tuesday at 9"),
        ("Prefers short answers", "short", "long", "Prefers long answers"),
        ("Likes tea", "coffee", "Likes juice", "Likes juice"),
        ("Two plus two is two", "two", "four", "four"),
        ("Likes tea", "tea", "now drinks only black coffee", "now drinks only black coffee"),
        ("Has a dog called Rex", "Rex", "Max", "Has a dog called Max"),
        ("Flat 12, code 4711", "4711", "0815", "Flat 12, code 0815"),
    ],
)
def test_what_stays_stays(fact: str, old: str, new: str, wanted: str) -> None:
    assert amended(fact, old, new) == wanted
