"""What a query asks for, as far as its own words say: a time, a number, a person, a place. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from vaultmind.index.fulltext.coverage import Wanted
from vaultmind.index.words.terms import fold, words

Asks = Literal["", "time", "number", "person", "place", "reason"]

_CUES: dict[Asks, str] = {
    "time": """when kiedy когда wann quand cuando|what time|what date|what day|what year
        |what month|which year|which month|which day|how long ago|how long|how often|jak dlugo
        |jak czesto|ktorego dnia|w ktorym roku|o ktorej|как долго|как часто|в каком году
        |какого числа|wie lange|wie oft|um wie viel uhr
        |combien de temps|depuis quand|cuanto tiempo""",
    "number": """ile ilu сколько wieviel combien cuanto cuanta cuantos cuantas|how many|how much
        |how old|how big|how tall|how far|what price|jak duzo|wie viele|wie viel|wie alt""",
    "person": """who whom whose kto kogo komu кто кого кому чей wer wen wem wessen qui quien
        quienes|z kim|с кем|a qui|con quien""",
    "place": """where gdzie dokad skad где куда откуда wo wohin woher ou donde adonde
        |which city|which country|what city|what country|in welcher stadt""",
    "reason": """why dlaczego czemu почему зачем warum weshalb wieso pourquoi porque
        |how come|por que|what for""",
}
"""Words, and after each `|` a phrase; folded. The first kind that has one of them is meant."""

_MONTHS = """january february march april june july august september october november december
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada
    grudnia styczen luty marzec kwiecien czerwiec lipiec sierpien wrzesien pazdziernik listopad
    grudzien января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    januar februar marz juni juli oktober dezember janvier fevrier mars avril juin juillet aout
    septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre"""
_DAYS = """monday tuesday wednesday thursday friday saturday sunday poniedzialek wtorek srode
    czwartek piatek sobote niedziele понедельник вторник среду четверг пятницу субботу воскресенье
    montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi
    samedi dimanche lunes martes miercoles jueves viernes sabado domingo"""
_NEAR = """yesterday today tonight tomorrow ago weekend week weeks month months year years recently
    wczoraj dzisiaj dzis jutro temu tydzien tygodniu miesiac miesiacu rok roku lat niedawno вчера
    сегодня завтра назад неделю неделе месяц месяце год году лет недавно gestern heute morgen vor
    woche monat jahr hier aujourd demain semaine mois annee ayer hoy manana semana mes ano hace"""
TIME_WORDS = frozenset(f"{_MONTHS} {_DAYS} {_NEAR}".split())
"""Words, folded, of a text that says when something happens."""
_NUMBERS = """one two three four five six seven eight nine ten eleven twelve dozen hundred thousand
    once
    twice half several couple dwa dwie trzy cztery piec szesc siedem osiem dziewiec dziesiec sto
    tysiac raz два две три четыре пять шесть семь восемь девять десять сто тысяча раз zwei drei vier
    funf sechs sieben acht neun zehn hundert deux trois quatre cinq sept huit neuf dix cent dos
    tres cuatro cinco siete ocho nueve diez cien"""
NUMBER_WORDS = frozenset(_NUMBERS.split())
_FIRST = """i my mine me we our us ja moj moja moje mój mnie mi jestem mam nasz nasza nasze я мой
    моя мое моё моей моего мне меня мы наш наша наше наши ich mein meine mir mich wir unser unsere
    je j mon ma mes nous notre nos yo mi mis nosotros nosotras nuestro nuestra"""
FIRST_PERSON = frozenset(f"{_FIRST} i'm i've i'd i'll i’m i’ve i’d i’ll j'ai j’ai".split())
_SAID = re.compile(r"[^\s.,;:!?()\[\]{}<>\"'’‘“”„«»…*_#|/\\\-–—=+`~¿¡]+")
_DIGITS = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the features see it."""

    text: str
    wanted: tuple[Wanted, ...]
    """Its telling words, each with how rare it is here."""
    asks: Asks
    """What it asks for; empty where its words do not say."""
    is_question: bool
    """Whether it is put as a question, not as key words."""
    lang: str


def question_of(text: str, wanted: tuple[Wanted, ...], lang: str) -> Question:
    """Return a query with what its words say about the answer."""
    said = words(text[:_READ])
    asks = _asks(said)
    return Question(text, wanted, asks, bool(asks) or "?" in text, lang)


def says_when(text: str) -> tuple[float, float]:
    """Return whether a text names a time, and a number.

    1 for a time in words, half where there is a number alone; 1 for a number in digits or words.
    """
    said = _SAID.findall(fold(text[:_READ]))
    digits = bool(_DIGITS.search(text))
    time = 0.5 * digits if TIME_WORDS.isdisjoint(said) else 1.0
    return time, float(digits or not NUMBER_WORDS.isdisjoint(said))


def says_i(text: str) -> float:
    """Return 1 where somebody speaks of themselves."""
    return float(not FIRST_PERSON.isdisjoint(text[:_BEGINNING].lower().split()))


_READ, _BEGINNING = 600, 200
"""Characters of a query or a text that are looked at."""


def _read(cues: str) -> tuple[frozenset[str], tuple[str, ...]]:
    alone, *phrases = " ".join(cues.split()).split("|")
    return frozenset(alone.split()), tuple(f" {phrase.strip()} " for phrase in phrases)


_READ_CUES = {asks: _read(cues) for asks, cues in _CUES.items()}


def _asks(said: list[str]) -> Asks:
    joined = f" {' '.join(said)} "
    for asks, (_, phrases) in _READ_CUES.items():
        if any(phrase in joined for phrase in phrases):
            return asks
    for word in said:
        for asks, (alone, _) in _READ_CUES.items():
            if word in alone:
                return asks
    return ""
