"""The words of times: a text becomes nodes, and rules over kinds of words are matched to them.

A node is a word with the kinds of word that it may be: a unit, a month, "ago". The kinds of each
language stand in when.toml. A rule replaces what it matches by a node of kind `time`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from vaultmind.index.words.terms import fold

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
DAY = timedelta(days=1)
FIRST_YEAR = 1900
SEASONS = (
    *("spring", "summer", "autumn", "winter"), "christmas", "newyear", "easter", "thanksgiving",
)  # fmt: skip
_VALUES: dict[str, Sequence[Any]] = {
    "month": range(1, 13), "ordinal": (*range(1, 21), 30), "weekday": range(7), "season": SEASONS,
    "day": range(-2, 3), "shift": range(-2, 2), "shift_after": range(-2, 2), "unit": "hdwmqy",
    "number": (*range(1, 13), 15, 20, 30),
}  # fmt: skip
"""What the entries of a list stand for; a kind without values is one pattern."""
TELLING = frozenset(
    {"unit", "month", "maybe_month", "weekday", "season", "maybe_season", "day", "weekend",
     "quarter", "recent", "decade", "code", "year", "date"}
)  # fmt: skip
"""Kinds of which a text has one if it says a time."""
OPENERS = ("since", "after", "before", "until")
THIRDS = ("early", "middle", "late")
_ITEM = re.compile(r"(!?)(?:(\w+)=)?([\w|]+)([?*]?)")
_FORM_END = re.compile(r"\|(?![^(]*\))")
"""A bar between two forms, not inside one."""
_LETTER: dict[str, str] = {}
"""A letter for each kind, of which the patterns of rules are made."""

_TOKEN = re.compile(
    r"(?P<date>(?<![\d/.-])(?:\d{4}-\d\d-\d\d|\d{4}/\d\d/\d\d)(?:T[\d:.]+Z?)?(?![/-]?\d)"
    r"|(?<![\d/.-])(?:19|20)\d\d-\d\d(?![/.-]?\d)"
    r"|(?<![\d/.-])(?:\d\d?\.\d\d?\.\d{4}|\d\d?/\d\d?/\d{4}|\d\d?-\d\d?-\d{4})(?![/-]?\d))"
    r"|(?P<name>\w+_\w*|_\w+)"
    r"|(?P<code>(?<!\w)[qt][1-4](?!\w)|(?<!\w)h[12](?!\w))"
    r"|(?P<year>(?<![\d.,:/])(?:19|20)\d\d(?![.,:/-]?\d))"
    r"|(?P<number>\d+)|(?P<word>[^\W\d_]+)|(?P<dash>[-–—])|(?P<dot>\.(?=\s?\w))|(?P<comma>,)"
    r"|(?P<stop>[^\w\s])",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"(?<=[^\W\d_])['’-](?=\w)|(?<=\d)['’-](?=[^\W\d_])")
"""Apostrophes and hyphens inside words, which only part them."""
_PART_OF_NUMBER = re.compile(r"[:%]|[.,/]\d")
_SENTENCE_END = re.compile(r"[.!?\n]\s")
_SENTENCE = 300
"""Characters either way in which a time's sentence is looked for."""
WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date
    sure: bool = True
    """Whether nothing was guessed."""
    year_said: bool = True
    """Whether its year is said or counted, so that a range need not lend it one."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a time expression means: from `start` up to, and without, `end`."""

    start: datetime | None
    """None: it has no beginning ("before Christmas")."""
    end: datetime | None
    """None: it has no end ("since March")."""
    text: str
    """The words that say so, as they stand in the text."""
    explicit: bool
    """Whether nothing was guessed: no year, no weekday's week, no "some", no "late"."""


