"""Words of one family: what a stemmer leaves apart in languages that change a word's inside.

Polish and Russian write one word with another consonant or vowel from case to case and from
aspect to aspect (`książka, książce, książek`; `молоток, молотка`; `zamówić, zamawiać`; `проверить,
проверять, проверка`). A stem is what is left of a word without its ending; a root is that with
what changes levelled: softened consonants as the hard ones, vowels that come and go left out, the
vowels of aspect as one. Roots meet more often than stems, now and then wrongly, so a word's kin
only fills in below what has its stem. Pure; tokens are folded as `terms.fold` leaves them. The
rules are those of the languages: there is no list of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

MIN_WORD, MAX_WORD = 4, 24
"""Letters of a word that has kin."""
MIN_ROOT = 3
MIN_PLAIN = 4
"""Letters that must be left where a single `k` may be the word's own (`bank`) or a diminutive's."""
MIN_LEVELLED = 5
"""Letters of a root of which the last vowel may be any of a, e and o: in shorter ones it tells."""
MIN_PREFIXED = 5
"""Letters of a word without its prefix."""
MAX_ENDING = 9
"""Letters of an ending that is looked for; longer ones are rare."""

_LATIN, _CYRILLIC = re.compile("[a-z]+"), re.compile("[а-я]+")


def _joined(*parts: Iterable[str]) -> frozenset[str]:
    """Return every way to put one of each part side by side."""
    return frozenset("".join(some) for some in product(*parts))


@dataclass(frozen=True, slots=True)
class _Rules:
    """How the words of a language change."""

    endings: frozenset[str]
    bare: tuple[str, ...]
    """Endings that are as often the last letters of a word without one (`problem`, `kredycie`)."""
    fleeting: str
    """Vowels that other forms do without, between a consonant and ..."""
    before: str
    """... one of these, the last of the root."""
    small: tuple[tuple[str, str], ...]
    """Last letters of what is small, longest first, and what stands in other words in their
    place; a single `k` after a consonant besides."""
    small_k: str
    early: tuple[tuple[str, str], ...]
    """Last consonants that are hardened before a fleeting vowel is looked for."""
    hard: tuple[tuple[str, str], ...]
    """Last consonants as they are in other forms; the first that fits."""
    prefixes: tuple[str, ...]
    vowels: str
    consonants: frozenset[str]
    """All letters that are no vowels."""
    levelled: str
    """Vowels that are as one, ..."""
    as_one: str
    """... this."""


_PL_ADJECTIVE = _joined(
    ("", "i"), ("a", "e", "o", "ego", "emu", "ej", "ych", "ym", "ymi", "y", "ich", "im", "imi")
) | frozenset(("i",))
_PL_PAST = _joined(
    ("l",),
    ("", "a", "o", "i", "y", "em", "am", "es", "as", "ismy", "ysmy", "iscie", "yscie"),
)
_PL_GERUND = _joined(("ni",), ("e", "a", "u", "em", "ach", "om", "ami"))
_PL_VERB = _joined(
    ("a", "e", "i", "y", "ia", "ie"),
    {"c", *_PL_PAST, *_PL_GERUND, *_joined(("n",), _PL_ADJECTIVE)},
)
_PL_PRESENT = (
    _joined(("", "i"), ("am", "asz", "amy", "acie", "aja", "ajac", "aj", "ajmy", "ajcie"))
    | _joined(("", "i", "uj"), ("esz", "emy", "ecie", "e", "a", "ac"))
    | _joined(("i", "y"), ("sz", "my", "cie", "jmy", "jcie"))
    | {"uj", "ujmy", "ujcie"}
)
_PL_CASE = _joined(
    ("", "i"), ("ami", "ach", "om", "owie", "owi", "ow", "em", "a", "e", "u", "o")
) | {"i", "y", "mi"}
_POLISH = _Rules(
    frozenset().union(
        _joined(("yw", "iw", "ew"), _PL_VERB | _PL_PRESENT),
        _joined(("ow",), _PL_VERB | _PL_ADJECTIVE),
        _joined(("acj",), ("", "a", "e", "i", "o", "om", "ami", "ach")),
        _joined(("on", "ion", "iejsz", "ejsz"), _PL_ADJECTIVE),
        _joined(("e", "ie"), _PL_GERUND),
        *(_PL_VERB, _PL_PRESENT, _PL_CASE, _PL_ADJECTIVE),
    ),
    (
        "em",
        "om",
        "am",
        "ow",
        "ach",
        "ym",
        "im",
        "ych",
        "ich",
        "ej",
        "al",
        "el",
        "il",
        "yl",
        "ac",
        "ec",
        "ic",
        "yc",
        "mi",
        "cie",
    ),
    "e",
    "kclrnm",
    (("eczk", ""), ("iczk", ""), ("yczk", ""), ("dzik", "d"), ("cik", "t"), ("ik", ""), ("yk", "")),
    "k",
    (("rz", "r"),),
    (
        *(("szcz", "st"), ("zdz", "zd"), ("cz", "k"), ("sz", "s"), ("ch", "s")),
        *(("dz", "d"), ("c", "k"), ("j", "")),
    ),
    ("za", "na", "po", "wy", "prze", "przy", "roz", "od", "do", "pod", "u", "o", "z", "s"),
    "aeiouy",
    frozenset("bcdfghjklmnpqrstvwxz"),
    "eo",
    "a",
)

_RU_ADJECTIVE = frozenset(
    (
        "ои",
        "еи",
        "ыи",
        "ии",
        "ая",
        "яя",
        "ое",
        "ее",
        "ые",
        "ие",
        "ого",
        "его",
        "ому",
        "ему",
        "ом",
        "ем",
        "ым",
        "им",
        "ыми",
        "ими",
        "ых",
        "их",
        "ую",
        "юю",
        "ою",
        "ею",
    )
)
_RU_PASSIVE = _joined(("нн", "н", "м"), _RU_ADJECTIVE) | _joined(
    ("нн", "н"), ("", "а", "о", "ы", "ие", "ия", "ию", "ием", "ии", "иях", "иями")
)
_RU_VERB = _joined(
    ("а", "я", "е", "и", "у", "о", "ну"),
    {
        *("ть", "ти", "л", "ла", "ло", "ли", "в", "вши"),
        *_RU_PASSIVE,
        *_joined(("вш",), _RU_ADJECTIVE),
    },
)
_RU_PRESENT = (
    _joined(("е", "и", "ае", "яе"), ("шь", "т", "м", "те"))
    | _joined(("а", "я", "у", "ю", "аю", "яю"), ("т",))
    | _joined(("ащ", "ящ", "ущ", "ющ", "ающ", "яющ"), _RU_ADJECTIVE)
    | {"аю", "яю", "аи", "яи", "аите", "яите", "ите"}
)
_RU_CASE = frozenset(
    (
        "а",
        "о",
        "е",
        "и",
        "ы",
        "у",
        "ю",
        "я",
        "ь",
        "ам",
        "ами",
        "ах",
        "ям",
        "ями",
        "ях",
        "ом",
        "ем",
        "ов",
        "ев",
        "еи",
        "ои",
        "ью",
        "ия",
        "ие",
        "ию",
        "ии",
        "ием",
        "иям",
        "иями",
        "иях",
    )
)
_RUSSIAN = _Rules(
    frozenset().union(
        _joined(("ыв", "ив", "ев", "ов", "иров"), _RU_VERB | _RU_PRESENT),
        _joined(("у", "иру"), ("ю", "ешь", "ет", "ем", "ете", "ют")),
        _joined(("аци",), ("я", "и", "ю", "еи", "и", "ям", "ями", "ях")),
        _joined(("ов", "ев", "ян", "енн"), _RU_ADJECTIVE),
        *(_RU_VERB, _RU_PRESENT, _RU_ADJECTIVE, _RU_CASE),
    ),
    (
        "ом",
        "ем",
        "ам",
        "ям",
        "ах",
        "ях",
        "ов",
        "ев",
        "ав",
        "ив",
        "ои",
        "еи",
        "ии",
        "ал",
        "ел",
        "ил",
        "ол",
        "ул",
        "ял",
        "ан",
        "ен",
        "ин",
        "ун",
        "ат",
        "ет",
        "ит",
        "ут",
    ),
    "ое",
    "кцлрнмт",
    (("очк", ""), ("ечк", ""), ("ичк", ""), ("чик", ""), ("ик", "")),
    "к",
    (("бл", "б"), ("пл", "п"), ("вл", "в"), ("мл", "м"), ("фл", "ф"), ("ц", "к")),
    (
        *(("жд", "д"), ("щ", "т"), ("ч", "к"), ("ш", "с"), ("х", "с")),
        *(("ж", "з"), ("г", "з")),
    ),
    ("за", "на", "по", "вы", "пере", "при", "раз", "рас", "от", "до", "под", "у", "о", "с", "про"),
    "аеиоуыэюя",
    frozenset("бвгджзклмнпрстфхцчшщьъ"),
    "ео",
    "а",
)


def roots(token: str) -> tuple[str, ...]:
    """Return the roots of a folded word: one, or two where its end may be an ending or not."""
    rules = _rules(token)
    if rules is None:
        return ()
    if rules is _RUSSIAN:
        token = token[:-2] if token.endswith(("ся", "сь")) else token
    first = _root(token, _ending(token, rules), rules)
    if not token.endswith(rules.bare):
        return (first,)
    second = _root(token, "ie" if token.endswith("cie") else "", rules)
    return (first,) if first == second else (first, second)


def wider_roots(token: str) -> tuple[str, ...]:
    """Return roots that a word may have besides: without a prefix, with one, less small.

    They are often another word's: for words that nothing else is found for.
    """
    rules = _rules(token)
    if rules is None:
        return ()
    found = [
        root
        for prefix in rules.prefixes
        if token.startswith(prefix) and len(token) - len(prefix) >= MIN_PREFIXED
        for root in roots(token[len(prefix) :])
    ]
    for root in roots(token):
        found += (f"{prefix}{root}" for prefix in rules.prefixes if len(root) > MIN_ROOT)
        if root.endswith(rules.small_k) and len(root) > MIN_ROOT:
            found.append(root[:-1])
    return tuple(dict.fromkeys(found))


def _rules(token: str) -> _Rules | None:
    if not MIN_WORD <= len(token) <= MAX_WORD:
        return None
    if token.isascii():
        return _POLISH if _LATIN.fullmatch(token) else None
    return _RUSSIAN if _CYRILLIC.fullmatch(token) else None


def _ending(word: str, rules: _Rules) -> str:
    """Return the longest ending that leaves a root with a vowel."""
    for at in range(max(MIN_ROOT, len(word) - MAX_ENDING), len(word)):
        if word[at:] in rules.endings and not rules.consonants.issuperset(word[:at]):
            return word[at:]
    return ""


def _root(word: str, ending: str, rules: _Rules) -> str:
    base = word[: len(word) - len(ending)]
    if rules is _POLISH:
        base = _hard_before(base, ending)
    elif base[-1] == "ь":
        base = base[:-1]
    base = _hard(base, rules.early)
    if len(base) > MIN_ROOT:
        base = _less(base, rules)
    base = _hard(base, rules.hard)
    return _levelled(base, rules) if len(base) >= MIN_LEVELLED else base


def _hard_before(base: str, ending: str) -> str:
    """Return a Polish root with the last consonant that it has before another ending."""
    if base.endswith("sc"):
        return base[:-2] + "st"
    if ending in ("e", "y") and base.endswith("dz"):
        return base[:-2] + "g"
    if base[-1] == "c":
        return base[:-1] + ("t" if ending[:1] == "i" else "k")
    return base.rstrip("i") or base


def _less(base: str, rules: _Rules) -> str:
    """Return a root without fleeting vowels before its end, and without what makes it small."""
    base = _without_fleeting(base, rules)
    if base[-1] != rules.small_k:
        return base
    for small, large in rules.small:
        if base.endswith(small) and len(base) - len(small) + len(large) >= MIN_ROOT:
            return _without_fleeting(base[: len(base) - len(small)] + large, rules)
    if len(base) > MIN_PLAIN and base[-2] not in rules.vowels:
        return _without_fleeting(base[:-1], rules)
    return base


def _without_fleeting(base: str, rules: _Rules) -> str:
    if len(base) <= MIN_ROOT or base[-1] not in rules.before or base[-2] not in rules.fleeting:
        return base
    head = base[:-3] if base[-3] == "i" else base[:-2]
    return head + base[-1] if head[-1] not in rules.vowels and head[-1] != "ь" else base


def _hard(base: str, changes: tuple[tuple[str, str], ...]) -> str:
    last = base[-1]
    for soft, hard in changes:
        if soft[-1] == last and base.endswith(soft) and len(base) > len(soft) + 1:
            return base[: len(base) - len(soft)] + hard
    return base


def _levelled(root: str, rules: _Rules) -> str:
    for at in range(len(root) - 1, -1, -1):
        if root[at] in rules.vowels:
            one = root[at]
            return root[:at] + rules.as_one + root[at + 1 :] if one in rules.levelled else root
    return root
