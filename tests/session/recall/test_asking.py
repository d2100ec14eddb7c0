"""Old questions: what only asks, and what says something."""

from __future__ import annotations

import pytest

from vaultmind.index.words.terms import query_terms
from vaultmind.session.recall.asking import only_asks, question, says_something, telling_terms

ASKED = question("what is the deadline of Project Heron?")


@pytest.mark.parametrize(
    "text",
    [
        "What is the deadline of Project Heron?",
        "**What is the deadline of Project Heron?** ^m7",
        "When is Project Heron due?",
        "Could you tell me the deadline of Project Heron again?",
        "By when must project Heron be finished?",
        "What is the deadline of Project Heron? Thanks!",
    ],
)
def test_the_same_question_in_other_words_only_asks(text: str) -> None:
    assert only_asks(text, ASKED)


@pytest.mark.parametrize(
    "text",
    [
        "The deadline of Project Heron is in March.",
        "Did you hear that the Heron deadline moved to 14 March?",
        "Wasn't the Heron project moved to Monday?",
        "The deadline of Project Heron is 14 March. OK?",
        "Who feeds the cat?",
        "",
    ],
)
def test_what_says_something_or_asks_another_thing_does_not(text: str) -> None:
    assert not only_asks(text, ASKED)


def test_it_is_known_in_other_languages() -> None:
    assert only_asks("Какой срок у проекта Цапля?", question("какой дедлайн у проекта Цапля?"))
    assert only_asks("Kiedy mija termin projektu Czapla?", question("Jaki termin projektu Czapla?"))


def test_who_asks_for_questions_may_have_them() -> None:
    asked = question("what did I ask about the deadline of Project Heron?")
    assert not only_asks("What is the deadline of Project Heron?", asked)


def test_an_answer_says_more_than_that_nobody_knows() -> None:
    assert says_something("It is due in spring.", ASKED)
    assert says_something("14.", ASKED)
    assert not says_something("I don't know, sorry.", ASKED)


@pytest.mark.parametrize("query", ["what's 2+2?", "x", "1 + 2 = 3?", "a b c"])
def test_lone_letters_and_digits_tell_nothing(query: str) -> None:
    assert not telling_terms(query_terms(query, ("en",)))


@pytest.mark.parametrize("query", ["F22", "24/7", "C++", "猫"])
def test_codes_and_other_scripts_do(query: str) -> None:
    assert telling_terms(query_terms(query, ("en",)))