@dataclass(frozen=True, slots=True)
class Node:
    """A word of a text, or a time that rules have read."""

    start: int
    end: int
    kinds: Mapping[str, Any]
    """What it may be, and what it means as that."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a rule has matched: the value of each word by its kind, and what it is seen from."""

    values: Mapping[str, Any]
    kinds: frozenset[str]
    """All kinds of the words matched."""
    today: date
    is_ahead: Callable[[], bool]
    """Whether the sentence speaks of what is to come."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return self.values[name]


# ---- Words


class Lexicon:
    """The words of time of a language; of one that is not known none, only figures."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        self.has_small_months = language not in ("en", "de")
        self.past = _any_of(table.get("past", "(?!)"))
        self.future = _any_of(fold(table.get("future", "(?!)")))
        self._entries: list[tuple[str, Any, re.Pattern[str]]] = []
        for kind, words in table.items():
            line = fold("" if kind in ("past", "future") else words).replace(r"\w", "[^_]")
            values = _VALUES.get(kind, (None,))
            for value, entry in zip(values, line.split(), strict=False):
                self._entries.append((kind, value, re.compile(entry)))
        forms = (one for *_, entry in self._entries for one in _FORM_END.split(entry.pattern))
        self._any = re.compile("|".join(entry.pattern for *_, entry in self._entries) or "(?!)")
        phrases = sorted((form for form in forms if "_" in form), key=len, reverse=True)
        self.phrases = re.compile(rf"(?<![^_])(?:{'|'.join(phrases) or '(?!)'})(?![^_])")
        self.kinds = lru_cache(maxsize=20_000)(self._kinds)

    def _kinds(self, word: str) -> dict[str, Any]:
        """Return what a folded word, or words joined by `_`, may be."""
        if not self._any.fullmatch(word):
            return {}
        found = {kind: word if value is None else value
                 for kind, value, entry in self._entries if entry.fullmatch(word)}  # fmt: skip
        if "noise" in found:
            return {}
        if not found.keys().isdisjoint((*OPENERS, *THIRDS)):
            found["at"] = True
        if "unit" in found:
            found[f"unit_{found['unit']}"] = found["unit"]
            found["units" if "plural" in found else "one_unit"] = found["unit"]
        if "shift" in found and "plural" in found:
            found["shifts"] = found["shift"]
        for kind in ("weekday", "season"):
            if f"bare_{kind}" in found and kind in found:
                found[f"bare_{kind}"] = found[kind]
        for kind, is_so in (
            ("month_first", self.language == "en"),
            ("sure_month", "unsure" not in found),
        ):
            if "month" in found and is_so:
                found[kind] = found["month"]
        return found


def _any_of(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)")


@cache
def _lexicon(language: str) -> Lexicon:
    tables = tomllib.loads(Path(__file__).with_name("when.toml").read_text("utf-8"))
    return Lexicon(language, tables.get(language, {}))


def read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = {word for _, word in tokens}
    if language:
        lexicon = _lexicon(language)
    else:
        lexicon = max(map(_lexicon, LANGUAGES), key=lambda one: sum(
            not TELLING.isdisjoint(one.kinds(word)) for word in words))  # fmt: skip
    joined = "_".join(word for _, word in tokens)
    at, place = {0: 0}, 0
    for number, (_, word) in enumerate(tokens, 1):
        place += len(word) + 1
        at[place] = number
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer(joined):
        first, last = at.get(phrase.start()), at.get(phrase.end() + 1)
        if first is None or last is None:  # inside a name like `x_last_night`
            continue
        nodes += [_node(*token, text, lexicon) for token in tokens[done:first]]
        ends = tokens[first][0].start(), tokens[last - 1][0].end()
        nodes.append(Node(*ends, lexicon.kinds(phrase[0])))
        done = last
    return lexicon, nodes + [_node(*token, text, lexicon) for token in tokens[done:]]


def _node(match: re.Match[str], word: str, text: str, lexicon: Lexicon) -> Node:
    start, end = match.span()
    kind = match.lastgroup or ""
    kinds: dict[str, Any] = {kind: word}
    if kind == "word":
        kinds = lexicon.kinds(word)
        if "unsure" in kinds or "season" in kinds:
            kinds = _without_names(kinds, start, text, lexicon)
    elif kind == "date" and lexicon.language == "en":
        kinds["english"] = True
    elif kind == "year":
        kinds = {"year": int(word)}
    elif kind == "number":
        kinds = {"number": int(word)} if len(word) <= 3 else {}  # noqa: PLR2004
        is_part = text[start - 1 : start] in tuple(".,:/") or _PART_OF_NUMBER.match(text, end)
        if 0 < int(word) <= 31 and not is_part:  # noqa: PLR2004
            kinds["date_day"] = int(word)
    return Node(start, end, kinds)


def _without_names(
    kinds: dict[str, Any], start: int, text: str, lexicon: Lexicon
) -> dict[str, Any]:
    """Return the kinds of a month or season that is also a name or a common word, if it is one."""
    is_capital = text[start].isupper()
    if "unsure" in kinds:
        if lexicon.has_small_months:
            is_name = is_capital
        else:
            is_led = text[:start].lower().endswith(("in ", "since "))
            is_name = not (is_capital or is_led or text.islower())
        kind = "month"
    else:
        starts = not text[:start].strip() or text[:start].rstrip()[-1] in '.!?¿¡«"„“(\n'
        is_name = is_capital and lexicon.language != "de" and not starts
        is_name = is_name and kinds["season"] in SEASONS[:4]
        kind = "season"
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}


