"""memory/match: words mean one fact or none; a wrong forget is the worst mistake."""

from __future__ import annotations

import pytest

from vaultmind.memory.match import find, same_fact, says
from vaultmind.types import Fact


def found(words: str, *facts: str) -> list[str]:
    match = find([Fact(text, None) for text in facts], words)
    return [facts[i] for i in match.found]


SAME = [
    ("Prefers short answers", "prefers SHORT answers!!"),
    ("I prefer short answers.", "Prefers short answers"),
    ("Mieszka w Łodzi", "mieszka w lodzi"),
    ("Jego kawa to espresso", "jego kawa: espresso"),
    ("Любит чёрный чай", "любит черный чай."),
    ("Doesn't eat meat", "Does not eat meat"),
    ("**Lives** in _Kraków_", "lives in Krakow"),
]
OTHER = [
    ("Likes C++", "Likes C#"),
    ("Likes 🍕", "Likes 🍔"),
    ("Works at Google", "Worked at Google"),
    ("Eats meat", "Does not eat meat"),
    ("Je mięso", "Nie je mięsa"),
    ("Pays $5", "Pays €5"),
    ("Bus 5", "Bus 50"),
    ("tea > coffee", "tea < coffee"),
    ("明日は雨", "明日は雪"),
    ("कि", "का"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_fact_said_in_two_ways_is_the_same(one: str, other: str) -> None:
    assert same_fact(one, other) and same_fact(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_two_facts_that_look_alike_are_not_the_same(one: str, other: str) -> None:
    assert not same_fact(one, other)


FORGETS = [
    ("my phone number", "Phone number is 600 100 200"),
    ("that I prefer short answers", "Prefers short answers"),
    ("answers, short ones: prefers", None),
    ("what I told you about coffee", "Drinks coffee without sugar"),
    ("the spare key", "Keeps the spare key under the blue flowerpot"),
    ("that I don't eat meat", "Does not eat meat"),
    ("o moim numerze telefonu", "Numer telefonu to 600 100 200"),
    ("o kawie", "Pije kawę bez cukru"),
    ("krotkie odpowiedzi", "Woli krótkie odpowiedzi"),
    ("ciotkę z Krakowa", "Ciotka mieszka w Krakowie"),
    ("że mieszkam w Łodzi", "Mieszka w Łodzi"),
    ("про мой номер телефона", "Номер телефона 600"),
    ("что я живу в Кракове", "Живёт в Кракове с Тимуром"),
    ("о собаке", "У Анны есть собака Шарик"),
    ("короткие ответы", "Предпочитает короткие ответы"),
]


@pytest.mark.parametrize(("words", "fact"), FORGETS)
def test_inflected_reordered_and_plain_words_find_the_fact(words: str, fact: str | None) -> None:
    others = ("Sails in summer", "Żegluje latem", "Летом ходит под парусом")
    assert found(words, *others, *([fact] if fact else [])) == ([fact] if fact else [])


SPARES = [
    ("my phone number", "Phone calls are fine after 18:00"),
    ("my phone", "Phone calls are fine after 18:00"),
    ("I eat meat", "Does not eat meat"),
    ("tea with milk in the morning", "Prefers coffee with milk in the morning"),
    ("the meeting with Ben on Monday", "Meeting with Anna on Monday"),
    ("oven at 230 degrees", "Bread oven at 250 degrees"),
    ("my plane", "Has a plan for the summer"),
    ("the team", "Drinks tea"),
    ("numer telefonu", "Telefony odbiera po osiemnastej"),
    ("je mięso", "Nie je mięsa"),
    ("номер телефона", "По телефону звонить после шести"),
    ("everything", "Likes tea"),
    ("it", "Likes tea"),
    ("^nope", "Likes tea"),
]


@pytest.mark.parametrize(("words", "fact"), SPARES)
def test_words_that_share_a_word_with_a_fact_spare_it(words: str, fact: str) -> None:
    assert found(words, fact) == []


def test_two_facts_that_fit_alike_are_both_offered_and_neither_is_taken() -> None:
    facts = [Fact("Work phone number is 600", None), Fact("Home phone number is 700", None)]
    match = find(facts, "phone number")
    assert (match.found, match.nearest, match.tied) == ((), (0, 1), True)


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        ("tea", ("Likes tea", "Buys tea in the small shop by the harbour every second Friday")),
        ("o kawie", ("Lubi kawę", "Kupuje kawę w małym sklepie przy porcie co piątek")),
        ("meat", ("Does not eat meat", "Buys meat at the market hall every Saturday morning")),
        ("^aa11", ("Likes tea ^aa11", "Likes coffee ^aa11")),
    ],
)
def test_words_that_two_facts_hold_choose_neither_however_much_of_one_they_are(
    words: str, facts: tuple[str, str]
) -> None:
    made = [Fact(text.partition(" ^")[0], None, text.partition(" ^")[2]) for text in facts]
    match = find(made, words)
    assert (match.found, sorted(match.nearest), match.tied) == ((), [0, 1], True)


def test_a_fact_that_is_all_in_the_request_is_meant_though_another_holds_its_words() -> None:
    facts = ("Buys tea in the small shop by the harbour", "Likes tea")
    assert found("what I told you: that I like tea", *facts) == ["Likes tea"]


def test_a_fact_that_holds_the_words_among_much_else_is_offered_as_that() -> None:
    fact = Fact("Bought green paint, two brushes and tape for the kitchen wall on Monday", None)
    for words in ("green", "kitchen tape"):
        match = find([fact], words)
        assert (match.found, match.nearest, match.mentioned) == ((), (0,), True)


@pytest.mark.parametrize(
    ("words", "fact"),
    [("plan", "Booked plane tickets"), ("bar", "Bare feet"), ("mark", "Marki i modele")],
)
def test_words_of_unknown_language_are_not_taken_for_forms_of_one(words: str, fact: str) -> None:
    assert found(words, fact) == []


def test_a_fact_said_exactly_wins_over_one_that_says_more() -> None:
    facts = ("Prefers short answers in the evening, long ones before", "Prefers short answers")
    assert found("I prefer short answers", *facts) == [facts[1]]


def test_the_same_fact_typed_twice_is_found_twice() -> None:
    facts = [Fact("Likes tea", None), Fact("likes TEA.", None), Fact("Likes cake", None)]
    assert find(facts, "likes tea").found == (0, 1)


def test_the_nearest_are_offered_when_nothing_fits() -> None:
    facts = [Fact("Ma psa Azora", None), Fact("Jeździ na rowerze", None)]
    assert find(facts, "o moim psie").nearest[0] == 0


@pytest.mark.parametrize(
    ("message", "fact", "expected"),
    [
        ("Remember that I prefer short answers. Thanks!", "Prefers short answers", True),
        ("The answers to the quiz are short.", "Prefers short answers", False),
        ("Mój nowy numer: 600-100-200", "Numer telefonu to 600 100 200", True),
        ("My number was 600-100-201", "Phone number is 600 100 200", False),
        ("Запомни, что я живу в Кракове", "Живёт в Кракове", True),
        ("I am a vegetarian", "Vegetarian", True),
        ("The vegetarian menu of that long train journey cost us eleven pounds each", "Vegetarian",
         False),
        ("I like tea.\n\nWe spoke of bread, the oven, the flue and the brick.\n\nPeople like cake",
         "Likes tea cake", False),
    ],
)  # fmt: skip
def test_a_message_says_a_fact_only_in_one_breath(message: str, fact: str, expected: bool) -> None:
    assert says(message, fact) is expected


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ("kodzie do bramy", "Kod do bramy to 4471"),
        ("kodzie", "Kod do bramy to 4471"),
        ("córce", "Córka ma na imię Zosia"),
        ("rowerze", "Mam czerwony rower"),
        ("собаке", "Собаку зовут Рекс"),
    ],
)
def test_a_word_with_a_softened_end_means_the_fact_with_the_hard_one(words: str, fact: str) -> None:
    assert found(words, fact, "Pije kawę bez cukru") == [fact]


def test_a_softened_end_makes_no_other_word_the_same() -> None:
    assert found("kocie", "Kotlety je co niedziela") == []
