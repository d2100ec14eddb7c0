"""Numbers and times that a fact names, in English, Polish and Russian, digits or words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultmind.memory.words import fold

_NUMBER_WORDS = {
    1: "one jeden jedna jedno jednego jedna один одна одно одного одну",
    2: "two dwa dwie dwoje dwojka dwojke dwoch два две двое двоих двух",
    3: "three trzy troje trojka trojke trzech три трое троих трех",
    4: "four cztery czworo czworka czworke czterech четыре четверо четырех",
    5: "five piec piecioro piatka пять пятеро пяти",
    6: "six szesc шесть шести",
    7: "seven siedem семь семи",
    8: "eight osiem восемь восьми",
    9: "nine dziewiec девять девяти",
    10: "ten dziesiec десять десяти",
    12: "twelve dwanascie двенадцать",
}
_WEEKDAYS = (
    "monday mondays poniedzialek poniedzialki poniedzialku понедельник понедельникам понедельника",
    "tuesday tuesdays wtorek wtorki wtorku вторник вторникам вторника",
    "wednesday wednesdays sroda srody srode среда среды среду средам",
    "thursday thursdays czwartek czwartki czwartku четверг четвергам четверга",
    "friday fridays piatek piatki piatku пятница пятницу пятницам пятницы",
    "saturday saturdays sobota soboty sobote суббота субботу субботам субботы",
    "sunday sundays niedziela niedziele niedzieli воскресенье воскресеньям воскресенья",
)
_MONTHS = (
    "january stycznia styczniu styczen января январе январь январю",
    "february lutego lutym luty февраля феврале февраль февралю",
    "march marca marcu marzec марта марте март марту",
    "april kwietnia kwietniu kwiecien апреля апреле апрель апрелю",
    "may maja maju мая мае маи маю",
    "june czerwca czerwcu czerwiec июня июне июнь июню",
    "july lipca lipcu lipiec июля июле июль июлю",
    "august sierpnia sierpniu sierpien августа августе август августу",
    "september wrzesnia wrzesniu wrzesien сентября сентябре сентябрь сентябрю",
    "october pazdziernika pazdzierniku pazdziernik октября октябре октябрь октябрю",
    "november listopada listopadzie listopad ноября ноябре ноябрь ноябрю",
    "december grudnia grudniu grudzien декабря декабре декабрь декабрю",
)


def _by_word(lines: tuple[str, ...]) -> dict[str, str]:
    return {fold(w): str(n) for n, line in enumerate(lines, 1) for w in line.split()}


NOON = 12
"""Hours, and months: the most that both count to."""
_FULL_DATE = 2
_NUMBERS = {fold(w): str(n) for n, line in _NUMBER_WORDS.items() for w in line.split()}
_DAYS, _MONTH = _by_word(_WEEKDAYS), _by_word(_MONTHS)
_HOURS_SAID = {
    "siodmej": "7", "osmej": "8", "dziewiatej": "9", "dziesiatej": "10", "jedenastej": "11",
    "szostej": "6", "noon": "12", "midday": "12", "poludnie": "12", "poludniu": "12",
    "poludniem": "12", "midnight": "0", "polnoc": "0", "polnocy": "0", "полдень": "12",
    "полудня": "12", "полночь": "0", "полуночи": "0",
}  # fmt: skip
_CLOCK = re.compile(
    r"\b(\d{1,2})(?::|(?<=\b[oвк] \d)\.|(?<=\b[oвк] \d\d)\.|(?<=\bat \d)\.)([0-5]\d)"
    r"(?: ?([ap])\.?m\b\.?)?(?!\d|\.\d)"
    r"|\b(\d{1,2}) ?([ap])\.?m\b\.?"
    r"|\b(?:at|before|after|until|till|by|from|past|o|przed|po|do|od|kolo|в|к|до|после|с) "
    r"([01]?\d|2[0-4])(?!\d)(?: ?([ap])\.?m\b\.?"
    r"| ?(?:o'clock|h|rano|wieczorem|утра|вечера|часов|часа|год|godz))?"
    r"(?![\w:.,/%-]*\d"
    r"| ?(?:days?|weeks?|months?|years?|minut\w*|km|kg|lat|dni|дне\w|лет|мин\w*|percent|"
    r"tys|zl|eur|usd|k\b|%|тыс|руб|thousand|million|people|"
    r"stycz|lut|mar|kwie|maja|czer|lip|sier|wrz|paz|lis|gru|янв|фев|мар|апр|мая|июн|июл|авг|сен|"
    r"окт|ноя|дек|january|february|march|april|may|june|july|august|sept|oct|nov|dec))"
)
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\b(?! ?[ap]m)")
_HAVE = re.compile(r"(?<!\bod )(?<!\bdo )(?<!\bz )(?<!\d )\bmaja\b")
"""Polish for "they have", once its diacritics are gone; the month stands after these."""
_NUMBER = re.compile(r"\d+(?:[ .,-]?\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DAY_OF_MONTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|-go|-е|-ого)?(?: of)? ([^\W\d_]+)")
_MONTH_DAY = re.compile(r"\b([^\W\d_]+) (\d{1,2})(?:st|nd|rd|th)?\b(?!:)")


@dataclass(frozen=True, slots=True)
class Measures:
    """The times and numbers of a text, each as a plain word."""

    days: frozenset[str]
    clocks: frozenset[str]
    dates: frozenset[str]
    months: frozenset[str]
    numbers: tuple[str, ...]

    def times(self) -> tuple[str, ...]:
        """Return every time named, told apart by kind."""
        kinds = (("day", self.days), ("clock", self.clocks), ("date", self.dates))
        said = [f"{kind}:{one}" for kind, ones in kinds for one in sorted(ones)]
        return tuple(said) or tuple(f"month:{one}" for one in sorted(self.months))


def measures(folded: str, used: set[str]) -> Measures:
    """Return the times and numbers of a folded text; their words are added to `used`."""
    dates, rest = _dates(folded, used)
    clocks: set[str] = set()

    def clock(match: re.Match[str]) -> str:
        clocks.add(_hour(match))
        used.update(_parts(match.group()))
        return " "

    rest = _CLOCK.sub(clock, rest)
    words = _WORD.findall(_HAVE.sub(" ", rest))
    clocks.update(_HOURS_SAID[word] for word in words if word in _HOURS_SAID)
    numbers = [re.sub(r"[ ,.-](?=\d{3}\b)|-", "", found) for found in _NUMBER.findall(rest)]
    numbers += [_NUMBERS[word] for word in words if word in _NUMBERS]
    for table in (_DAYS, _MONTH, _NUMBERS, _HOURS_SAID):
        used.update(word for word in words if word in table)
    used.update(part for part in _parts(rest) if part[0].isdigit())
    return Measures(
        frozenset(_DAYS[word] for word in words if word in _DAYS),
        frozenset(clocks),
        frozenset(dates),
        frozenset(_MONTH[word] for word in words if word in _MONTH),
        tuple(numbers),
    )


def is_number(word: str) -> bool:
    """Tell whether a folded word is a number, in digits or in letters."""
    return word[:1].isdigit() or word in _NUMBERS


def _parts(said: str) -> list[str]:
    return re.findall(r"\w+", said)


def _dates(folded: str, used: set[str]) -> tuple[set[str], str]:
    dates: set[str] = set()

    def plain(match: re.Match[str]) -> str:
        dates.add(match.group())
        used.update(_parts(match.group()))
        return " "

    def said(match: re.Match[str]) -> str:
        day, month = (match[1], match[2]) if match[1].isdigit() else (match[2], match[1])
        if month not in _MONTH:
            return match.group()
        dates.add(f"{day}.{_MONTH[month]}")
        used.update(_parts(match.group()))
        return f" od {month} "

    rest = folded
    if any(word in _MONTH for word in _WORD.findall(folded)):
        rest = _MONTH_DAY.sub(said, _DAY_OF_MONTH.sub(said, folded))
    return dates, _DATE.sub(lambda m: plain(m) if _calendar(m.group()) else m.group(), rest)


def _calendar(said: str) -> bool:
    parts = [int(part) for part in re.split(r"[-./]", said)]
    full = said.count("-") + said.count(".") + said.count("/") == _FULL_DATE
    return full or ("/" in said and 1 <= parts[1] <= NOON)


def _hour(match: re.Match[str]) -> str:
    hour, minutes, half = (
        match[1] or match[4] or match[6],
        match[2],
        match[3] or match[5] or match[7],
    )
    late = NOON if half == "p" and int(hour) < NOON else 0
    return f"{int(hour) + late}" + (f":{minutes}" if minutes and minutes != "00" else "")
