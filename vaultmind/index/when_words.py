"""The words of times: a text becomes nodes, and rules over kinds of words are matched to them.

A node is a word with the kinds of word that it may be: a unit, a month, "ago". The kinds of each
language stand in when.toml. A rule replaces what it matches by a node of kind `time`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache, partial
from typing import Any

from vaultmind.index.words.terms import fold
from vaultmind.tables import table

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
FIRST_YEAR, LAST_DAY = 1900, 31
_NUMBER_DIGITS = 3


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
_FORM_END = re.compile(r"\|(?![^(]*\))")
"""A bar between two forms, not inside one."""
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
    """A word of a text, or a time that rules have read; its kinds, and what it means as each."""

    start: int
    end: int
    kinds: Mapping[str, Any]


class Lexicon:
    """The words of time of a language; of one that is not known none, only figures."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        sentences = (table.get("past", "(?!)"), fold(table.get("future", "(?!)")))
        self.past, self.future = (re.compile(rf"(?<!\w)(?:{one})(?!\w)") for one in sentences)
        self._entries = [
            (kind, value, re.compile(entry))
            for kind, words in table.items()
            if kind not in ("past", "future")
            for value, entry in zip(
                _VALUES.get(kind, (None,)),
                fold(words).replace(r"\w", "[^_]").split(),
                strict=False,
            )
        ]
        patterns = [entry.pattern for *_, entry in self._entries]
        self._any = re.compile("|".join(patterns) or "(?!)")
        forms = (form for pattern in patterns for form in _FORM_END.split(pattern))
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
        for name, kind, is_so in (
            ("units" if "plural" in found else "one_unit", "unit", True),
            ("shifts", "shift", "plural" in found),
            ("bare_weekday", "weekday", "bare_weekday" in found),
            ("bare_season", "season", "bare_season" in found),
            ("month_first", "month", self.language == "en"),
            ("sure_month", "month", "unsure" not in found),
        ):
            if kind in found and is_so:
                found[name] = found[kind]
        return found


@cache
def _lexicon(language: str) -> Lexicon:
    tables = table(__file__, "when.toml")
    return Lexicon(language, tables.get(language, {}))


def read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = {word for _, word in tokens}
    choice = (language,) if language else LANGUAGES
    lexicon = max(map(_lexicon, choice), key=lambda one: len(choice) > 1 and sum(
        not TELLING.isdisjoint(one.kinds(word)) for word in words))  # fmt: skip
    at, place = {0: 0}, 0
    for number, (_, word) in enumerate(tokens, 1):
        place += len(word) + 1
        at[place] = number
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer("_".join(word for _, word in tokens)):
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
        kinds = _without_names(lexicon.kinds(word), start, text, lexicon.language)
    elif kind == "date" and lexicon.language == "en":
        kinds["english"] = True
    elif kind == "year":
        kinds = {"year": int(word)}
    elif kind == "number":
        kinds = {"number": int(word)} if len(word) <= _NUMBER_DIGITS else {}
        is_part = text[start - 1 : start] in tuple(".,:/") or _PART_OF_NUMBER.match(text, end)
        if 0 < int(word) <= LAST_DAY and not is_part:
            kinds["date_day"] = int(word)
    return Node(start, end, kinds)


def _without_names(kinds: dict[str, Any], start: int, text: str, language: str) -> dict[str, Any]:
    """Return the kinds of a word; a month or season that is a name here only may be one."""
    is_capital, before = text[start].isupper(), text[:start]
    if "unsure" in kinds:
        kind, is_name = "month", is_capital
        if language in ("en", "de"):  # whose months have capitals
            is_led = before.lower().endswith(("in ", "since "))
            is_name = not (is_capital or is_led or text.islower())
    elif kinds.get("season") in SEASONS[:4]:
        starts = not before.strip() or before.rstrip()[-1] in '.!?¿¡«"„“(\n'
        kind, is_name = "season", is_capital and language != "de" and not starts
    else:
        return kinds
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}


# --- rules over kinds of words ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stretch:
    """Days from `start` up to, and without, `end`."""

    start: date
    end: date
    sure: bool = True
    """Whether nothing was guessed."""
    year_said: bool = True
    """Whether its year is said or counted, so that a range need not lend it one."""


Words = Mapping[str, Any]
"""What a rule has matched: the value of each word by its kind; `kinds` of all of them; `today`; and
`is_ahead`, which tells whether the sentence speaks of what is to come."""
IsAhead = Callable[[int, int], bool]
Reader = Callable[[Words], Stretch | None]
Rule = tuple[str, Reader | None] | tuple[str, Reader, str]
_ITEM = re.compile(r"(!?)(?:\b(\w+)=)?([a-z]\w*(?:\|\w+)*)")
_LETTER: dict[str, str] = {}
"""A letter for each kind, of which the patterns of rules are made."""


class Rules:
    """Rules over kinds of words as one pattern; the first that fits at the earliest place is taken.

    A rule is an expression over words like "shift glue* (unit / month)": a kind, or some with `|`;
    `/` parts phrases. What stands before ":" is looked at and left, "!kind" must not follow, and
    "name=kind" gives the word a name of its own. A third part names a kind that the time is.
    """

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules
        self.groups: list[list[tuple[str, str, list[str]]]] = [[] for _ in rules]
        compiled = []
        for number, (rule, *_) in enumerate(rules):
            items = _ITEM.sub(partial(self._item, number), rule).translate({32: "", 47: "|"})
            context, _, core = items.rpartition(":")
            compiled.append(f"(?P<r_{number}>{context}(?P<core_{number}>)(?:{core}))")
        self.pattern = re.compile(f"(?=<[^>])(?:{'|'.join(compiled)})")

    def _item(self, number: int, match: re.Match[str]) -> str:
        negative, name, listed = match.groups()
        kinds, group = listed.split("|"), f"g_{number}_{match.start()}"
        letters = [_LETTER.setdefault(kind, chr(0xE000 + len(_LETTER))) for kind in kinds]
        node = f"<[^<>]*[{''.join(letters)}][^<>]*>"
        if negative:
            return f"(?!{node})"
        self.groups[number].append((group, name or kinds[0], kinds))
        return f"(?P<{group}>{node})"

    def apply(self, nodes: list[Node], today: date, is_ahead: IsAhead) -> list[Node]:
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
            matched = nodes[at[match.start(f"core_{number}")] : at[match.end()]]
            start, end = matched[0].start, matched[-1].end
            words: dict[str, Any] = {"today": today, "is_ahead": partial(is_ahead, start, end)}
            words["kinds"] = {kind for node in matched for kind in node.kinds}
            for group, name, kinds in self.groups[number]:
                if match[group] and name not in words:
                    held = nodes[at[match.start(group)]].kinds
                    words[name] = next(held[kind] for kind in kinds if kind in held)
            made += [*nodes[done : at[match.start(f"core_{number}")]]]
            made.append(Node(start, end, self._read(number, words)))
            done = at[match.end()]
        return made + nodes[done:]

    def _read(self, number: int, words: Words) -> dict[str, Any]:
        """Return the kinds of the time that words are; none where they are no time."""
        _, reader, *also = self.rules[number]
        with suppress(ValueError, OverflowError):
            stretch = reader(words) if reader else None
            if stretch is not None and stretch.start.year >= FIRST_YEAR:
                names = ("time", *also) if also == ["whole"] else ("time", "moment", *also)
                return dict.fromkeys(names, stretch)
        return {}
