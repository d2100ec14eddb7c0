"""How much a sentence weighs: what it decides, counts, names, asks, and how telling its words are.

Importance fades with age as a power of it, slowly: small talk within minutes, decisions and
numbers hardly. What was decided in the opening of a conversation does not fade at all: it is
what the rest is about.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold, stems, words
from vaultmind.session.summary.cues import how_often, said
from vaultmind.session.summary.rolling import Kind, Line

DECISION = 4.0
QUESTION = 1.6
"""A question left open."""
NUMBER = 1.8
DATE_NUMBER = 1.0
"""For numbers in a sentence that has a date: they are mostly the date's."""
MORE_NUMBERS = 0.2
"""For each number after the first, up to three."""
NUMBER_WORD = 0.4
DATE = 0.5
NAME = 0.35
"""For each name, up to three."""
NEXT = 0.6
USER = 0.2
"""What the user says weighs more than what is answered."""
TELLING = 1.0
"""The most that the words alone, by TF-IDF, can weigh."""
OPENING = 10
"""Messages that open a conversation."""
OPENED = 1.0
"""For a decision or a number in the opening."""
FADES: dict[Kind, float] = {"decision": 0.05, "fact": 0.35, "question": 0.35, "other": 0.8}
NUMBERS_FADE = 0.1
PACE = 20
"""Messages in which a line of exponent 1 loses half of its weight."""
SAME = 0.85
"""Two sentences with so much of their content words in common say the same."""
MIN_CONTENT = 2
"""Content words a sentence must have to say anything by itself, unless it has a number."""
SMALL_TALK_WORDS = 9
"""A sentence with a greeting, thanks or praise in it is nothing else up to so many words."""
ENOUGH_CONTENT = 6

