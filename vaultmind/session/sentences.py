"""A message's sentences: split, read for what they decide, ask, count and name, and cut.

Each stands in its message word for word. What a sentence does is told by cues, the words of
`cues/<language>.toml`: a sentence is met by the cues of every language written in its script, since
people change languages within a conversation; other languages have none.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from vaultmind.index.words.stopwords import BY_LANGUAGE
from vaultmind.index.words.terms import fold, stems, words
from vaultmind.tokens import clip, count
from vaultmind.vault.oneline import one_line

LANGUAGES = ("en", "pl", "ru")
"""Languages that have cues."""
CAPITAL_NOUNS = frozenset({"de"})
"""Languages that write every noun with a capital letter."""
MARK = "…"
"""Stands where a sentence was cut, before or after what is left of it."""
MOST_SENTENCES, MOST_CHARACTERS, MOST_OF_A_LINE = 120, 600, 20_000
"""Sentences read of a message, half of them its last; characters of one; characters of a line."""
SAME = 0.85
"""Two sentences with so large a share of their content words in common say the same."""
MIN_CONTENT, ENOUGH_CONTENT = 2, 6
"""Content words without which a sentence says nothing by itself, and with which it says much."""
SMALL_TALK_WORDS = 9
"""A sentence with a greeting, thanks or praise in it is small talk up to so many words."""
LABEL_WORDS, NAME_COUNTS = 3, 1.5
"""Words of a label, and what a name counts among them, other words counting 1."""

Kind = Literal["decision", "fact", "question", "other"]
KINDS: tuple[Kind, ...] = ("decision", "fact", "question", "other")
"""Kinds of sentences in the order in which they are shown. A question is one left open."""
Counts = dict[str, float]
"""How often each stem was said."""

_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE)
_LEAD = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+(?:\[.\][ \t]+)?)*")
_TABLE = re.compile(r"[ \t]*+\|.*\|[ \t]*$|[-=*_ \t]{3,}$")
_END = re.compile(r"(?:(?<![.!?…])[.!?…]+[\"'»”’)\]*_]*(?=\s)|[。！？]+)\s*")
_OPENS_LOWER = re.compile(r"[\"'«„“(\[*_]*[^\W\d_]")
_LAST_WORD = re.compile(r"(?:[^\W\d_]\.){0,8}[^\W\d_]{1,40}$")
_CLAUSE = re.compile(r"[,;:—–]\s+|\s[-(]\s?")
_NUMBER = re.compile(r"(?<![^\W_])[^\W\d_]{0,5}[-–]?\d[\d.,:/ \u00a0-]*|[$€£%№]")
_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_CAPITAL = re.compile(r"(?<![\w'’])[^\W\d_][\w'’-]+")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_I = re.compile(r"(?:i['’](?:m|ll|ve|d)|ok)$", re.IGNORECASE)
_ASKS = re.compile(r"[?？][\"'»”’)\]*_\s]{0,20}[\U0001f300-\U0001faff\ufe0f\s]{0,20}$")


# --- cues ---------------------------------------------------------------------------------


@cache
def language_data(code: str) -> dict[str, Any]:
    """Return a language's `headings`, `words`, `labels` and `cues`; English where it has none."""
    file = Path(__file__).parent / "cues" / f"{code if code in LANGUAGES else 'en'}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def headings(language: str) -> dict[str, str]:
    """Return what stands above the lines of a summary, by kind, in a language."""
    found: dict[str, str] = language_data(language)["headings"]
    return found


@cache
def abbreviations() -> frozenset[str]:
    """Return what ends in a full stop and no sentence does, in any language, in lower case."""
    return frozenset().union(*(language_data(code)["cues"]["abbreviation"] for code in LANGUAGES))


@lru_cache(maxsize=8192)
def how_often(folded: str, cue: str) -> int:
    """Return how many times folded words, joined by spaces, hold a cue."""
    pattern = _pattern(cue, cyrillic=bool(_CYRILLIC.search(folded)))
    return sum(1 for _ in pattern.finditer(folded))


def said(folded: str, cue: str) -> bool:
    """Tell whether folded words, joined by spaces, hold a cue."""
    return how_often(folded, cue) > 0


@cache
def _pattern(cue: str, *, cyrillic: bool) -> re.Pattern[str]:
    codes = ("ru",) if cyrillic else ("en", "pl")
    phrases = {_phrase(one) for code in codes for one in language_data(code)["cues"].get(cue, ())}
    longest_first = sorted(phrases, key=len, reverse=True) or ["(?!)"]
    return re.compile(rf"(?<![^ ])(?:{'|'.join(longest_first)})(?![^ ])")


