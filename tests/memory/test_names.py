"""Other agents in what a person says: their names in all cases, and only of those there are."""

from __future__ import annotations

import pytest

from vaultmind.memory.intents import Recogniser, recogniser
from vaultmind.memory.intents.names import Names

AGENTS = ("main", "jaskier", "dexter", "iris", "ada", "marek")


@pytest.fixture(scope="module")
def known() -> Recogniser:
    return recogniser(names=AGENTS)


@pytest.mark.parametrize(
    ("forms", "agent"),
    [
        ("jaskier jaskra jaskrowi jaskrem jaskrze яскер яскру яскеру яскром", "jaskier"),
        ("dexter dextera dexterowi dexters декстер декстеру декстера декстере", "dexter"),
        ("iris irisa irisowi ирис ирису", "iris"),
        ("ada ady adzie ade ада аде аду", "ada"),
        ("marek marka markowi марек марку", "marek"),
    ],
)
def test_a_name_is_known_in_every_case_and_alphabet(forms: str, agent: str) -> None:
    names = Names(AGENTS)
    assert {names.meant(form) for form in forms.split()} == {agent}


@pytest.mark.parametrize("word", ["mother", "dexterity", "market", "adapt", "jask", "мама", "a"])
def test_other_words_name_nobody(word: str) -> None:
    assert Names(AGENTS).meant(word) == ""


@pytest.mark.parametrize(
    ("said", "agent", "payload"),
    [
        ("Tell Dexter that the spare key is under the pot", "dexter",
         "the spare key is under the pot"),
        ("Could you let Jaskier know that I moved to Lisbon?", "jaskier", "I moved to Lisbon"),
        ("Claude, please tell Dexter: the alarm code is 4471", "dexter", "the alarm code is 4471"),
        ("Powiedz Dexterowi, że zapasowy klucz leży pod doniczką", "dexter",
         "zapasowy klucz leży pod doniczką"),
        ("Mógłbyś przekazać Jaskrowi, że przeprowadziłem się do Łodzi?", "jaskier",
         "przeprowadziłem się do Łodzi"),
        ("Скажи Декстеру, что запасной ключ под горшком", "dexter", "запасной ключ под горшком"),
        ("Передай, пожалуйста, Яскеру, что я переехал в Тверь", "jaskier", "я переехал в Тверь"),
        ("Sag Dexter, dass ich umgezogen bin", "dexter", "ich umgezogen bin"),
        ("Dile a Dexter que vivo en Sevilla", "dexter", "vivo en Sevilla"),
        ("Dis à Dexter que j'habite à Lyon", "dexter", "j'habite à Lyon"),
    ],
)  # fmt: skip
def test_something_is_told_to_another_agent(
    known: Recogniser, said: str, agent: str, payload: str
) -> None:
    intent = known.recognise(said)
    assert (intent.intent, intent.target, intent.payload) == ("remember", agent, payload)


@pytest.mark.parametrize(
    ("said", "agent", "payload"),
    [
        ("What does Jaskier know about the wedding?", "jaskier", "the wedding"),
        ("Ask Dexter what he remembers about my bike", "dexter", "my bike"),
        ("Co Jaskier wie o weselu?", "jaskier", "weselu"),
        ("Zapytaj Jaskra, co wie o weselu", "jaskier", "weselu"),
        ("Что Декстер знает о свадьбе?", "dexter", "свадьбе"),
        ("Спроси у Декстера, что он помнит о свадьбе", "dexter", "свадьбе"),
        ("Was weiß Jaskier über die Hochzeit?", "jaskier", "die Hochzeit"),
    ],
)
def test_another_agents_memory_is_asked_for(
    known: Recogniser, said: str, agent: str, payload: str
) -> None:
    intent = known.recognise(said)
    assert (intent.intent, intent.target, intent.payload) == ("recall", agent, payload)


@pytest.mark.parametrize(
    "said",
    [
        "Tell Nathan that the spare key is under the pot",
        "Tell Dexter to buy milk",
        "She told Dexter that the key is under the pot",
        "What does my mother know about the wedding?",
        "Powiedz mamie, że zadzwonię",
        "Powiedz Dexterowi, żeby kupił mleko",
        "Скажи маме, что я позвоню",
        "Марек сказал Декстеру, что ключ под горшком",
        "What would you tell Dexter?",
    ],
)
def test_people_and_tasks_are_no_agents_memory(known: Recogniser, said: str) -> None:
    intent = known.recognise(said)
    assert intent.intent == "none" and intent.target == ""


def test_an_agent_that_is_called_is_not_the_one_meant(known: Recogniser) -> None:
    intent = known.recognise("Декстер, запомни, что я веган")
    assert (intent.intent, intent.target, intent.payload) == ("remember", "", "я веган")
