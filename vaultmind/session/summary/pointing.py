"""What a request points at: `don't keep that`, `the last two messages`; and what only looks so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold

CUES = Path(__file__).with_name("unkept.toml")
MOST_POINTED_AT = 10
"""Messages before a request that it may mean by number."""

_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_POINTING_WORDS = """
    bit part last previous message above thing earlier before conversation chat talk one first
    second sentence line reply two both these those ok okay oh ah ha hey hmm hm actually wait
    sorry lol btw well yeah yes sure right thanks now quickly side note secret private
    confidential ostatnie ostatnia ostatnia poprzednia poprzednie wiadomosc wyzej wczesniej
    rozmowa rozmowy dobra zdanie aha hej przepraszam sorki czekaj dzieki wlasnie przed chwila
    chwili teraz to tamto последнее предыдущее сообщение выше раньше разговор слова ладно
    хорошо прости извини спасибо только сеичас предложение bitte das dies letzte nachricht por
    favor esto eso mensaje ca cela message dernier
"""
_POINTING = frozenset(_POINTING_WORDS.split())
_ASKING = ("retien", "off", "don", "vergiss")
"""Words so begun only ask."""
_NUMBERS_WORDS = """
    1 one jedna jedno jedną одно один 2 two both couple pair dwa dwie dwoch obie oba два две двух
    оба обе пару пара 3 three few trzy trzech pare kilka три трех 4 four cztery czterech четыре
    четырех 5 five piec pieciu пять пяти 6 six szesc szesciu шесть шести 7 seven siedem siedmiu
    семь семи 8 eight osiem osmiu восемь восьми 9 nine 10 ten
"""


def _numbers() -> dict[str, int]:
    found, number = {}, 0
    for word in _NUMBERS_WORDS.split():
        number = int(word) if word.isdigit() else number
        found[fold(word)] = number
    return found


_NUMBERS = _numbers()
_NUMBER = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_LAST = r"(?:last|previous|past|ostatni\w+|poprzedni\w+|последн\w+|предыдущ\w+)"
_SEVERAL = re.compile(
    rf"\b(?:{_LAST} (?:mo(?:je|ich) |мои |моих )?(?P<after>{_NUMBER})"
    rf"|(?P<before>{_NUMBER}) {_LAST})\b"
)
_TELLS_NEXT = re.compile(
    r"\b(?:this|these|tego|tych|to|это|этого)\b(?! (?:last|previous|ostatni|последн))"
)
"""What may point at what comes after it, too."""
_OTHER = re.compile(
    r"^\W*(?:anyway|anyhow|btw|by the way|but|also|now|so|next|apart from that|other than that|"
    r"swoja droga|a propos|tak w ogole|zreszta|poza tym|ale|przy okazji|a teraz|wracajac|natomiast|"
    r"кстати|впрочем|к слову|между прочим|но|а|зато|теперь|вернемся)\b"
)
"""So begins what has nothing to do with what was said before it."""
_TURNS = re.compile(
    r"[,;]\s+(?=(?:but (?:please )?(?:do )?(?:remember|save|keep in mind|note)|"
    r"anyway|by the way|btw|"
    r"ale (?:prosz[eę] )?(?:zapami[eę]taj|zapisz|pami[eę]taj|zanotuj)|swoj[aą] drog[aą]|"
    r"(?:но|а) (?:запомни|запиши|сохрани|помни)|кстати)\b)",
    re.IGNORECASE,
)


def units(sentences: Sequence[str]) -> list[str]:
    """Return sentences, each of one matter: cut before `but do remember`, `anyway`."""
    return [part for one in sentences for part in _TURNS.split(one)]


def several(folded: str) -> int:
    """Return how many last messages a folded request means, by number; 0 where it says none."""
    match = _SEVERAL.search(folded)
    number = _NUMBERS[match["after"] or match["before"]] if match else 0
    return min(number, MOST_POINTED_AT)


def only_points(folded: str) -> bool:
    """Tell whether a folded request says nothing of its own: what it means stands before it."""
    if folded.rstrip().endswith(":"):
        return False
    bare = cue("keep_out", folded).sub(" ", _SEVERAL.sub(" ", folded))
    return not any(_says(word) for word in content(bare))


def is_other(sentence: str) -> bool:
    """Tell whether a sentence after a request is of something else: a question, `but remember`."""
    return sentence.rstrip().endswith("?") or bool(_OTHER.search(fold(sentence)))


def may_mean_next(folded: str) -> bool:
    """Tell whether a folded request may point at the statement after it: `don't keep this.`"""
    return bool(_TELLS_NEXT.search(folded))


def looks_only(folded: str) -> bool:
    """Tell whether a folded sentence only looks like a request: it tells of one, or of a file."""
    return bool(cue("plain", folded).search(folded))


def lifts(folded: str) -> bool:
    """Tell whether a folded sentence says that what comes may be kept again."""
    return bool(cue("may", folded).search(folded) and cue("again", folded).search(folded))


def counts(word: Word) -> bool:
    """Tell whether a word says anything beside a request."""
    return (
        word.folded[:1].isalnum()
        and word.folded not in SOFT | NEGATIONS | _POINTING
        and not word.folded.startswith(_ASKING)
    )


def cue(name: str, folded: str) -> re.Pattern[str]:
    """Return a cue in the languages of a folded sentence's letters."""
    return _pattern(name, cyrillic=bool(_CYRILLIC.search(folded)))


def _says(word: Word) -> bool:
    if not counts(word) or (word.folded in _NUMBERS and not word.folded.isdigit()):
        return False
    return not cue("only_asks", word.folded).fullmatch(word.folded)


@cache
def _pattern(name: str, *, cyrillic: bool) -> re.Pattern[str]:
    from vaultmind.memory.contradictions.relations import pattern

    codes = ("ru",) if cyrillic else ("en", "pl")
    return pattern("|".join(cues(code)[name] for code in codes))


@cache
def cues(language: str) -> dict[str, str]:
    """Return the cues of a language (`en`, `pl`, `ru`): `keep_out`, `keep_all` for all of a
    conversation, `plain`, `may` and `again`, `only_asks`.
    """
    data: dict[str, dict[str, str]] = tomllib.loads(CUES.read_text("utf-8"))
    return data[language]