_NUMBER = re.compile(r"(?<![^\W_])[^\W\d_]{0,5}[-–]?\d[\d.,:/ \u00a0-]*|[$€£%№]")
_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_CAPITAL = re.compile(r"(?<![\w'’])[^\W\d_][\w'’-]+")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
CAPITAL_NOUNS = frozenset({"de"})
"""Languages that write every noun with a capital letter."""
_NOT_NAMES = frozenset({"i'm", "i'll", "i've", "i'd", "i’m", "i’ll", "i’ve", "i’d", "ok"})
_ASKS = re.compile(r"[?？][\"'»”’)\]*_\s]{0,20}[\U0001f300-\U0001faff\ufe0f\s]{0,20}$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with what can be told of it alone."""

    text: str
    folded: str
    """Its words, folded, joined by spaces."""
    stems: tuple[str, ...]
    """Of its content words, in order."""
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    asks: bool

    @property
    def decides(self) -> bool:
        """Tell whether it states a decision: no question, and not that there is none."""
        enough = len(self.stems) >= MIN_CONTENT or bool(self.numbers)
        open_ = self.asks or self.is_open
        return enough and not open_ and said(self.folded, "decision")

    @property
    def is_open(self) -> bool:
        """Tell whether it says in words that something is not decided or not known."""
        return said(self.folded, "undecided")

    @property
    def is_small_talk(self) -> bool:
        """Tell whether nobody would miss it."""
        if self.numbers or self.decides or self.is_open:
            return False
        if len(self.stems) < MIN_CONTENT:
            return True
        spoken = self.folded.count(" ") + 1
        return (
            spoken <= SMALL_TALK_WORDS
            and len(self.stems) < ENOUGH_CONTENT
            and said(self.folded, "smalltalk")
        )


@lru_cache(maxsize=1024)
def read(text: str, language: str, speakers: frozenset[str] = frozenset()) -> Sentence:
    """Return a sentence with its words, numbers and names, other than those of the `speakers`."""
    names = [] if language in CAPITAL_NOUNS else _names(text)
    return Sentence(
        text=text,
        folded=" ".join(words(text)),
        stems=tuple(stem for stem, form in stemmed(text, language) if form not in speakers),
        numbers=tuple(
            number for found in _NUMBER.findall(text) if (number := found.strip(" .,:-"))
        ),
        names=tuple(name for name in names if name not in speakers),
        asks=bool(_ASKS.search(text)),
    )


def stemmed(text: str, language: str) -> list[tuple[str, str]]:
    """Return the content words of a text in order, each as its stem and as it was written."""
    like_russian = language in ("uk", "be", "bg", "sr")
    own = "ru" if _CYRILLIC.search(text) and not like_russian else language
    return [(stem, raw) for raw in _WORD.findall(text) for stem in _content(raw, own)]


@lru_cache(maxsize=8192)
def _content(raw: str, language: str) -> tuple[str, ...]:
    """Return the stems of a word's parts that are no stop words. Talks say the same words again."""
    stop = _stop_words(language)
    return tuple(
        stems(word, language)[0]
        for word in words(raw)
        if word not in stop and (len(word) > 1 or word.isdigit() or not word.isascii())
    )


@cache
def _stop_words(language: str) -> frozenset[str]:
    return BY_LANGUAGE.get(language, frozenset()) | BY_LANGUAGE["en"]


def kind_of(sentence: Sentence) -> Kind:
    """Return which list of the summary a sentence belongs to."""
    if sentence.decides:
        return "decision"
    if sentence.asks or sentence.is_open:
        return "question"
    dated = said(sentence.folded, "date") or said(sentence.folded, "number")
    return "fact" if sentence.numbers or sentence.names or dated else "other"


def weight(sentence: Sentence, at: int, *, user: bool, telling: float) -> float:
    """Return the importance of a sentence of the message number `at`.

    `telling` is its share, from 0 to 1, of what words alone can tell.
    """
    kind, numbers = kind_of(sentence), len(sentence.numbers)
    total = {"decision": DECISION, "question": QUESTION}.get(kind, 0.0) + TELLING * telling
    dates = how_often(sentence.folded, "date")
    if numbers:
        total += (DATE_NUMBER if dates else NUMBER) + MORE_NUMBERS * min(3, numbers - 1)
    else:
        total += NUMBER_WORD * min(1, how_often(sentence.folded, "number"))
    total += DATE * min(1, dates) + NAME * min(3, len(sentence.names))
    total += NEXT * said(sentence.folded, "next") + USER * user
    if at <= OPENING and (kind == "decision" or numbers):
        total += OPENED
    return round(total, 3)


def faded(line: Line, now: int) -> float:
    """Return what is left of a line's importance when message number `now` is the newest."""
    if line.own:
        return math.inf
    if line.kind == "decision" and line.at <= OPENING:
        return line.weight
    exponent = FADES[line.kind]
    if line.kind == "fact" and _NUMBER.search(line.text):
        exponent = NUMBERS_FADE
    age = max(0, now - line.at)
    return line.weight / math.pow(1 + age / PACE, exponent)


def tell(sentences: Sequence[Sentence]) -> list[float]:
    """Return the share, from 0 to 1, that each sentence's words tell among all: mean TF-IDF."""
    seen = Counter(stem for one in sentences for stem in set(one.stems))
    most = math.log(1 + len(sentences))
    shares = []
    for one in sentences:
        rare = [math.log((1 + len(sentences)) / seen[stem]) for stem in set(one.stems)]
        full = min(1.0, len(rare) / ENOUGH_CONTENT)
        shares.append(full * sum(rare) / len(rare) / most if rare and most else 0.0)
    return shares


def same(one: Sentence, other: Sentence) -> bool:
    """Tell whether two sentences say the same: nearly the same words, and the same numbers."""
    left, right = set(one.stems), set(other.stems)
    if not left or not right or set(one.numbers) != set(other.numbers):
        return fold(one.text) == fold(other.text)
    return len(left & right) >= SAME * min(len(left), len(right)) and (
        min(len(left), len(right)) * 2 >= max(len(left), len(right))
    )


def telling_parts(text: str) -> float:
    """Return how much of what must stay a piece of a sentence holds: numbers first, names, cues."""
    folded = " ".join(words(text))
    return (
        2.0 * len(_NUMBER.findall(text))
        + len(_names(text))
        + 2.0 * said(folded, "decision")
        + how_often(folded, "date")
    )


def _names(text: str) -> list[str]:
    """Return the words that start with a capital letter and no sentence."""
    found = []
    for match in _CAPITAL.finditer(text):
        word, before = match.group(), text[: match.start()].rstrip("\"„«“'(*_ ")
        opens = not before or before[-1] in ".!?…:"
        if word[0].isupper() and not opens and word.lower() not in _NOT_NAMES:
            found.append(word)
    return found
