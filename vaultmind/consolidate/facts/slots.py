"""What a question of the assistant asks the person for: a name, an age, a place, a day, ...

Only such questions may lend their words to a fact: `And your sister's name?` `Mila`. What asks for
the task in hand (`How many servings?`) or for yes or no lends nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from vaultmind.memory.contradictions.relations import pattern
from vaultmind.memory.words import fold

Kind = Literal["name", "age", "place", "work", "health", "date", "taste", "more"]

_ASKS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "name",
        pattern(
            r"""names?|called|imię|imieniem|nazywa\w*|wabi\w*|nazwisk\w+|na imię|kim jest|who is|
            who's|зовут|имя|имени|кличк\w+|фамили\w+|кто так\w+"""
        ),
    ),
    (
        "age",
        pattern(
            r"""how old|what age|ile (?:on |ona |on teraz |ona teraz )?(?:ma|masz|mają) lat|ile lat|
            w jakim wieku|сколько (?:ему|еи|вам|тебе|им|лет)|какои возраст|какого возраста"""
        ),
    ),
    (
        "place",
        pattern(
            r"""where (?:do|are|is|did|does) (?:you|your|she|he|they|it)|(?:which|what) (?:city|
            town|
            country|area|part of)|where .* (?:live|based|from|moving)|gdzie (?:mieszka\w+|
            pracuje\w*|
            jesteś|pan|pani|studiuje\w*)|w (?:jakim|którym) (?:mieście|kraju|rejonie)|
            skąd (?:jesteś|
            pan|pani|pochodz\w+)|jakie (?:to )?miasto|dokąd|где (?:ты|вы|она|он)|в каком (?:городе|
            раионе)|в какои стране|из какого города|откуда|какои (?:у (?:вас|тебя) )?город|куда
            (?:переезжа\w+|едете)"""
        ),
    ),
    (
        "work",
        pattern(
            r"""what do you do|for a living|your (?:job|profession|role|occupation|field)|what does
            (?:she|he) do|line of work|czym (?:się|pan|pani) .*zajmuj\w*|zajmujesz|jaki zawód|
            zawodowo|gdzie pracuj\w+|kim (?:pan|pani|jesteś) .*zawodu|кем (?:ты|вы|она|
            он)? ?работа\w+|
            чем (?:ты|вы) .*занима\w+|профессия|где (?:ты|вы) работа\w+"""
        ),
    ),
    (
        "health",
        pattern(
            r"""allerg\w+|intoleranc\w+|dietary|diets?|alergi\w+|uczule\w+|diet\w*|nietoleranc\w+|
            аллерги\w+|диет\w+|непереносимост\w+"""
        ),
    ),
    (
        "date",
        pattern(
            r"""when|what date|which day|what day|due|kiedy|na kiedy|którego|jaki termin|jaka data|
            когда|какого числа|на какое число|какая дата|в какои день"""
        ),
    ),
    (
        "taste",
        pattern(r"favou?rite|do you prefer|ulubion\w+|wolisz|wolą|любим\w+|предпочита\w+"),
    ),
    (
        "more",
        pattern(
            r"""how long have you|which (?:instrument|language|breed|car|team)|what (?:instrument|
            language|breed|car|team|do you play)|jak długo|od kiedy|na czym gra\w+|jaka rasa|
            jaki(?:ej|m)? (?:samochód|auto|język\w*|instrument\w*|ras\w+)|какая порода|
            какои (?:породы|
            язык|инструмент)|на чем (?:ты|вы)? ?игра\w+|как давно|сколько лет"""
        ),
    ),
)
_THE_TASK = pattern(
    r"""should i|shall i|want me|would you like me|do you want|format|tone|budget|servings|
    words|pages|
    long should|mam (?:to |ci )?(?:\w+ć)|chcesz,? żebym|ton|budżet|cena|słów|stron|porcji|format\w*|
    мне (?:сделать|добавить|написать)|хотите,? я|формат|бюджет|цена|слов|страниц|порци\w+"""
)
LABELS: dict[Kind, tuple[str, str, str]] = {
    "name": ("name", "imię", "имя"),
    "age": ("age", "wiek", "возраст"),
    "place": ("where", "gdzie", "где"),
    "work": ("work", "praca", "работа"),
    "health": ("health", "zdrowie", "здоровье"),
    "date": ("when", "kiedy", "когда"),
    "taste": ("taste", "gust", "вкус"),
    "more": ("detail", "szczegół", "подробность"),
}
"""What stands for a question whose own words cannot: in English, Polish, Russian."""

LABEL_WORDS = frozenset(fold(word) for words in LABELS.values() for word in words)
COMMITS = pattern(
    r"""let's (?:do|go with|say|fix|make) (?:that|it|this)|deal|agreed|done|settled|it's a plan|
    sold|
    umowa stoi|zróbmy tak|niech tak będzie|tak zrobimy|tak robimy|umawiamy się|ustalone|zgoda|
    biorę to|
    так и сделаем|договорились|так и решим|по рукам|решено|согласн\w+|пусть так|идет|берем|
    принято"""
)
"""Words by which somebody takes up a proposal, and does not only like it."""


def asks_for(question: str) -> Kind | None:
    """Return what a question asks the person for; None for a question of another kind."""
    folded = fold(" ".join(question.split()))
    if _THE_TASK.search(folded):
        return None
    return next((kind for kind, cue in _ASKS if cue.search(folded)), None)
