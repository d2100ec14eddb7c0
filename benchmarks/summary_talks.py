"""Generated conversations with planted facts, for benchmarks/summary.py. All sentences are ours."""

from __future__ import annotations

import random
from dataclasses import dataclass

from vaultmind.types import Message

KINDS = ("decision", "number", "name", "date")

THINGS = {
    "en": """north roof|kitchen floor|garden gate|guest bathroom|old chimney|cellar stairs
        |back porch|attic window|rain barrel|laundry room|bread oven|bicycle shed
        |apple press|stone wall|duck pond|wood stove|front hallway|reading corner
        |spice shelf|coat rack|garage door|tool cabinet|summer kitchen|herb garden
        |water pump|compost heap|bird table|swing bench|wine rack|sewing table|piano stool
        |map drawer|picture rail|letter box|door bell|night light|linen chest|study desk
        |corner sofa|dining lamp|balcony rail|gravel path|hen house|root cellar|drying loft
        |music stand|boot bench|window seat""",
    "pl": """dach północny|podłoga w kuchni|furtka|łazienka dla gości|stary komin
        |schody do piwnicy|tylny ganek|okno na strychu|beczka na deszczówkę|pralnia
        |piec chlebowy|wiata rowerowa|prasa do jabłek|mur z kamienia|staw dla kaczek
        |piec kaflowy|przedpokój|kącik do czytania|półka na przyprawy|wieszak na płaszcze
        |brama garażu|szafka na narzędzia|letnia kuchnia|grządka ziół|pompa wody
        |kompostownik|karmnik|huśtawka|stojak na wino|stół krawiecki|taboret do pianina
        |szuflada na mapy|listwa na obrazy|skrzynka na listy|dzwonek|lampka nocna
        |kufer na pościel|biurko|narożnik|lampa w jadalni|balustrada balkonu|ścieżka żwirowa
        |kurnik|ziemianka|suszarnia|pulpit na nuty|ława na buty|siedzisko przy oknie""",
    "ru": """северная крыша|пол на кухне|калитка|гостевая ванная|старый дымоход|лестница в подвал
        |заднее крыльцо|окно на чердаке|бочка для дождя|прачечная|хлебная печь
        |навес для велосипедов|пресс для яблок|каменная стена|утиный пруд|дровяная печь
        |прихожая|уголок для чтения|полка для специй|вешалка|гаражные ворота
        |шкаф для инструментов|летняя кухня|грядка с травами|водяной насос|компостная куча
        |кормушка|качели|винный стеллаж|швейный стол|табурет для пианино|ящик для карт
        |рейка для картин|почтовый ящик|дверной звонок|ночник|сундук для белья
        |письменный стол|угловой диван|лампа в столовой|перила балкона|гравийная дорожка
        |курятник|погреб|сушилка|пюпитр|скамья для обуви|сиденье у окна""",
}
CHOICES = {
    "en": """larch|slate|copper|oak|granite|zinc|cork|linen|brass|bamboo|marble|terracotta|willow
        |steel|sandstone|plywood|enamel|cedar|clay|wool|glass|walnut|reed|canvas""",
    "pl": """modrzew|łupek|miedź|dąb|granit|cynk|korek|len|mosiądz|bambus|marmur|terakota|wiklina
        |stal|piaskowiec|sklejka|emalia|cedr|glina|wełna|szkło|orzech|trzcina|płótno""",
    "ru": """лиственница|сланец|медь|дуб|гранит|цинк|пробка|лён|латунь|бамбук|мрамор|терракота
        |ива|сталь|песчаник|фанера|эмаль|кедр|глина|шерсть|стекло|орех|тростник|холст""",
}
NAMES = {
    "en": "Abbott|Barlow|Cowper|Dunmore|Ellery|Fairfax|Garland|Hobbs|Ingram|Jarrold|Kersey|Lomax",
    "pl": "Adamiak|Borecki|Cichoń|Drozd|Ekiert|Fijał|Gawron|Hejna|Iwan|Jarosz|Kmita|Lisiak",
    "ru": "Абрамов|Белкин|Громов|Дымов|Ежов|Жаров|Зимин|Ильин|Котов|Лапин|Мухин|Носов",
}
MONTHS = {
    "en": "January|March|April|May|July|September",
    "pl": "stycznia|marca|kwietnia|maja|lipca|września",
    "ru": "января|марта|апреля|мая|июля|сентября",
}
SAID = {
    "en": {
        "decision": (
            "We decided that the {thing} will be {value}.",
            "Let's go with {value} for the {thing}.",
            "Agreed: {value} it is for the {thing}.",
            "After all that we settled on {value} for the {thing}.",
        ),
        "number": (
            "The {thing} costs {value} euros.",
            "For the {thing} I measured {value} centimetres.",
            "They asked {value} pounds for the {thing}.",
        ),
        "name": (
            "{value} takes care of the {thing}.",
            "For the {thing} call Mrs {value}, she knows it best.",
        ),
        "date": (
            "The {thing} has to be ready by {value}.",
            "The people for the {thing} come on {value}.",
        ),
    },
    "pl": {
        "decision": (
            "Postanowiliśmy, że {thing} to będzie {value}.",
            "{thing}: wybieramy {value}.",
            "Ustaliliśmy jedno: {thing} i do tego {value}.",
        ),
        "number": (
            "{thing} kosztuje {value} złotych.",
            "Zmierzyłem: {thing} to {value} centymetrów.",
        ),
        "name": (
            "Tym, co nazywamy „{thing}”, zajmie się {value}.",
            "Kto zna temat „{thing}”, to pan {value}.",
        ),
        "date": (
            "{thing} ma być gotowe na {value}.",
            "Ekipa od tematu „{thing}” przyjdzie {value}.",
        ),
    },
    "ru": {
        "decision": (
            "Мы решили: {thing} — это будет {value}.",
            "{thing}: выбираем материал {value}.",
            "Договорились об одном: {thing} и к этому {value}.",
        ),
        "number": (
            "{thing} стоит {value} рублей.",
            "Замерил: {thing} — {value} сантиметров.",
        ),
        "name": (
            "Тем, что зовём «{thing}», займётся {value}.",
            "Про «{thing}» лучше всех знает господин {value}.",
        ),
        "date": (
            "{thing} должно быть готово к {value}.",
            "Мастера по теме «{thing}» придут {value}.",
        ),
    },
}
ASKED = {
    "en": {
        "decision": "What did we decide about the {thing}?",
        "number": "What was the number for the {thing}?",
        "name": "Who takes care of the {thing}?",
        "date": "When is the {thing} due?",
    },
    "pl": {
        "decision": "Co postanowiliśmy: {thing}?",
        "number": "Jaka była liczba: {thing}?",
        "name": "Kto się zajmuje: {thing}?",
        "date": "Na kiedy: {thing}?",
    },
    "ru": {
        "decision": "Что мы решили: {thing}?",
        "number": "Какое было число: {thing}?",
        "name": "Кто занимается: {thing}?",
        "date": "К какому сроку: {thing}?",
    },
}
FILLER = {
    "en": (
        "The light over the valley was soft this morning and the dog slept through breakfast.",
        "I keep wondering whether the {thing} was always that crooked.",
        "My neighbour says the {thing} reminds her of her grandmother's house.",
        "Honestly, there is a certain charm in things that do not quite fit.",
        "We talked for about two hours and then it started to rain.",
        "Did you see how the swallows came back?",
        "Could you explain it once more in simpler words?",
        "Sure, here is another way of looking at it.",
        "It depends on the weather, on patience and a little on luck.",
        "The smell of wet wood always makes me think of school holidays.",
        "Thanks, that helps a lot!",
        "I walked past the {thing} again and nothing had changed.",
        "Some people like it loud, others would rather have it quiet.",
        "That reminds me of a story about a lighthouse keeper and his cat.",
        "The {thing} looks better in the evening, when nobody looks closely.",
        "You might read a little about it first, there is no hurry.",
        "There were some children playing by the road, shouting rhymes.",
        "The radio played the same song all afternoon.",
    ),
    "pl": (
        "Światło nad doliną było dziś miękkie, a pies przespał całe śniadanie.",
        "Ciągle się zastanawiam, skąd się wzięło to, co nazywamy „{thing}”.",
        "Sąsiadka mówi, że {thing} przypomina jej dom babci.",
        "Szczerze mówiąc, jest pewien urok w rzeczach, które nie całkiem pasują.",
        "Rozmawialiśmy długo, a potem zaczęło padać.",
        "Widziałeś, jak wróciły jaskółki?",
        "Możesz to wyjaśnić jeszcze raz, prościej?",
        "Jasne, można na to spojrzeć inaczej.",
        "Wszystko zależy od pogody, od cierpliwości i trochę od szczęścia.",
        "Zapach mokrego drewna zawsze przypomina mi wakacje.",
        "Dzięki, to bardzo pomaga!",
        "Przechodziłem obok, {thing} bez zmian.",
        "Jedni lubią głośno, inni wolą ciszę.",
        "To mi przypomina historię o latarniku i jego kocie.",
        "Wieczorem {thing} wygląda lepiej, gdy nikt nie patrzy z bliska.",
        "Możesz najpierw trochę o tym poczytać, nie ma pośpiechu.",
        "Przy drodze bawiły się dzieci i wykrzykiwały rymowanki.",
        "W radiu przez całe popołudnie leciała ta sama piosenka.",
    ),
    "ru": (
        "Свет над долиной утром был мягким, а собака проспала весь завтрак.",
        "Всё думаю, откуда взялось то, что мы зовём «{thing}».",
        "Соседка говорит, что {thing} напоминает ей бабушкин дом.",
        "Честно говоря, есть своя прелесть в вещах, которые не совсем подходят.",
        "Мы долго говорили, а после начался дождь.",
        "Ты видел, как вернулись ласточки?",
        "Можешь объяснить ещё раз, попроще?",
        "Конечно, на это можно взглянуть иначе.",
        "Всё зависит от погоды, от терпения и немного от удачи.",
        "Запах мокрого дерева всегда напоминает мне каникулы.",
        "Спасибо, это очень помогает!",
        "Проходил мимо, {thing} без перемен.",
        "Одни любят, когда шумно, другие ценят тишину.",
        "Это напоминает мне историю о смотрителе маяка и его коте.",
        "Вечером {thing} выглядит лучше, когда никто не смотрит вблизи.",
        "Можно сначала немного об этом почитать, спешить некуда.",
        "У дороги играли дети и выкрикивали считалки.",
        "По радио весь день играла одна и та же песня.",
    ),
}


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact that was said once, and how one would ask for it."""

    kind: str
    at: int
    """The number of its message, from 1."""
    question: str
    value: str


@dataclass(frozen=True, slots=True)
class Talk:
    """A generated conversation."""

    language: str
    messages: tuple[Message, ...]
    planted: tuple[Planted, ...]


def make_talk(language: str, length: int, facts: int, seed: int) -> Talk:
    """Return a conversation with so many facts in it, three decisions among its first ten."""
    rng = random.Random(f"{language}-{length}-{seed}")
    things = _listed(THINGS, language)
    rng.shuffle(things)
    rest = rng.sample(range(11, length + 1), facts - 3)
    places = [*sorted(rng.sample(range(1, 11), 3)), *sorted(rest)]
    kinds = ["decision"] * 3 + [KINDS[number % len(KINDS)] for number in range(facts - 3)]
    values = _Values(language, rng)
    planted, said = [], {}
    for at, kind, thing in zip(places, kinds, things, strict=False):
        value = values.next(kind)
        said[at] = rng.choice(SAID[language][kind]).format(thing=thing, value=value)
        said[at] = said[at][0].upper() + said[at][1:]
        planted.append(Planted(kind, at, ASKED[language][kind].format(thing=thing), value))
    messages = [_message(n, said.get(n, ""), language, rng) for n in range(1, length + 1)]
    return Talk(language, tuple(messages), tuple(planted))


class _Values:
    """Gives each fact a value of its own."""

    def __init__(self, language: str, rng: random.Random) -> None:
        self._rng = rng
        self._choices = _listed(CHOICES, language)
        self._names = _listed(NAMES, language)
        self._months = _listed(MONTHS, language)
        rng.shuffle(self._choices)
        rng.shuffle(self._names)
        self._numbers = rng.sample(range(1013, 9989), 200)
        self._days = rng.sample([(d, m) for d in range(1, 29) for m in self._months], 100)

    def next(self, kind: str) -> str:
        """Return a value that no other fact has."""
        if kind == "decision":
            return self._choices.pop()
        if kind == "name":
            return self._names.pop()
        if kind == "number":
            return str(self._numbers.pop())
        day, month = self._days.pop()
        return f"{day} {month}"


def _listed(lists: dict[str, str], language: str) -> list[str]:
    return [" ".join(item.split()) for item in lists[language].split("|")]


def _message(number: int, fact: str, language: str, rng: random.Random) -> Message:
    things = _listed(THINGS, language)
    picked = rng.sample(FILLER[language], rng.choice((1, 2, 3)))
    texts = [one.format(thing=rng.choice(things)) for one in picked]
    if fact:
        texts.insert(rng.randrange(len(texts) + 1), fact)
    role = "user" if number % 2 else "assistant"
    return Message(role, " ".join(texts), "", id=f"t:{number}", block=f"m{number}")
