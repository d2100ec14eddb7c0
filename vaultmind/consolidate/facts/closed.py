"""Whether a clause says by itself, long after its talk, who and what it is about: its closed form.

A brain is read without the talk around it. So what is written names the person in its first
words, points at nothing outside itself, has one joint at most, and looks to a small model, which
learnt from statements that were judged one by one, like what a stranger understands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache

from vaultmind.consolidate.facts.cues import CYRILLIC
from vaultmind.consolidate.facts.features import PLACES, features
from vaultmind.consolidate.facts.linear import FOLDER
from vaultmind.consolidate.facts.own import GAP, pieces
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said
from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.memory.weights import Weights, read_weights
from vaultmind.memory.words import fold
from vaultmind.redact.marks import MARK

CLASSES = ("alone", "unclear")
ALONE = 0.7
"""Likelihood of being understood by a stranger from which a clause is written."""
AHEAD = 3
"""Words in which the person must be named."""
MOST_PIECES = 2
"""Clauses that one fact is made of, at most."""
LOOKED_AT = 8
"""Clauses of a sentence that are looked at."""


def _folded(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


_PERSON = _folded(
    """i im ive i'm i've id my we weve we've we're our
    ja mam jestem mamy jesteśmy mój moja moje moi nasz nasza
    я у мы мой моя моё мои мне меня наш наша"""
)
"""Words that name the person, and may begin a fact in the middle of a sentence."""
_OF_THE_PERSON = _PERSON | _folded(
    """i'd were mnie mi moim moich mojej mojego nas nam nasze nasi
    моего моей моему нас нам наше наши"""
)
_FIRST_PERSON = re.compile(r"\w{2,}(?:am|em|ę|my|łem|łam|[ую]|[ую]сь|[аеиё]м|[еи]мся)$")
"""Polish and Russian verbs that speak of the person; a noun among them is left to the model."""
_POINTS = {
    "en": _folded(
        """it its it's he he's she she's they they're them him her his their theirs hers that
        that's this these those there there's here one ones other others another same such so then
        too also again still either both neither which who what where when why how if else instead
        today tomorrow tonight yesterday thing things stuff yes no yeah nah ah ok well oh sure
        maybe perhaps you'd you've yours anyway though just even"""
    ),
    "pl": _folded(
        """to tego temu tym ten ta te tą tę tej tych tymi on ona ono oni one jego jej ich jemu niej
        nim nich nią nimi mu im ją tam tu tutaj taki taka takie tak też także również potem wtedy
        dziś jutro wczoraj co kto kiedy gdzie jak jaki który która które czy jeśli inny inna
        inne drugi druga drugie no więc czyli przecież właśnie ogóle zresztą"""
    ),
    "ru": _folded(
        """это этот эта эти этого этой этому этим эту тот та те того той тому тем ту он она оно они
        его её их ему ей им ею ним ней них нём нем там тут здесь туда сюда оттуда такой такая такие
        такое так тоже также потом тогда сейчас сегодня завтра вчера что кто когда где как какой
        который которая которые если другой другая другие ну же ведь вот то второй вторая второе"""
    ),
}
"""Pronouns and the like, a closed class: what they mean stands outside the clause."""
_LINKS = _folded("and but or because as i a ale że bo żeby или и а но что чтобы потому")
"""Words that join a clause to what stood before it; the Polish `i` is no English `I`."""
_POLISH = re.compile(r"(?<!\w)[^\WA-ZĄĆĘŁŃÓŚŹŻ]*[ąćęłńóśźż]")
"""A Polish word that is no name."""
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_JOINT = re.compile(r"[,;:]\s|\.\s|\s[-–—]")
_GONE = re.compile(rf"{MARK.pattern}|{GAP}")


def closed(one: Said) -> str:
    """Return the most of a piece of talk that can be read alone; empty if nothing is certain."""
    return max((text for text in runs(one) if likely(text) >= ALONE), key=len, default="")


def runs(one: Said) -> Iterator[str]:
    """Yield the statements in closed form that a piece of talk holds: a clause, or two in a row."""
    begins = one.whole.lstrip(" ,;").startswith(one.text)
    spans = list(pieces(one.text))[:LOOKED_AT]
    for at, (start, _) in enumerate(spans):
        for _, stop in spans[at : at + MOST_PIECES]:
            text = statement(one.text[start:stop])
            if _has_form(text, begins=begins and not at):
                yield text


def dangles(text: str) -> bool:
    """Tell whether a statement has nothing to be understood by, or begins by pointing elsewhere."""
    words = _WORD.findall(text)
    return not words or fold(words[0]) in _points(text, words) or bool(_GONE.search(text))


def likely(text: str, model: Weights | None = None) -> float:
    """Return how likely a stranger understands a statement and has use for it."""
    alone, unclear = (model or weights()).scores([(features(text), 1.0)])
    return 1 / (1 + math.exp(unclear - alone))


@cache
def weights() -> Weights:
    """Return the model that ships with the package."""
    return read((FOLDER / "alone.weights").read_bytes())


def read(data: bytes) -> Weights:
    """Return the model of a file's bytes; raises ConfigError for a file of another shape."""
    return read_weights(data, "alone", CLASSES, PLACES, "benchmarks/train_extractive.py")


def _has_form(text: str, *, begins: bool) -> bool:
    words = [(fold(word), word.lower()) for word in _WORD.findall(text)]
    if len(words) < MOST_PIECES or len(_JOINT.findall(text)) >= MOST_PIECES or _GONE.search(text):
        return False
    points, first = _points(text, [folded for folded, _ in words]), words[0][0]
    if any(folded in points for folded, _ in words):
        return False
    if first in _LINKS and not (first == "i" and points is _POINTS["en"]):
        return False
    if not begins:
        return words[0][0] in _PERSON
    return any(
        folded in _OF_THE_PERSON or _FIRST_PERSON.fullmatch(word) for folded, word in words[:AHEAD]
    )


def _points(text: str, words: Sequence[str]) -> frozenset[str]:
    """Return the words that point, in the language of a statement: `to` and `on` are two's."""
    if CYRILLIC.search(text.lower()):
        return _POINTS["ru"]
    english, polish = (
        sum(fold(word) in BY_LANGUAGE[code] for word in words) for code in ("en", "pl")
    )
    return _POINTS["pl" if _POLISH.search(text) or polish > english else "en"]
