"""Numbers, months and days of the week in a text, in digits and in words: en, pl, ru."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from vaultmind.language.words import fold

SHORT = 4
"""A longer number word may begin another (`dwunastoletni`)."""
_GROUPED = re.compile(r"(?<=\d)[ \u00a0\u202f.,'](?=\d{3}(?!\d))")
_HALF_OF = re.compile(r"\bпол-?(?=\w{3})(?!тор|ови|уч|ез|ож|ит|ь|н|а|я)")
"""Russian `полдевятого`, `полкило`."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")


def month_of(word: str) -> float | None:
    """Return which month a word names; `may` and `march` in small letters are none."""
    return None if word in ("may", "march", "mar", "sep") else value_of(word.casefold(), kind="mo")


def weekday(word: str) -> float | None:
    """Return which day of the week a word names, Monday being 0."""
    return value_of(word.casefold(), kind="wd")


@cache
def _table(kind: str) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """Return the words of a kind of number, and the stems of others, each with its value.

    Kinds are "" for numbers, "th" for ranks, "mo" for months, "wd" for days of the week.
    """
    lines = Path(__file__).with_name("numbers.txt").read_text("utf-8").splitlines()
    forms = [
        (form, float(number.removeprefix(kind)))
        for number, *words in map(str.split, lines)
        if number.rstrip("0123456789.") == kind
        for word in words
        for form in (word, fold(word))
    ]
    whole = {form: value for form, value in reversed(forms) if not form.endswith("*")}
    stems = {form[:-1]: value for form, value in forms if form.endswith("*")}
    return whole, sorted(stems.items(), key=lambda one: -len(one[0]))


@lru_cache(maxsize=20_000)
def value_of(token: str, *, kind: str = "", loose: bool = False) -> float | None:
    """Return what number of a kind a word is; `loose`: or begins with (`dwunastoletni`)."""
    whole, stems = _table(kind)
    if token in whole:
        return whole[token]
    begins = next((value for stem, value in stems if token.startswith(stem)), None)
    if begins is not None or not loose:
        return begins
    begun = [one for one in whole if len(one) > SHORT and token.startswith(one)]
    half = 0.5 if token.startswith(("пол", "pół")) else None
    return whole[max(begun, key=len)] if begun else half


def numbers(text: str, *, parts: bool) -> frozenset[str]:
    """Return the numbers of a text as plain digits: `1,200`, `twenty-five`, `5k`, `piąty`.

    `parts`: also those that others are made of, or that stand for much else (`one`, `second`).
    """
    found: set[str] = set()
    run: list[float] = []
    """What was read of a number: whole thousands, and what stands below them."""
    text = _HALF_OF.sub("пол ", _GROUPED.sub("", text.casefold()))
    for token in (*_NUMBER.findall(text), ""):
        value = None
        if token[:1].isdigit():
            value = float(token.replace(",", "."))
            found.update(re.findall(r"\d+", token) if parts else ())
        elif weekday(token) is None:
            rank = value_of(token, kind="th")
            value = rank if rank is not None else value_of(token, loose=parts)
        if run and value in _SCALES and run[-1] < value:
            run[-1] *= value
        elif run and value is not None and not token[0].isdigit() and _goes_on(run[-1], value):
            run[-1:] = [run[-1] + value] if run[-1] < _SCALES[1] else [run[-1], value]
        elif token not in _AND or not run:
            found.update({plain(sum(run))} if run and (parts or sum(run) not in (1, 2)) else ())
            run = [value] if value is not None else []
        if value is not None and parts and value not in _SCALES[1:]:
            found.add(plain(value))
    return frozenset(found)


_SCALES = (100.0, 1000.0, 1_000_000.0)
_AND = frozenset({"and", "i", "с", "z"})


def _goes_on(read: float, number: float) -> bool:
    """Tell whether a number in words goes on: `twenty five`, `sto pięć`, `трое с половиной`."""
    if number < 1:
        return True
    place = 10 ** len(str(int(number)))
    return read >= place and read % place == 0 and (number > 9 or read % 100 != 10)  # noqa: PLR2004


def plain(value: float) -> str:
    """Return a number without needless digits: `1.5`, `7`."""
    return f"{value:f}".rstrip("0").rstrip(".")
