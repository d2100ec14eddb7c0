"""What a person asked not to keep stands in no summary and in nothing that a session leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from vaultmind.session.summary import Rolling, active_context, astray, fold, unkept
from vaultmind.types import Message

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

TRIP = ("We are planning the summer trip to Norway.", "A: Great, which month?")


def said(*texts: str) -> list[Message]:
    return [
        Message(
            "assistant" if text.startswith("A: ") else "user",
            text.removeprefix("A: "),
            f"2026-02-20T10:{n:02}:00+01:00",
            block=f"m{n}",
        )
        for n, text in enumerate(texts, 1)
    ]


@pytest.mark.parametrize(
    "asks",
    [
        "Don't remember this: my sister Laura is pregnant and leaves Peter in June.",
        "Don't remember this: Laura is pregnant.",
        "Nie zapisuj tego: mój kolega Jan ma długi na 40 tysięcy złotych.",
        "Не запоминай этого: у Олега роман с начальницей, ключ под ковриком.",
        "Off the record: my salary is 9417 zlotys.",
        "Merk dir das nicht: Laura ist schwanger.",
    ],
)
def test_what_is_named_is_meant_and_not_what_was_said_before_it(asks: str) -> None:
    assert set(unkept(said(*TRIP, asks))) == {2}


@pytest.mark.parametrize(
    "asks",
    ["Don't remember what I just said.", "Please don't keep that.", "Nie zapamiętuj tego."],
)
def test_what_only_points_means_what_was_said_before_it_also_at_the_end(asks: str) -> None:
    assert set(unkept(said("I like tea.", *TRIP, asks))) == {1, 2, 3}


@pytest.mark.parametrize(
    "asks",
    [
        "erase this conversation from your head",
        "keep it to yourself",
        "let this chat vanish",
        "niech to nie trafi do notatek",
        "nie rozpowiadaj tego",
        "udawaj, że tego nie słyszałeś",
        "zachowaj to dla siebie",
        "to nie do notatek",
        "ani słowa o tym w pamięci",
    ],
)
def test_it_is_heard_in_everyday_words(asks: str) -> None:
    assert 0 in unkept(said("My sister Laura is pregnant.", asks))


def test_what_is_asked_about_a_matter_means_where_that_was_said() -> None:
    talk = said("Laura is pregnant.", "A: How nice for Laura!", *TRIP,
                "Don't remember what I said about Laura.")  # fmt: skip
    assert set(unkept(talk)) == {0, 1, 4}


def test_what_asks_nothing_hides_nothing() -> None:
    texts = ("I keep a record of my runs.", "Don't forget to note that I like tea.",
             "I did not save the file this morning, note the error.")  # fmt: skip
    assert not unkept(said(*TRIP, *texts))


def test_no_summary_and_no_active_context_says_what_was_asked_not_to_be_kept() -> None:
    talk = said(*TRIP, "Off the record: my salary is 9417 zlotys.", "A: 9417 zlotys is good.",
                "We decided to leave on 4 July 2027.")  # fmt: skip
    folded = fold(Rolling(), talk, language="en")
    assert "9417" not in str(folded.lines) and "July" in str(folded.lines)
    text = active_context(talk, Rolling(), 300, "en")
    assert "9417" not in text and "July" in text


def test_what_was_folded_before_it_was_asked_for_goes_from_the_summary() -> None:
    talk = said("My salary is 9417 zlotys since March.", "Please don't keep that.")
    folded = fold(Rolling(), talk[:1], language="en")
    assert {one.block for one in folded.lines} == astray(folded, talk)


@pytest.mark.parametrize(
    "asks",
    [
        "I'd rather you didn't hold on to what I told you about my brother.",
        "Kindly don't let any of that sink into what you keep about me.",
        "Wolałbym, żebyś nie zachowywał nic z tego, co napisałem o bracie.",
        "Proszę tego u siebie nie przechowywać.",
        "Прошу вас ничего из этого у себя не хранить.",
    ],
)
def test_it_is_heard_in_words_that_nobody_wrote_a_rule_for(asks: str) -> None:
    assert 0 in unkept(said("My brother owes the bank 40 thousand.", asks))


@pytest.mark.parametrize(
    ("asks", "told"),
    [
        ("What I'm going to say about my husband goes nowhere, don't keep it.", "Vadim drinks."),
        ("To, co teraz powiem, nie jest do zapisu, nie zapisuj tego.", "Mąż pije od roku."),
        ("То, что я сейчас скажу, никуда не записывай.", "Вадим пьёт и грозится уйти."),
    ],
)
def test_what_is_announced_is_meant_and_no_more_than_that(asks: str, told: str) -> None:
    gone = unkept(said(*TRIP, asks, "A: I'm listening.", told, "A: Oh.", "I design typefaces."))
    assert {2, 4} <= set(gone) and not {0, 6} & set(gone)


def test_what_is_announced_and_told_in_one_breath_means_itself_alone() -> None:
    asks = "This next bit isn't for your notes: I have a second interview at Harrow on the 9th."
    assert set(unkept(said(*TRIP, asks, "A: Good luck.", "I hate the word passionate."))) == {2}


@pytest.mark.parametrize(
    ("asks", "later"),
    [
        ("Before we begin: everything about Marcel stays here, don't save it.", "Marcel is 12."),
        ("Zanim zaczniemy: wszystko o Marcelu zostaje tu, nie zapisuj.", "Marcel ma 12 lat."),
        ("Про Марселя ничего не записывай.", "Марселю 12 лет, он плохо читает."),
    ],
)
def test_a_matter_holds_for_what_is_said_of_it_later(asks: str, later: str) -> None:
    talk = said(asks, "A: Fine.", "I teach Polish.", "A: Nice.", "It is in Sanok.", "A: Oh.", later)
    assert {0, 6} <= set(unkept(talk)) and 4 not in unkept(talk)


def test_a_matter_that_was_told_in_other_words_takes_all_with_it_but_what_may_stay() -> None:
    talk = said(
        "Low salt please, my lupus is flaring and I'm on 10mg pred.",
        "Remember that Deji never eats fish.",
        "We have had our own hens since spring.",
        "That stuff about my illness and the tablets, don't save it. The hens you can keep.",
        "And shorter lists, always.",
    )
    assert set(unkept(talk)) == {0, 3}


def test_of_two_matters_each_is_found_where_it_was_said() -> None:
    talk = said("I owe Kredyt 14 800 zł.", "My son gambles.", "I sew curtains.",
                "What I said about my son and the debt, please don't keep it.")  # fmt: skip
    assert set(unkept(talk)) == {1, 3}


def test_all_that_comes_is_meant_where_that_is_said_but_what_is_to_be_remembered() -> None:
    talk = said(*TRIP, "From here on don't save anything I say.", "I was fired.", "I drink.",
                "Remember that my flight is at 6:40.")  # fmt: skip
    assert set(unkept(talk)) == {2, 3, 4}


@pytest.mark.parametrize(
    "text",
    [
        "> Please don't keep any of that in your memory.\nWhat does this mean?",
        "Kierownik kazał nam niczego nie zapisywać na tablicy, dziwne.",
        "Сотри, пожалуйста, фон на этой фотографии.",
        "How do I stop my phone from saving every photo twice?",
    ],
)
def test_what_only_looks_like_it_takes_nothing_said_before(text: str) -> None:
    assert 0 not in unkept(said(*TRIP, text))


@pytest.mark.parametrize(
    ("debt", "asks"),
    [
        ("I owe my brother 9311 euros.",
         "Please don't save that. Anyway, which flour is best for a rye bread?"),
        ("I owe my brother 9312 euros.",
         "Don't keep that. But do remember that I bought a red bike."),
        ("Jestem winien bratu 9313 euro.", "Nie zapisuj tego. Jaka mąka jest dobra na chleb?"),
        ("Jestem winien bratu 9314 euro.", "Nie zapisuj tego, ale zapamiętaj, że mam nowy rower."),
        ("Я должен брату 9315 евро.", "Не записывай это. Какая мука лучше для ржаного хлеба?"),
        ("Я должен брату 9316 евро.", "Не запоминай это. Но запомни, что я купил велосипед."),
    ],
)  # fmt: skip
def test_what_only_points_means_what_was_before_whatever_else_is_said(debt: str, asks: str) -> None:
    assert set(unkept(said(*TRIP, debt, asks))) == {2}


@pytest.mark.parametrize(
    "asks",
    [
        "This is strictly personal, don't store it.",
        "Nie chcę do tego wracać, nie zapamiętuj.",
        "Этого лучше не хранить.",
        "Это лишнее, не держи в памяти.",
        "Strike that from the record.",
        "Delete what I just told you.",
        "Don't include that in the summary.",
        "Scrub that last bit.",
        "Consider that unsaid.",
        "Don't take notes on this part.",
        "Nie rób z tego notatki.",
        "Usuń to, co właśnie napisałem.",
        "Pomiń to w podsumowaniu.",
        "Niech to przepadnie.",
        "Вычеркни последнее.",
        "Удали то, что я только что написал.",
        "Не упоминай это в сводке.",
    ],
)
def test_plain_ways_to_ask_for_what_was_said_before_are_heard(asks: str) -> None:
    assert set(unkept(said(*TRIP, "I owe 9311 euros.", asks))) == {2, 3}


def test_it_means_what_the_same_message_said_before_it() -> None:
    text = "I owe my brother 9311 euros. Strike that from the record. Which flour is best?"
    assert set(unkept(said(*TRIP, text))) == {2}


@pytest.mark.parametrize(
    ("asks", "count"),
    [
        ("Don't save those last two messages.", 2),
        ("Don't save my last 3 messages.", 3),
        ("Nie zapisuj dwóch ostatnich wiadomości.", 2),
        ("Не сохраняй последние три сообщения.", 3),
    ],
)
def test_the_last_messages_are_meant_by_their_number(asks: str, count: int) -> None:
    talk = ("I live in Ghent.", "I like tea.", "I owe 9311 euros.", "Laura is in rehab.", asks)
    assert set(unkept(said(*talk))) == set(range(4 - count, 5))


@pytest.mark.parametrize(
    ("asks", "lifts"),
    [
        ("From now on don't save anything, please.", "You can remember things again now."),
        ("Od teraz nic nie zapisuj.", "Dobra, możesz znowu zapamiętywać."),
        ("С этого момента ничего не записывай.", "Ладно, теперь снова можно запоминать."),
    ],
)
def test_what_comes_after_the_wish_was_lifted_is_kept(asks: str, lifts: str) -> None:
    talk = said(*TRIP, asks, "I owe 9311 euros.", lifts, "I bought a red bike in Bruges.")
    assert set(unkept(talk)) == {2, 3}


@pytest.mark.parametrize(
    "text",
    [
        "You can remember this though: I bought a red bike in Bruges.",
        "Możesz to jednak zapamiętać: kupiłem czerwony rower.",
        "А это можешь запомнить: я купил красный велосипед.",
        "Między nami jest dziesięć lat różnicy, żona jest młodsza.",
        "Между нами десять лет разницы, жена моложе.",
        "Between us we own three cars, Anna and I.",
        "I work as a confidential secretary at the court.",
        "My motto: leave no trace when hiking.",
        "Don't save the file in Word, save it as PDF.",
        "Nie zapisuj pliku w Wordzie, zapisz jako PDF.",
        "Не сохраняй файл в Ворде, лучше в PDF.",
        "Please don't store the tokens in localStorage, I use cookies.",
        "My mother is losing her memory; she can't remember my name.",
        "Mama mówiła, żeby nie zapisywać syna do tej szkoły.",
        "Мама просила не записывать сына в эту школу.",
        "Why don't you save this?",
    ],
)
def test_plain_facts_and_questions_ask_nothing(text: str) -> None:
    assert not unkept(said(*TRIP, text))


class _Meaning:
    """An embedder of another family: the models know nothing of its vectors."""

    id, dim = "other-1", 4

    def embed(self, texts: Sequence[str]) -> Matrix:
        raise AssertionError(texts)

    def embed_query(self, text: str) -> Matrix:
        raise AssertionError(text)


def test_an_embedder_that_the_models_do_not_know_is_not_asked() -> None:
    assert not unkept(said(*TRIP, "My sister moved to Bergen."), embedder=_Meaning())


@pytest.mark.parametrize(
    "head",
    [
        "Summarise this text for me:",
        "Translate this for me please:",
        "What do you think of this text:",
        "посмотри этот код, пожалуйста, что не так:",
        "przetłumacz mi to na angielski:",
    ],
)
def test_what_leads_to_a_text_asks_nothing(head: str) -> None:
    texts = (f"{head}\n\n> a text", "My cat Mia has a bell.")
    said = [Message("user", text, "", id=f"m{at}") for at, text in enumerate(texts)]
    assert unkept(said) == {}
