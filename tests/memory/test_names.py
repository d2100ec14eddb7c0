"""Other agents in what a person says: their names in all cases, and only of those there are."""

from __future__ import annotations

import pytest

from vaultmind.memory.intents import Recogniser, recogniser

AGENTS = ("main", "jaskier", "dexter", "iris", "ada", "marek")


@pytest.fixture(scope="module")
def known() -> Recogniser:
    return recogniser(names=AGENTS)


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


def test_an_agent_that_is_called_is_not_the_one_meant(known: Recogniser) -> None:
    intent = known.recognise("Декстер, запомни, что я веган")
    assert (intent.intent, intent.target, intent.payload) == ("remember", "", "я веган")
