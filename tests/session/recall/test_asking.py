"""Old questions: what only asks, and what says something."""

from __future__ import annotations

from vaultmind.session.recall.asking import only_asks, question, says_something

ASKED = question("what is the deadline of Project Heron?")


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
