"""The small language of the phrase files, and how it becomes regular expressions.

    remember [the fact] that {payload}        [ ] may be missing
    (keep | bear) in mind : {payload}         ( | ) one of; a lone : is a colon or a dash
    <please> forget about {payload}           < > a word list of the same file
    (so)?                                     the same as [so]
    zapamieta*                                a word's beginning; *am an ending; a lone * any word

Between two words stands a space or a comma; a lone , must be there. Case and diacritics do not
matter; $ is the end. Slots are {payload}, {old} and {new}.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vaultmind.memory.intents.text import fold_word

GAP = r"(?:\s*,\s*|\s+)"
_SLOTS = {"payload": r".+?", "old": r"\S+(?:\s+\S+){0,9}?", "new": r"\S+(?:\s+\S+){0,11}?"}
MARKED_GAP = r"(?:\s*,\s*|\s+|(?<=[\s:,-])|(?=\s*[:,-]))"
ANY_WORD = r"\w+(?:['-]\w+)*"
_MARKS = {":": r"(?:\s*:+(?!\w)\s*|\s*-{2}>?\s*|\s+->?\s+|\s*:\s*)", ",": r"\s*,\s*", "$": r"\W*$"}
_TOKEN = re.compile(r"\s*(?:<(\w+)>|\{(\w+)\}|([\[\]()|:,?$])|([^\s\[\](){}<>|:,?]+))")
_MAX_DEPTH = 12


class BadPhrase(ValueError):
    """A phrase of a phrases file cannot be read."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A part of a phrase: its expression, the words it can begin with, whether it may be empty.

    `first` holds None where it can begin with anything.
    """

    regex: str
    """For the part being there; `nullable` says whether it may be missing."""
    first: frozenset[str | None]
    nullable: bool
    words: frozenset[str]
    """Every whole word it names."""
    marked: bool = False
    """Whether it may begin or end with a colon, dash or comma."""
    parts: tuple[Compiled, ...] = ()
    """Of a sequence that may be missing as a whole: so that it joins another without a copy."""

    @property
    def pattern(self) -> str:
        """Return the expression as it is to be compiled."""
        return f"(?:{self.regex})?" if self.nullable else self.regex


_EMPTY = Compiled("", frozenset(), True, frozenset())


class Grammar:
    """Word lists by name, and the phrases that use them."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._lists = lists
        self._known: dict[str, Compiled] = {}

    def compile(self, phrase: str) -> Compiled:
        """Return the expression of a phrase; BadPhrase if it cannot be read."""
        return self._parse(phrase, 0)

    def _named(self, name: str, depth: int) -> Compiled:
        if name not in self._lists:
            raise BadPhrase(f"no word list is called <{name}>")
        if depth > _MAX_DEPTH:
            raise BadPhrase(f"<{name}> contains itself")
        if name not in self._known:
            self._known[name] = self._parse(self._lists[name], depth + 1)
        return self._known[name]

    def _parse(self, phrase: str, depth: int) -> Compiled:
        tokens = _tokens(phrase)
        part, rest = self._alternatives(tokens, 0, depth)
        if rest < len(tokens):
            raise BadPhrase(f"'{tokens[rest][1]}' closes nothing in '{phrase}'")
        return part

    def _alternatives(
        self, tokens: list[tuple[str, str]], at: int, depth: int
    ) -> tuple[Compiled, int]:
        choices: list[Compiled] = []
        while True:
            part, at = self._sequence(tokens, at, depth)
            choices.append(part)
            if at >= len(tokens) or tokens[at] != ("mark", "|"):
                return _either(choices), at
            at += 1

    def _sequence(self, tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Compiled, int]:
        parts: list[Compiled] = []
        while at < len(tokens) and tokens[at][1] not in ("|", ")", "]"):
            kind, value = tokens[at]
            at += 1
            if value in ("(", "[") and kind == "mark":
                part, at = self._alternatives(tokens, at, depth)
                close = ")" if value == "(" else "]"
                if at >= len(tokens) or tokens[at] != ("mark", close):
                    raise BadPhrase(f"'{value}' is never closed")
                at += 1
                parts.append(replace(part, nullable=True, parts=()) if value == "[" else part)
            elif value == "?" and parts:
                parts.append(replace(parts.pop(), nullable=True, parts=()))
            elif kind == "list":
                parts.append(self._named(value, depth))
            else:
                parts.append(_single(kind, value))
        return _chain(parts), at


