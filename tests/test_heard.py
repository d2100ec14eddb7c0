"""What a person says in plain words is kept whole, and what they did not say is not."""

from __future__ import annotations

import pytest

from tests.test_trust import AGENT, opened, remember, run, talk
from vaultmind.app import App
from vaultmind.memory.brain import parse_brain


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    with opened(tmp_path_factory.mktemp("heard")) as app:
        yield app


def facts(app: App) -> list[str]:
    text = (app.config.vault / app.paths.brain("main")).read_text("utf-8")
    return [fact.text for fact in parse_brain(text).all()]


def hear(app: App, words: str) -> None:
    run(app, "memory_update", AGENT, utterance=words)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember that my email is anna.k@firma.pl", "my email is anna.k@firma.pl"),
        ("Remember that our wiki is https://wiki.acme.dev/home", "https://wiki.acme.dev/home"),
        ("Remember that we use node v18.19.1 and yarn 4.1.0", "node v18.19.1 and yarn 4.1.0"),
        ("Remember that we meet at 5 p.m. at Mr. Lee's office", "at 5 p.m. at Mr. Lee's office"),
        ("Запомни, что моя почта ivan.p@mail.ru", "ivan.p@mail.ru"),
        ("Remember the plumber's name: Olek", "Olek"),
        ("Remember, no emojis in commit messages.", "no emojis in commit messages"),
        ("Remember that I never eat pork", "I never eat pork"),
    ],
)
def test_what_is_to_be_remembered_is_kept_whole(app: App, said: str, kept: str) -> None:
    hear(app, said)
    assert any(kept in one for one in facts(app)), facts(app)


def test_a_denial_is_kept_with_what_it_denies(app: App) -> None:
    remember(app, "I work at Bosch")
    hear(app, "I no longer work at Bosch")
    said = [one for one in facts(app) if "Bosch" in one]
    assert all("no longer" in one for one in said), said


@pytest.mark.parametrize(
    "words", ["Забудь про Краков, поедем во Вроцлав", "Forget about Kraków, let's go to Wrocław"]
)
def test_a_change_of_plans_forgets_nothing(app: App, words: str) -> None:
    remember(app, "My sister Zosia lives in Kraków")
    hear(app, words)
    assert "My sister Zosia lives in Kraków" in facts(app)


def test_what_was_told_is_not_lost_by_what_comes_before_or_after(app: App) -> None:
    talk(app, "My sister Basia lives in Hamburg.", "I sold the Skoda, I drive a Tesla now.")
    talk(app, "Write a short bio for our speaker page.", "I live in Uppsala.")
    talk(app, "For the test user: I live in Berlin, my phone number ends with 00.")
    said = " | ".join(facts(app))
    assert "Hamburg" in said and "Uppsala" in said
    assert "Berlin" not in said


def test_a_name_that_only_a_note_holds_is_no_fact_about_somebody_else(app: App) -> None:
    remember(app, "Darek plays the cello")
    (app.config.vault / "People.md").write_text("Marek came to the barbecue in June.\n", "utf-8")
    app.index.refresh(["People.md"])
    told = run(app, "memory_update", AGENT, utterance="What do you know about Marek?")
    assert "barbecue" in str(told) and "Darek" not in str(told)


@pytest.mark.parametrize(
    ("fact", "said", "kept"),
    [
        ("Ola's exam is on the 4th", "No, it's the 5th", "Ola's exam is on the 5th"),
        ("Wizyta u dentysty jest w środę", "nie, to w piątek", "Wizyta u dentysty jest w piątek"),
    ],
)
def test_another_day_corrects_the_last_fact(app: App, fact: str, said: str, kept: str) -> None:
    hear(app, f"Remember that {fact}" if "ś" not in fact else f"Zapamiętaj, że {fact}")
    hear(app, said)
    assert any(kept.split(" ", 1)[1] in one for one in facts(app)), facts(app)
