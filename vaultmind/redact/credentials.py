"""Credentials told in a sentence: a word that announces one, and what in the sentence looks so.

Each kind is a list of words in English, Polish and Russian and the shape of its value; the two
stand in one sentence, in any order and with anything between. What a household shares (the code
of a door, an alarm, a locker) and what names something (a user, a network, a version) stays.

The lists stand in `words.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vaultmind.redact.spans import Span
from vaultmind.tables import table

_SENTENCE = re.compile(r"(?:[^.!?…\n]|[.!?…](?!\s)){1,600}")
_TOKEN = re.compile(r"(?<![\d+] )\b\d{3} \d{3}(?![ -]?\d)|[^\s\"„“”«»‹›`(),;|<>\[\]{}]+")
_WORD = re.compile(r"[^\W\d_]+")
_FOLD = str.maketrans("ąćęłńóśźżё", "acelnoszz\N{CYRILLIC SMALL LETTER IE}")


def _any_of(name: str) -> re.Pattern[str]:
    """Compile a list of words."""
    words = "|".join(table(__file__)[name].split())
    return re.compile(rf"\b(?:{words})\b".replace("*", r"\w*").replace("_", " "))


_PASSWORD, _ACCESS, _KEY, _PIN = map(_any_of, ("password", "access", "key", "pin"))
_CARD_CODE, _CODE, _ONCE = map(_any_of, ("card_code", "code", "once"))
_HOUSE, _NAMING, _PROSE, _TELLS = map(_any_of, ("house", "naming", "prose", "announcing"))
"""Of a household; what names something; words which no list of recovery words holds; and what else
announces a secret of any shape."""
_NO_PIN = re.compile(rf"{_HOUSE.pattern}|\bpin (?:the|it|this|that|them|at|down|up)\b")
_ORDINARY = table(__file__)["no_password"]
"""Addresses, file and module names, versions, dates, hashes, constants: no passwords."""
_PRODUCT = r"[^\W\d_]+\d{1,3}|[A-Z]{2,}\d+\w*|[a-z]\d-\w+|[a-z0-9]+(?:-[a-z0-9]+)+"
"""`Android14`, `OAuth2`, `dev-server-02`: a password only where the sentence says so."""
_PLACED = re.compile(rf"\b(?:on|in|with|at|from|for|w|na|z|do|в|на|с|из|для) (?:{_PRODUCT})\Z")
_LETTER = r"[^\W\d_]"
_STRONG = (
    rf"(?!(?:{_ORDINARY})\Z)(?=(?:[\W\d_]*{_LETTER}){{2}})"
    rf"(?=.*\d|{_LETTER}+(?:_{_LETTER}+)*_[A-Z][a-z]).{{6,100}}"
)
"""Letters with digits, or words joined by `_` with a capital: `Moss_On_Granite`."""
_MIXED = rf"(?!(?:{_PRODUCT})\Z)(?=.*[a-zа-я]){_STRONG}"
_TURNS = rf"{_LETTER}\D*\d[\d\W_]*{_LETTER}\D*\d|\d[\d\W_]*{_LETTER}\D*\d[\d\W_]*{_LETTER}"
_MACHINE_KEY = rf"(?!(?:{_ORDINARY})\Z)(?=.*?(?:{_TURNS})).{{12,100}}"
"""Letters and digits take turns three times; in `sha256` they do once."""
_CODE_SHAPE = (
    r"\d{4,8}|\d{3} \d{3}|(?=.*\d)(?:[A-Z0-9]{2,4}-[A-Z0-9]{2,4}|[a-z0-9]{4,6}(?:-[a-z0-9]{4,6})+)"
)
_HOUSE_CODE = re.compile(r"(?<![\w.,-])(?!(?:19|20)\d\d\b)\d{3,8}(?![\w-]|[.,]\d)")
_VALUE = re.compile(r"\d|_[A-Z]")
"""What every value has: a sentence without it is not read."""
_KINDS = (
    ("password", (_PASSWORD,), None, _STRONG),
    ("password", (_ACCESS,), _NAMING, _MIXED),
    ("token", (_KEY,), None, _MACHINE_KEY),
    ("PIN", (_PIN,), _NO_PIN, r"\d{4,8}"),
    ("PIN", (_CARD_CODE,), _HOUSE, r"\d{3,4}"),
    ("token", (_CODE, _ONCE), _HOUSE, _CODE_SHAPE),
)
"""Kind, what announces it (all of it), what rules it out, and the shape of its value."""
_BEGINNINGS = {
    word[:3]
    for _, announcing, other, _ in _KINDS
    for words in (*announcing, other or _CODE)
    for word in _WORD.findall(words.pattern)
}
_RECOVERY_WORDS = re.compile(
    r"(?:(?<=[„“«:])|(?<=\")(?<!\"\"))[ \t]?(?P<value>(?:[^\W\d_]{3,9} ){11,23}[^\W\d_]{3,9})"
    r"(?=[\"”».\n]|\Z)"
)
"""Twelve or more words, bare, in quotes or after a colon."""
_PHRASE = re.compile(
    r"(?:passphrase|(?<!key )(?<!catch )\bphrase|fraza|фраза):[ \t]"
    r"|(?:code phrase|кодовая фраза)[ \t](?:is[ \t])?"
)
_PHRASE_WORDS = re.compile(
    r"(?P<value>(?:[^\W\d_]{3,12}[ \t]){1,5}(?:[^\W\d_]{3,12}|\d{1,4}))(?=[.,;\n]|\Z)"
)
"""Several words, with a number or without, to the end of what stands after it."""


def has_household_code(text: str) -> bool:
    """Tell whether a text holds the code of a door, an alarm or a locker, which may be kept."""
    low = text.lower().translate(_FOLD)
    return bool(_HOUSE.search(low) and _HOUSE_CODE.search(low))


def announces(text: str) -> bool:
    """Tell whether a text says that it is about a password, a PIN, a card or a secret word."""
    low = text.lower().translate(_FOLD)
    return any(one.search(low) for one in (_PASSWORD, _PIN, _CARD_CODE, _TELLS))


def is_name(value: str) -> bool:
    """Tell whether a value looks like plain words, a product's name (`Android14`), or a share."""
    plain = rf"{_LETTER}+(?:\W*\s\W*{_LETTER}+)*\W*"
    return bool(re.fullmatch(rf"{_PRODUCT}|{plain}|%*\d+%+", value))