# ---- Rules


@dataclass(frozen=True, slots=True)
class TimedText:
    """What nodes are read in."""

    text: str
    lexicon: Lexicon
    today: date
    told: bool
    """Whether somebody tells it, not asks."""

    def is_ahead(self, start: int, end: int) -> bool:
        """Tell whether a time without a year or a week is one to come.

        People ask about what was. In a message it is said by the sentence: "I will", "I moved".
        One that says neither ("the deadline is 12 May") is of what is to come, but for "since May".
        """
        first = max(0, start - _SENTENCE)
        ends = _SENTENCE_END.finditer(self.text, first, start)
        before = max((one.end() for one in ends), default=first)
        found = _SENTENCE_END.search(self.text, end, end + _SENTENCE)
        after = found.start() if found else min(len(self.text), end + _SENTENCE)
        sentence = self.text[before:after].lower()
        if self.lexicon.future.search(fold(sentence)):
            return True
        if not self.told or self.lexicon.past.search(sentence):
            return False
        lead = WORDS.findall(fold(self.text[before:start]))[-2:]
        return not any("since" in self.lexicon.kinds(word) for word in lead)


Reader = Callable[[Words], Stretch | None]
Rule = tuple[str, Reader | None] | tuple[str, Reader, str]


class Rules:
    """Rules over kinds of words as one pattern; the first that fits at the earliest place is taken.

    A rule is words like "shift glue* unit": a kind, or some with `|`, and how often it stands. What
    stands before ":" is looked at and left, "!kind" must not follow, and "name=kind" gives the word
    a name of its own. A third part names kinds that the time is, besides `time`.
    """

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules
        self.kinds: list[dict[str, list[str]]] = [{} for _ in rules]
        compiled = (
            f"(?P<r_{number}>{self._compiled(rule[0], number)})"
            for number, rule in enumerate(rules)
        )
        self.pattern = re.compile(f"(?=<[^>])(?:{'|'.join(compiled)})")

    def _compiled(self, rule: str, number: int) -> str:
        context, _, core = rule.rpartition(":")
        made = [self._item(item, number) for item in context.split()]
        made.append(f"(?P<core_{number}>)")
        return "".join(made + [self._item(item, number) for item in core.split()])

    def _item(self, item: str, number: int) -> str:
        negative, name, listed, often = _ITEM.fullmatch(item).groups()  # type: ignore[union-attr]
        kinds = listed.split("|")
        letters = "".join(_LETTER.setdefault(kind, chr(0xE000 + len(_LETTER))) for kind in kinds)
        node = f"<[^<>]*[{letters}][^<>]*>"
        if negative:
            return f"(?!{node})"
        name = name or kinds[0]
        if often == "*" or name in self.kinds[number]:
            return f"(?:{node}){often}"
        self.kinds[number][name] = kinds
        return f"(?P<{name}_{number}>{node}){often}"

    def apply(self, nodes: list[Node], place: TimedText) -> list[Node]:
        """Return nodes with those that a rule matches replaced by one."""
        code, at = "", {}
        for index, node in enumerate(nodes):
            at[len(code)] = index
            code += f"<{''.join(_LETTER.get(kind, '') for kind in node.kinds)}>"
        at[len(code)] = len(nodes)
        made: list[Node] = []
        done = 0
        for match in self.pattern.finditer(code):
            number = int((match.lastgroup or "")[2:])
            first, last = at[match.start(f"core_{number}")], at[match.end()]
            words = {name: nodes[at[match.start(f"{name}_{number}")]]
                     for name in self.kinds[number] if match[f"{name}_{number}"]}  # fmt: skip
            made += nodes[done:first]
            made.append(self._read(number, words, nodes[first:last], place))
            done = last
        return made + nodes[done:]

    def _read(
        self, number: int, words: Mapping[str, Node], matched: Sequence[Node], place: TimedText
    ) -> Node:
        _, reader, *also = self.rules[number]
        start, end = matched[0].start, matched[-1].end
        values = {
            name: next(node.kinds[kind] for kind in self.kinds[number][name] if kind in node.kinds)
            for name, node in words.items()
        }
        kinds = frozenset(kind for node in matched for kind in node.kinds)
        said = Words(values, kinds, place.today, lambda: place.is_ahead(start, end))
        with suppress(ValueError, OverflowError):
            stretch = reader(said) if reader else None
            if stretch is not None and stretch.start.year >= FIRST_YEAR:
                names = ("time", *also) if also == ["whole"] else ("time", "moment", *also)
                return Node(start, end, dict.fromkeys(names, stretch))
        return Node(start, end, {})
