"""What a text's own words say of it: whether it asks, speaks of oneself, names a time or a number;
and the time that a query names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache

from vaultmind.index.when import closeness, mentioned, spans
from vaultmind.index.when_words import Span
from vaultmind.index.words.terms import fold, words

HAS_QUESTION, ENDS_ASKING, FIRST_PERSON, NAMES_TIME, HAS_DIGITS = 1, 2, 4, 8, 16
"""Bits of `chunks.flags`."""
MARGIN = timedelta(days=2)
"""How far from the time that is named a chunk still counts as of it: who tells of a day mostly does
so a little later."""
NOON = timedelta(hours=12)
"""A day without an hour stands at its middle, so that the day after is not the moment after."""
MAX_LETTERS = 400
"""Of a text, in which times are looked for."""
_READ, _BEGINNING = 600, 200
"""Characters of a query or a text that are looked at."""

_WHEN = """when kiedy когда wann quand cuando|what time|what date|what day|what year|what month
    |which year|which month|which day|how long ago|how long|how often|jak dlugo|jak czesto
    |ktorego dnia|w ktorym roku|o ktorej|как долго|как часто|в каком году|какого числа|wie lange
    |wie oft|um wie viel uhr|combien de temps|depuis quand|cuanto tiempo"""
"""Words, and after each `|` a phrase, folded, by which a query asks for a time; ..."""
_OTHER = """who whom whose kto kogo komu kto кто кого кому чей wer wen wem wessen qui quien quienes
    where gdzie dokad skad где куда откуда wo wohin woher ou donde adonde
    why dlaczego czemu почему зачем warum weshalb wieso pourquoi porque
    ile ilu сколько wieviel combien cuanto cuanta cuantos cuantas|how many|how much|how old|how big
    |how tall|how far|what price|jak duzo|wie viele|wie viel|wie alt"""
"""... and by which it asks for something else. The first that stands in a query says which."""
_TIMES = """january february march april june july august september october november december
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada
    grudnia styczen luty marzec kwiecien czerwiec lipiec sierpien wrzesien pazdziernik listopad
    grudzien января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    januar februar marz juni juli oktober dezember janvier fevrier mars avril juin juillet aout
    septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre
    monday tuesday wednesday thursday friday saturday sunday poniedzialek wtorek srode
    czwartek piatek sobote niedziele понедельник вторник среду четверг пятницу субботу воскресенье
    montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi
    samedi dimanche lunes martes miercoles jueves viernes sabado domingo
    yesterday today tonight tomorrow ago weekend week weeks month months year years recently
    wczoraj dzisiaj dzis jutro temu tydzien tygodniu miesiac miesiacu rok roku lat niedawno вчера
    сегодня завтра назад неделю неделе месяц месяце год году лет недавно gestern heute morgen vor
    woche monat jahr hier aujourd demain semaine mois annee ayer hoy manana semana mes ano hace"""
_TIME_WORDS = frozenset(_TIMES.split())
"""Words, folded, of a text that says when something happens."""
_SELF = """i my mine me we our us ja moj moja moje mój mnie mi jestem mam nasz nasza nasze я мой
    моя мое моё моей моего мне меня мы наш наша наше наши ich mein meine mir mich wir unser unsere
    je j mon ma mes nous notre nos yo mi mis nosotros nosotras nuestro nuestra"""
_SELF_WORDS = frozenset(f"{_SELF} i'm i've i'd i'll i’m i’ve i’d i’ll j'ai j’ai".split())
_IDLE = """talk talked talking speak spoke spoken say said tell told happen happened happening do
    did done doing go going went been discuss discussed discussing mention mentioned anything
    something everything conversation conversations chat chats session sessions day new news going
    write wrote written writing note notes noted
    rozmawiać rozmawiałem rozmawiałam rozmawialiśmy rozmawiałyśmy mówić mówiłem mówiłam mówiliśmy
    robić robiłem robiłam robiliśmy robiłyśmy zrobiłem zrobiłam zrobiliśmy działo dzieje wydarzyło
    stało było była były coś rozmowa rozmowy nowego pisać pisałem pisałam napisałem napisałam
    zapisałem zapisałam zanotowałem zanotowałam notatka notatki notatek zapiski
    говорить говорил говорила говорили делать делал делала делали сделал сделала сделали обсуждали
    обсуждать было была были произошло происходило случилось разговор разговоры нового
    писать писал писала написал написала записал записала заметка заметки заметок записи
    gemacht gesprochen geredet passiert geschehen getan besprochen war los neues
    geschrieben schrieb notiert notizen
    hice hicimos hablamos hablé pasó pasado dijimos hecho nuevo
    escribí escribimos escrito anoté notas
    fait parlé passé dit discuté quoi nouveau
    écrit noté notes"""
IDLE_WORDS = frozenset(map(fold, _IDLE.split()))
"""Words, folded, that ask what there was and say nothing of what about."""
_SAID = re.compile(r"[^\s.,;:!?()\[\]{}<>\"'’‘“”„«»…*_#|/\\\-–—=+`~¿¡]+")
_DIGITS = re.compile(r"\d")


def flags_of(text: str) -> int:
    """Return the bits of what a chunk's own words say."""
    said = _SAID.findall(fold(text[:_READ]))
    told = (
        "?" in text,
        text.rstrip().endswith("?"),
        not _SELF_WORDS.isdisjoint(text[:_BEGINNING].lower().split()),
        not _TIME_WORDS.isdisjoint(said),
        _DIGITS.search(text) is not None,
    )
    return sum(bit << at for at, bit in enumerate(told))