def _tokens(phrase: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    phrase = phrase.strip()
    while at < len(phrase):
        match = _TOKEN.match(phrase, at)
        if match is None:
            raise BadPhrase(f"cannot read '{phrase[at:]}'")
        at = match.end()
        for kind, value in zip(("list", "slot", "mark", "word"), match.groups(), strict=True):
            if value:
                found.append((kind, value if kind == "slot" else fold_word(value)))
    return found


def _single(kind: str, value: str) -> Compiled:
    if kind == "mark":
        if value not in _MARKS:
            raise BadPhrase(f"'{value}' stands where it means nothing")
        return Compiled(_MARKS[value], frozenset({None}), False, frozenset(), True)
    if kind == "slot":
        if value not in _SLOTS:
            raise BadPhrase(f"no slot is called {{{value}}}")
        return Compiled(f"(?P<{value}>{_SLOTS[value]})", frozenset({None}), False, frozenset())
    if value.startswith("*") and len(value) > 1:
        return Compiled(rf"\w*{re.escape(value[1:])}(?!\w)", frozenset({None}), False, frozenset())
    if value == "*":
        return Compiled(ANY_WORD, frozenset({None}), False, frozenset())
    if value.endswith("*"):
        stem = re.escape(value[:-1])
        return Compiled(rf"{stem}\w*", frozenset({None}), False, frozenset())
    regex = re.escape(value).replace("'", "'?")
    bare = value.replace("'", "")
    first: frozenset[str | None] = frozenset({bare})
    return Compiled(rf"{regex}(?!\w)", first, False, frozenset({bare}))


def _either(choices: list[Compiled]) -> Compiled:
    if len(choices) == 1:
        return choices[0]
    return Compiled(
        "(?:" + "|".join(choice.regex for choice in choices if choice.regex) + ")",
        frozenset[str | None]().union(*(choice.first for choice in choices)),
        any(choice.nullable for choice in choices),
        frozenset[str]().union(*(choice.words for choice in choices)),
        any(choice.marked for choice in choices),
    )


def _chain(parts: list[Compiled]) -> Compiled:
    """Join parts around the first that must be there; what may be missing takes its gap along."""
    flat = [inner for part in parts for inner in (part.parts or (part,))]
    core = next((i for i, part in enumerate(flat) if not part.nullable), None)
    if core is None:
        whole = _fold_right(flat)
        return replace(whole, parts=tuple(flat)) if len(flat) > 1 else whole
    whole = flat[core]
    for part in flat[core + 1 :]:
        whole = _join(whole, part)
    return _fold_right([*flat[:core], whole])


def _fold_right(parts: list[Compiled]) -> Compiled:
    whole = _EMPTY
    for part in reversed(parts):
        whole = _join(part, whole)
    return whole


def _join(left: Compiled, right: Compiled) -> Compiled:
    """Put one part after another; what may be missing takes its gap with it."""
    if not left.regex or not right.regex:
        return right if not left.regex else left
    gap = MARKED_GAP if left.marked or right.marked else GAP
    if left.nullable and right.nullable:
        regex = f"(?:{left.regex}(?:{gap}{right.regex})?|{right.regex})"
    elif left.nullable:
        regex = f"(?:{left.regex}{gap})?{right.regex}"
    elif right.nullable:
        regex = f"{left.regex}(?:{gap}{right.regex})?"
    else:
        regex = f"{left.regex}{gap}{right.regex}"
    return Compiled(
        regex,
        left.first | right.first if left.nullable else left.first,
        left.nullable and right.nullable,
        left.words | right.words,
        left.marked or right.marked,
    )