def _phrase(phrase: str) -> str:
    """Return the pattern of a phrase, folded as sentences are: `*` is any ending, `^` the start."""
    start = "^" if phrase.startswith("^") else ""
    pieces = (
        r"\w*".join(re.escape(" ".join(words(part))) for part in word.split("*"))
        for word in phrase.removeprefix("^").split()
    )
    return start + " ".join(pieces)


# --- splitting and cutting ----------------------------------------------------------------


def sentences(text: str) -> list[str]:
    """Return the sentences of a message, each one line; code, tables and rules are left out."""
    found: list[str] = []
    for whole in _ends(_CODE.sub("\n", text).split("\n")):
        line = whole[:MOST_OF_A_LINE]
        if not _TABLE.match(line):
            lead = _LEAD.match(line)
            pieces = _split(line[lead.end() if lead else 0 :])
            found += [clean for piece in pieces if (clean := one_line(_short(piece)))]
    return _ends(found)


def _ends(texts: list[str]) -> list[str]:
    half = MOST_SENTENCES // 2
    return texts if len(texts) <= MOST_SENTENCES else [*texts[:half], *texts[-half:]]


def _split(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        if _is_end(line, match):
            yield line[start : match.end()]
            start = match.end()
    yield line[start:]


def _is_end(line: str, match: re.Match[str]) -> bool:
    """Tell whether a mark ends a sentence: a full stop may be an abbreviation's."""
    if match.group()[0] != ".":
        return True
    opening = _OPENS_LOWER.match(line, match.end())
    if opening and opening.group()[-1].islower():
        return False
    word = _LAST_WORD.search(line, max(0, match.start() - 40), match.start())
    name = word.group() if word else ""
    initial = len(name) == 1 and name.isupper() and name != "I"
    return not (initial or name.lower() in abbreviations())


def _short(piece: str) -> str:
    """Return a sentence, cut at a space where it is far too long for one."""
    if len(piece) <= MOST_CHARACTERS:
        return piece
    space = piece.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)
    return f"{piece[: space if space > 0 else MOST_CHARACTERS].rstrip()} {MARK}"


def shortened(text: str, max_tokens: int, weighs: Callable[[str], float] | None = None) -> str:
    """Return a sentence, or the piece of it that weighs most, marked where it was cut.

    A piece starts where the sentence or a clause does. By default it weighs what it tells.
    """
    if count(text) <= max_tokens:
        return text
    head, body, tail = _unmarked(text)
    best, most = "", -1.0
    for start in (0, *(match.end() for match in _CLAUSE.finditer(body))):
        piece = clip(body[start:], max(2, max_tokens - 2), mark="")
        worth = (weighs or telling_parts)(piece) - (0.5 if start else 0.0)
        if worth > most and any(map(str.isalnum, piece)):
            before = f"{MARK} " if start or head else ""
            after = f" {MARK}" if tail or body[start:] != piece else ""
            best, most = before + piece.strip() + after, worth
    return best or clip(text, max_tokens)


def unmarked(text: str) -> str:
    """Return a sentence without the marks of where it was cut."""
    return _unmarked(text)[1]


def _unmarked(text: str) -> tuple[bool, str, bool]:
    """Return (cut before, what is left of a sentence, cut after)."""
    head, tail = text.startswith(f"{MARK} "), text.endswith(f" {MARK}")
    body = text[2:] if head else text
    return head, body[:-2] if tail and len(body) > 1 else body, tail


# --- reading ------------------------------------------------------------------------------


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
        return enough and not self.asks and not self.is_open and said(self.folded, "decision")

    @property
    def is_open(self) -> bool:
        """Tell whether it says in words that something is not decided or not known."""
        return said(self.folded, "undecided")

    @property
    def puts_off(self) -> bool:
        """Tell whether it is no answer to a question that was asked before it."""
        return self.is_open or said(self.folded, "deferral")

    @property
    def is_small_talk(self) -> bool:
        """Tell whether nobody would miss it."""
        if self.numbers or self.decides or self.is_open:
            return False
        short = self.folded.count(" ") < SMALL_TALK_WORDS and len(self.stems) < ENOUGH_CONTENT
        return len(self.stems) < MIN_CONTENT or (short and said(self.folded, "smalltalk"))

    @property
    def kind(self) -> Kind:
        """Return which list of a summary it belongs to."""
        if self.decides:
            return "decision"
        if self.asks or self.is_open:
            return "question"
        dated = said(self.folded, "date") or said(self.folded, "number")
        return "fact" if self.numbers or self.names or dated else "other"


