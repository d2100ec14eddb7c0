"""Numbers of a text, in digits and in words, each written in one way. English, Polish, Russian."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultmind.consolidate.facts.ordinals import ordinals
from vaultmind.memory.words import fold

_WORDS = {
    1: "one once jeden jedna jedno jednego jednej jedna один одна одно одну одного однои",
    2: "two twice both couple pair para pare pary пара пару пары "
    "dwa dwie dwoch dwoje dwom dwoma dwojka dwojke два две двое двоих двух двумя "
    "дважды оба обе",
    3: "three trzy trzech trzem troje trojka trojke три трое троих трех тремя трижды",
    4: "four cztery czterech czworo czworka четыре четверо четырех",
    5: "five piec pieciu piecioro piatka пять пяти пятеро",
    6: "six szesc szesciu szostka шесть шести",
    7: "seven siedem siedmiu семь семи",
    8: "eight osiem osmiu восемь восьми",
    9: "nine dziewiec dziewieciu девять девяти",
    10: "ten dziesiec dziesieciu десять десяти",
    11: "eleven jedenascie jedenastu одиннадцать одиннадцати",
    12: "noon midday midnight poludnie poludniu polnoc polnocy полдень полудня полночь полуночи "
    "twelve dozen dwanascie dwunastu tuzin двенадцать двенадцати дюжина",
    13: "thirteen trzynascie trzynastu тринадцать тринадцати",
    14: "fourteen czternascie czternastu четырнадцать четырнадцати",
    15: "fifteen pietnascie pietnastu пятнадцать пятнадцати",
    16: "sixteen szesnascie szesnastu шестнадцать шестнадцати",
    17: "seventeen siedemnascie siedemnastu семнадцать семнадцати",
    18: "eighteen osiemnascie osiemnastu восемнадцать восемнадцати",
    19: "nineteen dziewietnascie dziewietnastu девятнадцать девятнадцати",
    20: "twenty dwadziescia dwudziestu двадцать двадцати",
    30: "thirty trzydziesci trzydziestu тридцать тридцати",
    40: "forty czterdziesci czterdziestu сорок сорока",
    50: "fifty piecdziesiat piecdziesieciu пятьдесят пятидесяти",
    60: "sixty szescdziesiat szescdziesieciu шестьдесят шестидесяти",
    70: "seventy siedemdziesiat siedemdziesieciu семьдесят семидесяти",
    80: "eighty osiemdziesiat osiemdziesieciu восемьдесят восьмидесяти",
    90: "ninety dziewiecdziesiat dziewiecdziesieciu девяносто девяноста",
    100: "sto stu сто ста",
    200: "dwiescie dwustu двести двухсот",
    300: "trzysta trzystu триста трехсот",
    400: "czterysta czterystu четыреста четырехсот",
    500: "piecset пятьсот пятисот",
    600: "szescset шестьсот шестисот",
    700: "siedemset семьсот семисот",
    800: "osiemset восемьсот восьмисот",
    900: "dziewiecset девятьсот девятисот",
}
_SCALES = {
    100: "hundred hundreds",
    1000: "thousand thousands k tys tysiac tysiace tysiecy тыс тысяча тысячи тысяч тысячу",
    10**6: "million millions mln milion miliony milionow млн миллион миллиона миллионов",
}
PARTS = {
    0.5: "half pol wpol polowa polowe polowy пол половина половину половинои",
    0.25: "quarter kwadrans cwierc четверть четверти",
}
_WITH_HALF = "poltora poltorej полтора полторы полутора"
_BY_VALUE: dict[float, str] = dict([*_WORDS.items(), (1.5, _WITH_HALF)])
_VALUE = {fold(word): value for value, line in _BY_VALUE.items() for word in line.split()}
_SCALE = {fold(word): value for value, line in _SCALES.items() for word in line.split()}
_GROUPED = re.compile(r"(?<=\d)[ \u00a0\u202f.,'](?=\d{3}(?!\d))")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")
_PART = {fold(word): value for value, line in PARTS.items() for word in line.split()}
_HALF_OF = re.compile(
    r"\bпол(?=(?:час|кило|год|месяц|литр|метр|втор|трет|четв|пят|шест|седьм|восьм|девят|десят|один|двен))"
)
_STEM = 4
"""Letters from which a number opens a longer word (`dwunastoletni`, `четырехкомнатная`)."""
_AND = frozenset({"and", "a", "i", "с"})
_SMALLEST = 3
"""Ordinals below stand for much else (`the first`, `second`, `drugi`)."""


def numbers(text: str, *, parts: bool = False) -> frozenset[str]:
    """Return the numbers of a text as plain digits: `1,200`, `twenty-five`, `5k`, `piąty`.

    `parts`: also those that others are made of, or that a word begins with.
    """
    folded = _HALF_OF.sub("пол ", fold(text))
    found = {one for one in ordinals(folded) if parts or int(one) >= _SMALLEST}
    run: list[float] = []
    """What was read of a number in words: whole thousands, and what stands below them."""
    for token in _TOKEN.findall(_GROUPED.sub("", folded)):
        value = float(token.replace(",", ".")) if token[0].isdigit() else _VALUE.get(token)
        ends = value is None or token[0].isdigit() or (run and not _continues(run[-1], value))
        if run and ends and not (value is None and _goes_on(token)):
            found.add(_plain(sum(run)))
            run.clear()
        if value is not None and run and run[-1] < 1000:  # noqa: PLR2004
            run[-1] += value
        elif value is not None:
            run.append(value)
        elif token in _PART:
            run[-1:] = [(run[-1] if run else 0) + _PART[token]]
        elif token in _SCALE and (run or token != "k"):
            run[-1:] = [(run[-1] if run else 1) * _SCALE[token]]
        if parts:
            found.update(_within(token))
    if run:
        found.add(_plain(sum(run)))
    if "0.5" in found and parts:
        found |= {f"{one}.5" for one in ("1", *found) if one.isdigit()}
    return frozenset(found)


def _goes_on(token: str) -> bool:
    return token in _AND or token in _PART or token in _SCALE


def _within(token: str) -> Iterator[str]:
    if token[0].isdigit():
        yield plain(token)
    for word, value in (*_VALUE.items(), *_PART.items()):
        if token == word or (len(word) >= _STEM and token.startswith(word)):
            yield _plain(value)


def _plain(value: float) -> str:
    return f"{value:f}".rstrip("0").rstrip(".")


def plain(digits: str) -> str:
    """Return `1,50` as `1.5` and `07` as `7`."""
    whole, _, rest = digits.replace(",", ".").partition(".")
    rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")


def _continues(read: float, value: float) -> bool:
    """Tell whether a number in words goes on: `twenty five`, `two hundred twenty`, `sto pięć`."""
    place = 10 ** len(str(int(value))) if value > 9 else 10  # noqa: PLR2004
    return read >= place * (value > 9 or 2) and read % place == 0  # noqa: PLR2004
