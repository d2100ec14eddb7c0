"""The words of times: a text becomes nodes, each a word with the kinds of word that it may be.

A unit, a month, "ago": the kinds of each language stand in when.toml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

from vaultmind.index.words import fold
from vaultmind.tables import table

LANGUAGES = ("en", "pl", "ru", "de", "es", "fr")
"""Languages whose words of time are known."""
LAST_DAY = 31
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
     "quarter", "recent", "code", "year", "date"}
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
class Node:
    """A word of a text, or a time that rules have read; its kinds, and what it means as each."""

    start: int
    end: int
    kinds: Mapping[str, Any]


class Lexicon:
    """The words of time of a language; of one that is not known none, only figures."""

    def __init__(self, language: str, table: Mapping[str, str]) -> None:
        self.language = language
        past, future = table.get("past", "(?!)"), fold(table.get("future", "(?!)"))
        self.past, self.future = (re.compile(rf"(?<!\w)(?:{one})(?!\w)") for one in (past, future))
        self._entries = [
            (kind, value, re.compile(entry))
            for kind in table.keys() - {"past", "future"}
            for value, entry in zip(
                _VALUES.get(kind, (None,)), fold(table[kind]).replace(r"\w", "[^_]").split(),
                strict=False,
            )
        ]  # fmt: skip
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
        found[f"in_{self.language}"] = True
        return found


@cache
def _lexicon(language: str) -> Lexicon:
    tables = table(__file__, "when.toml")
    return Lexicon(language, tables.get(language, {}))


def read_words(text: str, language: str) -> tuple[Lexicon, list[Node]]:
    """Return the nodes of a text and the words they were read by."""
    tokens = [(match, fold(match[0])) for match in _TOKEN.finditer(_INSIDE.sub(" ", text))]
    words = [word for _, word in tokens]

    def telling(lexicon: Lexicon) -> int:
        return sum(not TELLING.isdisjoint(lexicon.kinds(word)) for word in set(words))

    lexicon = _lexicon(language) if language else max(map(_lexicon, LANGUAGES), key=telling)
    starts = accumulate((len(word) + 1 for word in words), initial=0)
    at = {start: number for number, start in enumerate(starts)}
    nodes, done = [], 0
    for phrase in lexicon.phrases.finditer("_".join(words)):
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
    kinds: dict[str, Any] = {kind: int(word) if kind == "year" else word}
    if kind == "word":
        kinds = _without_names(lexicon.kinds(word), start, text, lexicon.language)
    elif kind == "date":
        kinds[f"in_{lexicon.language}"] = True
    elif kind == "number":
        kinds = {"number": int(word)} if len(word) <= _NUMBER_DIGITS else {}
        is_part = text[start - 1 : start] in tuple(".,:/") or _PART_OF_NUMBER.match(text, end)
        if 0 < int(word) <= LAST_DAY and not is_part:
            kinds["date_day"] = int(word)
    return Node(start, end, kinds)


def _without_names(kinds: dict[str, Any], start: int, text: str, language: str) -> dict[str, Any]:
    """Return the kinds of a word; a month or season that is a name here only may be one."""
    is_name, before = text[start].isupper(), text[:start]
    if "unsure" in kinds:
        kind = "month"
        if language in ("en", "de"):  # whose months have capitals
            is_name = not (is_name or before.lower().endswith(("in ", "since ")) or text.islower())
    else:
        kind = "season"
        starts = not before.strip() or before.rstrip()[-1] in '.!?¿¡«"„“(\n'
        is_name &= kinds.get(kind) in SEASONS[:4] and language != "de" and not starts
    if not is_name:
        return kinds
    return {f"maybe_{kind}": kinds[kind]} | {k: v for k, v in kinds.items() if not k.endswith(kind)}
