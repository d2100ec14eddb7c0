"""Days told by words: `the nineteenth`, `siódmego`, `двадцать третье`. English, Polish, Russian."""

from __future__ import annotations

import re
from functools import cache

from vaultmind.memory.words import fold

_UNITS = (
    ("first", "pierwsz", "перв"),
    ("second", "drugi", "втор"),
    ("third", "trzeci", "трет"),
    ("fourth", "czwart", "четверт"),
    ("fifth", "piąt", "пят"),
    ("sixth", "szóst", "шест"),
    ("seventh", "siódm", "седьм"),
    ("eighth", "ósm", "восьм"),
    ("ninth", "dziewiąt", "девят"),
    ("tenth", "dziesiąt", "десят"),
    ("eleventh", "jedenast", "одиннадцат"),
    ("twelfth", "dwunast", "двенадцат"),
    ("thirteenth", "trzynast", "тринадцат"),
    ("fourteenth", "czternast", "четырнадцат"),
    ("fifteenth", "piętnast", "пятнадцат"),
    ("sixteenth", "szesnast", "шестнадцат"),
    ("seventeenth", "siedemnast", "семнадцат"),
    ("eighteenth", "osiemnast", "восемнадцат"),
    ("nineteenth", "dziewiętnast", "девятнадцат"),
    ("twentieth", "dwudziest", "двадцат"),
)
_THIRTY = ("thirtieth", "trzydziest", "тридцат")
_TENS = {"twenty": 20, "thirty": 30, "dwudziest": 20, "trzydziest": 30, "двадцать": 20}
_TENS |= {"тридцать": 30}
TEN = 10
_ENDINGS = r"(?:(?<=[a-z])(?:y|ego|a|ej|e|i|iego|iej|ia|im|ym)?|ь?[еоиыуюя]\w{0,2})"


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, int]]:
    stems = {fold(stem): at for at, row in enumerate(_UNITS, 1) for stem in row}
    stems |= {fold(stem): 30 for stem in _THIRTY}
    tens = "|".join(sorted(map(fold, _TENS), key=len, reverse=True))
    units = "|".join(sorted(stems, key=len, reverse=True))
    return re.compile(rf"\b(?:({tens})(?:ego|y|a)?[ -])?({units}){_ENDINGS}(?!\w)"), stems


def ordinals(folded: str) -> set[str]:
    """Return the ordinal numbers that a folded text spells, as digits."""
    pattern, stems = _pattern()
    tens = {fold(word): value for word, value in _TENS.items()}
    found: set[str] = set()
    for match in pattern.finditer(folded):
        value = stems[match.group(2)]
        if match.group(1) and value < TEN:
            value += tens[match.group(1)]
        found.add(str(value))
    return found