def asks_when(query: str) -> bool:
    """Tell whether a query asks for a time, as far as its own words say."""
    said = words(query[:_READ])
    joined = f" {' '.join(said)} "
    cues = [" ".join(cues.split()).split("|") for cues in (_WHEN, _OTHER)]
    for at, (_, *phrases) in enumerate(cues):
        if any(f" {phrase.strip()} " in joined for phrase in phrases):
            return at == 0
    when, other = (set(alone.split()) for alone, *_ in cues)
    return next((word in when for word in said if word in when | other), False)


Near = Callable[[str, str, str], float]
"""How near a chunk is to the time: from its own time (ISO, or empty), its text, its language."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """The times that a query names."""

    spans: tuple[Span, ...]
    near: Near = field(compare=False)

    @property
    def explicit(self) -> bool:
        """Tell whether nothing about them was guessed: then they may filter."""
        return all(span.explicit for span in self.spans)

    @property
    def inside(self) -> float:
        """Return how near a chunk must be to count as of that time."""
        edges = [(span, span.end, MARGIN) for span in self.spans if span.end]
        edges += [(span, span.start, -MARGIN) for span in self.spans if span.start]
        return min(closeness(span, edge + margin) for span, edge, margin in edges)

    @property
    def words(self) -> frozenset[str]:
        """Return the words, folded, that name them: they say when, not what."""
        return frozenset(word for span in self.spans for word in fold(span.text).split())

    @property
    def days(self) -> tuple[str, str]:
        """Return the first and the last day of all of them, ISO; both empty where one is open."""
        starts = [span.start for span in self.spans if span.start]
        ends = [span.end for span in self.spans if span.end]
        if len(starts) < len(self.spans) or len(ends) < len(self.spans):
            return "", ""
        last = max(ends) - timedelta(microseconds=1)
        return min(starts).date().isoformat(), last.date().isoformat()


def named_time(query: str, language: str, now: datetime) -> NamedTime | None:
    """Return the times of a query; None where it names none. `now`: what they are counted from."""
    found = spans(query, language, now)
    if not found:
        return None

    @cache
    def own(time: str) -> float:
        moment = _moment(time, now)
        return max(closeness(span, moment) for span in found) if moment else 0.0

    def near(time: str, text: str, language: str) -> float:
        nearest = own(time)
        if nearest < 1.0:
            said = _moment(time, now)
            for one in mentioned(text[:MAX_LETTERS], language, said or now):
                if said or one.explicit:
                    nearest = max(nearest, *(_overlap(span, one) for span in found))
        return nearest

    return NamedTime(found, near)


def _overlap(span: Span, told: Span) -> float:
    """Return how near a time that a text tells of is to the one that is asked for."""
    if told.start is None:
        return closeness(span, told.end) if told.end else 0.0
    half = (told.end - told.start) / 2 if told.end else NOON
    return closeness(span, told.start + min(NOON, half))


def _moment(time: str, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    if len(time) == len("2026-02-08"):
        moment += NOON
    return moment.replace(tzinfo=now.tzinfo)  # the day it was where it was said, as filters have it
