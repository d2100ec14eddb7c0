"""index/search/copies: a copy says nothing new; a changed number, name or negation does."""

from __future__ import annotations

import pytest

from vaultmind.index.search.copies import is_copy, wording

DOME = (
    "The dome is built of clay and straw over a mound of wet sand. It dries for two weeks under "
    "a tarpaulin before the sand is dug out through the door. Then a second layer follows, five "
    "centimetres thick, and a small fire each evening for a week drives the water out slowly."
)
CHLEB = (
    "Chleb na zakwasie piekę w sobotę rano. Ciasto wyrasta całą noc w lodówce, a piec grzeję "
    "godzinę przed włożeniem bochenka. Po upieczeniu chleb odpoczywa na kratce, bo krojony na "
    "gorąco robi się w środku kleisty i cała praca idzie na marne."
)
DACHA = (
    "Летом мы красим забор и чиним крышу на даче. Доски лежат в сарае, краска стоит в подвале, "
    "а кисти надо купить в городе. Сосед обещал помочь с лестницей, если погода будет сухая и "
    "тёплая всю неделю подряд."
)
ROUTER = (
    "The router stands in the hall and has firmware 21.02. Restart it by the button on the back "
    "and wait two minutes until the green light is steady. Anna keeps the login in her drawer, "
    "and the provider answers on weekdays only."
)

COPIES = [
    ("the same", DOME, DOME),
    ("another case and other marks", DOME, DOME.upper().replace(".", " !")),
    ("a typing error put right", DOME, DOME.replace("straw", "strow")),
    ("a synonym", DOME, DOME.replace("slowly", "gently")),
    ("two words more", DOME, DOME.replace("small fire", "really small wood fire")),
    ("a sentence less", DOME, DOME.partition("Then a second")[0]),
    ("the end alone", DOME, DOME.partition("It dries")[2]),
    ("a heading before it", DOME, f"# Dome copy\n\n{DOME}"),
    ("sentences in another order", DOME, ". ".join(reversed(DOME.split(". ")))),
    ("with properties before it", f"status: done\n\n{DOME}", f"status: copied\n\n{DOME}"),
    ("Polish, one ending", CHLEB, CHLEB.replace("bochenka", "bochenków")),
    ("Polish without diacritics", CHLEB, CHLEB.replace("ę", "e").replace("ł", "l")),
    ("Russian, ё and one word", DACHA, DACHA.replace("тёплая", "теплая").replace("сухая", "ясная")),
    ("lines broken elsewhere", ROUTER, ROUTER.replace(". ", ".\n")),
    ("a list of it", ROUTER, "- " + ROUTER.replace(". ", ".\n- ")),
    ("short and the same", "Likes strong tea.", "likes strong tea"),
]  # fmt: skip
NO_COPIES = [
    ("the date of another day", f"date: 2026-01-02\n\n{DOME}", f"date: 2026-03-04\n\n{DOME}"),
    ("another number", ROUTER, ROUTER.replace("21.02", "22.03")),
    ("another name", ROUTER, ROUTER.replace("Anna keeps", "and Jan keeps").replace("her", "his")),
    ("another name inside", DOME, DOME.replace("a small fire", "as Piotr says, a small fire")),
    ("a negation", DOME, DOME.replace("It dries", "It never dries")),
    ("a Polish negation", CHLEB, CHLEB.replace("grzeję", "nie grzeję")),
    ("a Russian negation", DACHA, DACHA.replace("Сосед обещал", "Сосед не обещал")),
    ("a new sentence", DOME, f"{DOME} The chimney stands at the front and draws well in any wind, "
     "which the neighbours like because the smoke goes over their garden."),
    ("half of it new", DOME, DOME.partition("Then a second")[0]
     + "Later a roof of boards keeps the rain away and the wood pile stays dry all winter long."),
    ("the same subject", DOME, "The dome of the oven needs clay, straw and sand. Dig the sand out "
     "through the door when it is dry, and heat it with small fires before the first bread."),
    ("another subject", DOME, ROUTER),
    ("a short one, one word else", "Likes strong tea.", "Likes weak tea."),
    ("a short one within a long one", DOME, "The dome is built of clay."),
    ("another language", CHLEB, "I bake sourdough bread on Saturday morning. The dough rises all "
     "night in the fridge, and the oven is heated for an hour before the loaf goes in."),
    ("one word else in few", "Rain all morning, then a walk to the river with the dog and Jan. "
     "Soup.", "Rain all morning, then a walk to the river with the dog and Jan. Pancakes."),
    ("another book of the same kind", "About: a clerk who weighs clouds.\n\nI could not put it "
     "down and burned the potatoes. Good for the club: short chapters. Left in a hotel.",
     "About: a year without summer.\n\nI could not put it down and burned the potatoes. Good for "
     "the club: short chapters. Left in a hotel."),
    ("a number in a daily note", "Walked to the river with the dog, then read in the garden until "
     "it rained. Soup for lunch, and a long call in the evening. Went to bed at 22.",
     "Walked to the river with the dog, then read in the garden until it rained. Soup for lunch, "
     "and a long call in the evening. Went to bed at 23."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "copy"), COPIES, ids=[one[0] for one in COPIES])
def test_what_says_nothing_new_is_a_copy(name: str, text: str, copy: str) -> None:
    assert is_copy(wording(copy), wording(text))


@pytest.mark.parametrize(("name", "text", "other"), NO_COPIES, ids=[one[0] for one in NO_COPIES])
def test_what_says_something_new_is_none(name: str, text: str, other: str) -> None:
    assert not is_copy(wording(other), wording(text))


def test_a_longer_text_is_no_copy_of_its_beginning() -> None:
    assert is_copy(wording(DOME), wording(DOME + ROUTER))
    assert not is_copy(wording(DOME + ROUTER), wording(DOME))


def test_a_copy_of_two_texts_that_are_shown_as_one_is_a_copy() -> None:
    both = wording(DOME) | wording(CHLEB)
    assert is_copy(wording(CHLEB), both)
    assert not is_copy(wording(ROUTER), both)