def credentials(text: str) -> Iterator[Span]:
    """Yield where credentials stand in a text, and their kinds, in order and apart."""
    low = text.lower().translate(_FOLD)
    for found in _RECOVERY_WORDS.finditer(low):
        if not _PROSE.search(found["value"]):
            yield *found.span("value"), "password"
    for said in _PHRASE.finditer(low):
        if words := _PHRASE_WORDS.match(low, said.end()):
            yield *words.span("value"), "password"
    if _VALUE.search(text) and _announced(low):
        for sentence in _SENTENCE.finditer(text):
            start, end = sentence.span()
            if not _VALUE.search(text, start, end):
                continue
            for first, last, kind in _in_sentence(text[start:end], low[start:end]):
                yield start + first, start + last, kind


def _announced(low: str) -> list[tuple[str, str]]:
    """Return the kinds that a folded text announces, and the shapes of their values."""
    said = " ".join(word if word[:3] in _BEGINNINGS else "." for word in _WORD.findall(low))
    return [
        (kind, shape)
        for kind, announcing, other, shape in _KINDS
        if all(words.search(said) for words in announcing)
        and (other is None or not other.search(said))
    ]


def _in_sentence(sentence: str, low: str) -> Iterator[Span]:
    kinds = _announced(low)
    for match in _TOKEN.finditer(sentence) if kinds else ():
        value = match.group().strip(".:!?*'’—–-")
        start = match.start() + match.group().index(value)
        end = start + len(value)
        kind = next((kind for kind, shape in kinds if re.fullmatch(shape, value)), None)
        before, after = low[max(0, start - 12) : start], low[end : end + 2]
        if kind == "password":
            is_other = _PLACED.search(before + value)
        else:  # digits that count something ("pin 1000 photos"), or are part of a longer number
            is_other = re.match(r"[ -]?\d", after) or re.search(r"(?:^|[^a-z\d])\d\w* $", before)
            if " " in value or before.endswith("pin "):
                is_other = is_other or re.match(r" ?[^\W\d_]", after)
        if kind and not is_other:
            yield start, end + (sentence[end : end + 1] == "!"), kind
