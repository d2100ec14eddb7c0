"""Relations that hold one value: a home, an employer, a name, a date; in three languages.

Patterns as in `relations`: no capitals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from vaultmind.memory.contradictions.relations import pattern

Kind = Literal["place", "name", "word", "number", "time", "mail", "any"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A relation of one value: what says it, what takes it back, what its values look like."""

    name: str
    kind: Kind
    cue: re.Pattern[str]
    loss: re.Pattern[str] | None = None


SLOTS = (
    Slot(
        "residence",
        "place",
        pattern(
            r"""(?:liv(?:e|es|ing)|resid(?:e|es|ing)|settled|based|moved|relocated)
            (?: (?:now|currently|back|permanently|house|recently|again|from [\w-]+))* (?:in|to)|
            rents? an? (?:flat|apartment|house|room|studio) in|home is in|
            wynajmuj\w+(?: teraz)? (?:mieszkanie|dom|pokój|kawalerkę) (?:w|we|na)|
            снима\w+(?: теперь)? (?:квартиру|дом|комнату) (?:в|во|на)|
            (?:mieszka(?:m|my|ją)?|zamieszka\w*|przeprowadził\w* się|przeniósł się|przeniosł\w+ się|
            osiad\w+|wprowadził\w* się|wrócił\w*|przeprowadzi\w+ się)
            (?: (?:teraz|już|obecnie|znowu|znów|na stałe|ostatnio|z [\w-]+))* (?:w|we|do|na|pod)|
            (?:жив(?:у|ет|ем|ут)|прожива\w+|переехал\w*|перебрал\w+|посели\w+|вернул\w+)
            (?: (?:теперь|сейчас|уже|снова|опять|недавно|жить|из [\w-]+))* (?:в|во|на|под)"""
        ),
        pattern(
            r"""moved (?:out of|away from)|left|wyprowadził\w* się z|wyjechał\w* z|
            уехал\w* из|съехал\w* из|выехал\w* из"""
        ),
    ),
    Slot(
        "employer",
        "place",
        pattern(
            r"""(?:works?|working|employed|job|position)(?: (?:now|currently|again|remotely|
            full[ -]time|as an? [\w-]+(?: [\w-]+)?))* (?:at|for|with|by)|joined|was hired by|
            (?:teaches|lectures|interns|serves) at|start(?:ed|s|ing)
            (?: a| an| my| her| his)?(?: new)?(?: job| work| working)?(?: last \w+| today)?
[ ](?:at|with)|changed jobs?,?(?: is| i'm)? now (?:at|with)|
            zmienił\w* pracę,?(?: (?:jest|jestem|teraz|obecnie))* (?:w|we|na|u)|
            (?:сменил\w*|поменял\w*) работу[,:]?(?: теперь)? (?:в|во|на|у)|
            (?:pracuj\w+|zatrudnion\w+|prac[aęy]|etat|zatrudnił\w* się)
            (?: (?:teraz|już|obecnie|znowu|jako \w+(?: \w+)?))* (?:w|we|dla|u)|
            (?:работа(?:ю|ет|ем)|работу|работа|устроил\w+(?: на работу)?)
            (?: (?:теперь|сейчас|уже|снова|\w+(?:ом|ем|ером|истом|ником)))* (?:в|во|на|у)"""
        ),
        pattern(
            r"""left|quit|resigned from|was (?:fired|laid off) (?:from|by)|odesz\w+ z|odszedł z|
            zwolnił\w* się z|zwolnion\w+ z|rzucił\w* pracę w|уволил\w+ из|ушел из|ушла из"""
        ),
    ),
    Slot(
        "job",
        "word",
        pattern(
            r"""(?:works?|working|job) as(?: an?)?|
            (?:pracuj\w+|zatrudnion\w+)(?: (?:teraz|obecnie))? jako|
            работа(?:ю|ет)(?: (?:теперь|сейчас))?(?= \w+(?:ом|ем|ои|ером|истом|ницеи)\b)"""
        ),
    ),
    Slot(
        "name",
        "name",
        pattern(
            r"""name is|name's|(?:is|are|am) (?:called|named)|nazywa\w* się|ma\w* na imię|
            (?:na )?imię(?: to)?|зовут|имя"""
        ),
    ),
    Slot(
        "called",
        "name",
        pattern(
            r"""(?:call|address) (?:me|him|her)(?: as)?|goes by|mów\w* (?:do )?mi|
            zwraca\w* się do mnie(?: per)?|называ\w+ меня|обраща\w+ ко мне"""
        ),
    ),
    Slot(
        "partner",
        "name",
        pattern(
            r"""(?:wife|husband|girlfriend|boyfriend|fiancee?)(?: is)?|
            (?:żon[aąyę]|mąż|męża|dziewczyn\w+|chłopak\w*|narzeczon\w+)|
            (?:жен[аоуы]й?|муж\w*|девушк\w+|невест\w+|жених\w*)"""
        ),
    ),
    Slot(
        "boss",
        "name",
        pattern(
            r"""(?:boss|manager|supervisor|team lead|reports to)(?: is)?|
            (?:szef\w*|kierowni\w+|przełożon\w+)|(?:начальни\w+|руководител\w+|шеф\w*|босс\w*)"""
        ),
    ),
    Slot(
        "age",
        "number",
        pattern(
            r"""turned(?= \d{1,3}\b)|
            (?:is|am|aged|'s)(?: now)?(?= \d{1,3}(?: years old| now|\s*[,.;]|\s*$))|
            (?:ma|mam|skończył\w*)(?: już)?(?= \d{1,3} (?:lat|lata|rok)\b)|
            (?:мне|ему|ей|исполнилось|\w+)(?: уже)?(?= \d{1,3} (?:год|года|лет)\b(?! опыт| стаж))"""
        ),
    ),
    Slot(
        "measure",
        "number",
        pattern(
            r"""budget|rent|salary|earns|weighs|weight|height|shoe size|phone(?: number)?|price|
            budżet\w*|czynsz\w*|pensj\w+|zarabia\w*|waży|waga|wzrost\w*|rozmiar buta|telefon\w*|
            numer telefonu|
            бюджет\w*|аренд\w+ плат\w+|зарплат\w*|зарабатыва\w*|весит|вес|рост|размер обуви|
            (?:номер )?телефон\w*"""
        ),
    ),
    Slot("mail", "mail", pattern(r"e-?mail\w*|mail\w*|почт\w*|мейл\w*|имейл\w*|adres\w*")),
    Slot(
        "date",
        "time",
        pattern(
            r"""deadline|due(?: date| on| by)?|birthday|wedding|exam|flight|departure|release|
            launch|
            appointment|interview|anniversary|premiere|
            termin\w*|urodzin\w*|ślub\w*|egzamin\w*|lot|wylot\w*|wizyt\w*|rozmow\w+ kwalifikacyj\w+|
            rocznic\w*|premier\w*|deadline'?u?|
            срок\w*|дедлайн\w*|день рождения|свадьб\w*|экзамен\w*|вылет\w*|рейс\w*|прием\w*|
            собеседован\w*|годовщин\w*|релиз\w*"""
        ),
    ),
    Slot(
        "choice",
        "any",
        pattern(
            r"""favou?rite|default|native|mother tongue|time ?zone|nationality|citizenship|
            main|primary|blood (?:type|group)|(?:zodiac|star) sign|
            ulubion\w+|domyśln\w+|ojczyst\w+|stref\w+ czasow\w+|narodowość|obywatelstwo|główn\w+|
            grup\w+ krwi|znak zodiaku|
            любим\w+|родн(?:ой|ым)|часов\w+ пояс\w*|национальность|гражданство|основн\w+|главн\w+|
            групп\w+ крови|знак зодиака"""
        ),
    ),
)
COPULA = pattern(
    r"""is(?: now)?|are|will be|has become|changed to|jest(?: teraz)?|są|to(?: teraz)?|będzie|
    zmienił\w* się na|это|теперь|сейчас|стал\w*|будет"""
)
SIGNS = re.compile(r"\s[-–—=]\s|:\s")