@lru_cache(maxsize=2048)
def read(text: str, language: str, speakers: frozenset[str] = frozenset()) -> Sentence:
    """Return a sentence with its words, numbers and names, other than those of the `speakers`."""
    names = [] if language in CAPITAL_NOUNS else _names(text)
    numbers = (found.strip(" .,:-") for found in _NUMBER.findall(text))
    return Sentence(
        text=text,
        folded=" ".join(words(text)),
        stems=tuple(stem for stem, form in stemmed(text, language) if form not in speakers),
        numbers=tuple(filter(None, numbers)),
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
    stop = BY_LANGUAGE.get(language, frozenset()) | BY_LANGUAGE["en"]
    return tuple(
        stems(word, language)[0]
        for word in words(raw)
        if word not in stop and (len(word) > 1 or word.isdigit() or not word.isascii())
    )


def _names(text: str) -> list[str]:
    """Return the words that start with a capital letter and no sentence."""
    found = []
    for match in _CAPITAL.finditer(text):
        before = text[: match.start()].rstrip("\"„«“'(*_ ")
        if (
            match[0][0].isupper()
            and before
            and before[-1] not in ".!?…:\n"
            and not _I.match(match[0])
        ):
            found.append(match[0])
    return found


def tell(read_: Sequence[Sentence]) -> list[float]:
    """Return the share, from 0 to 1, that each sentence's words tell among all: mean TF-IDF."""
    seen = Counter(stem for one in read_ for stem in set(one.stems))
    most = math.log(1 + len(read_))
    shares = []
    for one in read_:
        rare = [math.log((1 + len(read_)) / seen[stem]) for stem in set(one.stems)]
        full = min(1.0, len(rare) / ENOUGH_CONTENT)
        shares.append(full * sum(rare) / len(rare) / most if rare and most else 0.0)
    return shares


def same(one: Sentence, other: Sentence) -> bool:
    """Tell whether two sentences say the same: nearly the same words, and the same numbers."""
    left, right = set(one.stems), set(other.stems)
    if not left or not right or set(one.numbers) != set(other.numbers):
        return fold(one.text) == fold(other.text)
    less, more = sorted((len(left), len(right)))
    return len(left & right) >= SAME * less and less * 2 >= more


def has_number(text: str) -> bool:
    """Tell whether a text holds a number."""
    return bool(_NUMBER.search(text))


def telling_parts(text: str) -> float:
    """Return how much of what must stay a piece of a sentence holds: numbers first, names, cues."""
    folded = " ".join(words(text))
    numbers, decides = len(_NUMBER.findall(text)), said(folded, "decision")
    return 2.0 * numbers + len(_names(text)) + 2.0 * decides + how_often(folded, "date")


# --- labels -------------------------------------------------------------------------------


def label_words(text: str, language: str) -> tuple[Counts, dict[str, str]]:
    """Return how often a text says each stem that may stand in a label, and how it is written."""
    names = set(read(text, language).names)
    counts: Counts = {}
    forms: dict[str, str] = {}
    for stem, form in stemmed(text, language):
        if len(form) > 1 and form.isalpha() and not _is_common(form):
            counts[stem] = counts.get(stem, 0.0) + (NAME_COUNTS if form in names else 1.0)
            opens = form.istitle() and form not in names and language not in CAPITAL_NOUNS
            forms.setdefault(stem, form.lower() if opens else form)
    return counts, forms


@lru_cache(maxsize=8192)
def _is_common(form: str) -> bool:
    """Tell whether a word labels no topic, as "ms" does not, where "AI" does."""
    common = (set(language_data(code)["labels"]["common"].split()) for code in LANGUAGES)
    empty = [*common, *(BY_LANGUAGE[code] for code in LANGUAGES)]
    small = len(form) <= LABEL_WORDS - 1 and not form.isupper()
    return small or any(not some.isdisjoint(words(form)) for some in empty)


def label(counts: Counts, forms: dict[str, str], before: Counts) -> str:
    """Return the words said often here and seldom `before`; empty where there are none.

    What was said before without end, as speakers' names count, is no label.
    """
    worth = {
        stem: often * often / (1 + math.sqrt(before.get(stem, 0.0)))
        for stem, often in counts.items()
    }
    ranked = sorted(filter(worth.__getitem__, worth), key=lambda stem: (-worth[stem], stem))
    return ", ".join(forms.get(stem, stem) for stem in ranked[:LABEL_WORDS])
